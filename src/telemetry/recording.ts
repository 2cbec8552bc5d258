/** The state that all traced calls share. */
import type { Route, Upstream } from "../providers/provider.ts";
import { providerName, serverOf } from "./attributes.ts";
import type { TelemetryConfig } from "./config.ts";
import type { Instruments, RouteMeasures } from "./instruments.ts";
import { type FixedAttributes, fixedOf } from "./otlp/attributes.ts";
import type { Exporter } from "./otlp/exporter.ts";
import type { SpanHead, SpanWriter } from "./otlp/spans.ts";

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
  readonly #exporter: Exporter;
  readonly #instruments: Instruments;
  /** Share of the calls to record if the caller does not decide it. */
  readonly #sample: number;
  readonly #random: () => number;
  readonly #routes = new WeakMap<Upstream, Map<string, RouteFacts>>();
  readonly #requests = {
    http: new Map<string, FixedAttributes>(),
    https: new Map<string, FixedAttributes>(),
  };

  constructor({ exporter, instruments, sample, langfuse, random }: RecordingOptions) {
    this.#exporter = exporter;
    this.#instruments = instruments;
    this.#sample = exporter.spans === null ? 0 : sample;
    this.langfuse = langfuse;
    this.#random = random;
  }

  /** Whether the trace of a call is recorded. @param wanted the decision of the caller; undefined: none */
  samples(wanted: boolean | undefined): boolean {
    if (wanted !== undefined) return wanted && this.#exporter.spans !== null;
    return this.#random() < this.#sample;
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
