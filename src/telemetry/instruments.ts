/** The metrics of the conventions. Their labels are bounded by the configuration: no name that a caller sends is one. */
import { type Attributes, metrics } from "@opentelemetry/api";
import type { Usage } from "../exchange/usage.ts";
import type { Door, Route } from "../providers/provider.ts";
import { providerName } from "./attributes.ts";

/** Buckets as the conventions advise. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i);

/** Labels of one route, made once: each call would make them anew. */
interface RouteLabels {
  all: Attributes;
  input: Attributes;
  output: Attributes;
}

export class Instruments {
  readonly #labels = new WeakMap<Door, Map<string, RouteLabels>>();
  readonly #duration;
  readonly #tokens;
  readonly #first;

  constructor(version: string) {
    const meter = metrics.getMeter("sluice", version);
    this.#duration = meter.createHistogram("gen_ai.client.operation.duration", {
      description: "How long calls of providers take.",
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.#tokens = meter.createHistogram("gen_ai.client.token.usage", {
      description: "Tokens that calls of providers use.",
      unit: "{token}",
      advice: { explicitBucketBoundaries: TOKENS },
    });
    this.#first = meter.createHistogram("gen_ai.server.time_to_first_token", {
      description: "How long streams take until their first output.",
      unit: "s",
      advice: { explicitBucketBoundaries: FIRST_SECONDS },
    });
  }

  attempted(door: Door, route: Route, ms: number, error: string | null): void {
    const { all } = this.#of(door, route);
    this.#duration.record(ms / 1000, error === null ? all : { ...all, "error.type": error });
  }

  used(door: Door, route: Route, { input, output }: Usage): void {
    const labels = this.#of(door, route);
    this.#tokens.record(input, labels.input);
    this.#tokens.record(output, labels.output);
  }

  first(door: Door, route: Route, ms: number): void {
    this.#first.record(ms / 1000, this.#of(door, route).all);
  }

  #of(door: Door, { model }: Route): RouteLabels {
    let ofDoor = this.#labels.get(door);
    if (ofDoor === undefined) this.#labels.set(door, ofDoor = new Map());
    let labels = ofDoor.get(model);
    if (labels === undefined) {
      const all = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerName(door),
        "gen_ai.request.model": model,
      };
      labels = {
        all,
        input: { ...all, "gen_ai.token.type": "input" },
        output: { ...all, "gen_ai.token.type": "output" },
      };
      ofDoor.set(model, labels);
    }
    return labels;
  }
}
