/** The state that all traced calls share. */
import type { Route, Upstream } from "../providers/provider.ts";
import { providerName, serverOf } from "./attributes.ts";
import type { TelemetryConfig } from "./config.ts";
import type { Instruments, RouteMeasures } from "./instruments.ts";
import { type FixedAttributes, fixedOf } from "./otlp/attributes.ts";
import type { Exporter } from "./otlp/exporter.ts";
import type { Sampler } from "./otlp/environment.ts";
import type { SpanHead, SpanWriter } from "./otlp/spans.ts";
import type { Propagation } from "./propagation.ts";

/** Attributes that are the same for every call of a route. */
export interface RouteFacts {
  spanName: string;
  attributes: FixedAttributes;
  measures: RouteMeasures;
}

export interface RecordingOptions extends TelemetryConfig {
  exporter: Exporter;
  instruments: Instruments;
  /** In [0, 1). */
  random(): number;
}

export class Recording {
  readonly langfuse: boolean;
  readonly propagation: Propagation;
  readonly #exporter: Exporter;
  readonly #instruments: Instruments;
  readonly #sampler: Sampler;
  readonly #random: () => number;
  readonly #routes = new WeakMap<Upstream, Map<string, RouteFacts>>();
  readonly #requests = {
    http: new Map<string, FixedAttributes>(),
    https: new Map<string, FixedAttributes>(),
  };

  constructor({ exporter, instruments, sample, langfuse, random }: RecordingOptions) {
    this.#exporter = exporter;
    this.#instruments = instruments;
    this.#sampler = sample === null ? exporter.sampler : { share: sample, parentBased: true };
    this.langfuse = langfuse;
    this.propagation = exporter.propagation;
    this.#random = random;
  }

  /**
   * Whether the trace of a call is recorded.
   * @param parent the trace that the call is part of, and whether its other spans are recorded; null: none
   */
  samples(parent: { traceId: string; sampled: boolean } | null): boolean {
    if (this.#exporter.spans === null) return false;
    const { share, parentBased } = this.#sampler;
    if (parent === null) return this.#random() < share;
    return parentBased ? parent.sampled : positionOf(parent.traceId) < share;
  }

  of(upstream: Upstream, route: Route): RouteFacts {
    let ofUpstream = this.#routes.get(upstream);
    if (ofUpstream === undefined) this.#routes.set(upstream, ofUpstream = new Map());
    let facts = ofUpstream.get(route.model);
    if (facts === undefined) ofUpstream.set(route.model, facts = this.#factsOf(upstream, route));
    return facts;
  }

  /** The attributes of a request to an endpoint. */
  request(route: string, scheme: "http" | "https"): FixedAttributes {
    const known = this.#requests[scheme];
    let fixed = known.get(route);
    if (fixed === undefined) {
      fixed = fixedOf({
        "http.request.method": "POST",
        "http.route": route,
        "url.path": route,
        "url.scheme": scheme,
      });
      known.set(route, fixed);
    }
    return fixed;
  }

  /** Exports a span that has ended. */
  span(head: SpanHead, error: string | null, write: (to: SpanWriter) => void): void {
    const { spans } = this.#exporter;
    if (spans === null || !this.#exporter.takes()) return;
    spans.begin(head);
    write(spans);
    spans.end(error);
    this.#exporter.ended();
  }

  #factsOf(upstream: Upstream, route: Route): RouteFacts {
    return {
      spanName: `chat ${route.model}`,
      attributes: fixedOf({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerName(upstream),
        "gen_ai.request.model": route.model,
        ...serverOf(upstream),
        "sluice.provider": upstream.provider.name,
        "sluice.api": upstream.api.name,
      }),
      measures: this.#instruments.of(upstream, route),
    };
  }
}

/** Random digits at the end of a trace id, as the specification of sampling has them. */
const RANDOM_DIGITS = 14;

/** From 0 (included) to 1: equal in all processes, so that they record the same traces of a share. */
function positionOf(traceId: string): number {
  return 1 - (parseInt(traceId.slice(-RANDOM_DIGITS), 16) + 1) / 16 ** RANDOM_DIGITS;
}
