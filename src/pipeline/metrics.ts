/** Metrics of calls. The counters of a model are looked up once and reused for its generations. */
import type { GenerationEnd } from "../exchange/generation.ts";
import type { SliceCause } from "../timing/slices.ts";
import { type Cell, type Histogram, MetricRegistry } from "../metrics/registry.ts";

/** Purposes of work that blocks the event loop. */
export type HeldCause = SliceCause | "store" | "payload log" | "resume";

interface ModelCounters {
  input: Cell;
  cached: Cell;
  output: Cell;
  reasoning: Cell;
  searches: Cell;
  firstPart: Histogram;
  whole: Histogram;
}

export class Metrics {
  readonly registry = new MetricRegistry();
  readonly #models = new Map<string, ModelCounters>();

  responded(surface: string, status: number): void {
    this.registry.counter("responses", [surface, status]).value++;
  }

  found(type: string, mode: string, of: string, count: number): void {
    this.registry.counter("findings", [type, mode, of]).value += count;
  }

  screened(of: string, action: string): void {
    this.registry.counter("screened", [of, action]).value++;
  }

  refused(code: string): void {
    this.registry.counter("refusals", [code]).value++;
  }

  budgetWarned(scope: string, percent: number): void {
    this.registry.counter("budgetWarnings", [scope, percent]).value++;
  }

  payloadEnded(outcome: string): void {
    this.registry.counter("payloads", [outcome]).value++;
  }

  telemetryLost(kind: string, count: number): void {
    this.registry.counter("telemetryLost", [kind]).value += count;
  }

  /** @param dollars cost of one generation */
  spent(model: string, dollars: number): void {
    this.registry.counter("cost", [model]).value += dollars;
  }

  keptStream(outcome: "resumed" | "joined" | "lost"): void {
    this.registry.counter("keptStreams", [outcome]).value++;
  }

  webhookEnded(outcome: string): void {
    this.registry.counter("webhookDeliveries", [outcome]).value++;
  }

  generated(model: string, end: GenerationEnd): void {
    const counters = this.#ofModel(model);
    this.registry.counter("generations", [model, end.provider ?? "none", end.status]).value++;
    if (end.usage) {
      counters.input.value += end.usage.input;
      counters.cached.value += end.usage.cached;
      counters.output.value += end.usage.output;
      counters.reasoning.value += end.usage.reasoning;
    }
    counters.searches.value += end.searches;
    if (end.ttftMs !== null) counters.firstPart.observe(end.ttftMs / 1000);
    counters.whole.observe(end.latencyMs / 1000);
  }

  /** Records how long a piece of work blocked the event loop. Short ones are ignored. */
  held(cause: HeldCause, ms: number): void {
    if (ms >= 1) this.registry.histogram("heldSeconds", [cause]).observe(ms / 1000);
  }

  /** Runs a piece of work and records how long it blocked the event loop. */
  holding<T>(cause: HeldCause, work: () => T): T {
    // Runs several times per call, mostly for less than a millisecond, so the cheaper clock is used.
    const begun = Date.now();
    try {
      return work();
    } finally {
      const ms = Date.now() - begun;
      if (ms > 0) this.held(cause, ms);
    }
  }

  #ofModel(model: string): ModelCounters {
    const known = this.#models.get(model);
    if (known) return known;
    const { registry } = this;
    const tokens = (kind: string) => registry.counter("tokens", [model, kind]);
    const made = {
      input: tokens("input"),
      cached: tokens("cached"),
      output: tokens("output"),
      reasoning: tokens("reasoning"),
      searches: registry.counter("searches", [model]),
      firstPart: registry.histogram("firstPart", [model]),
      whole: registry.histogram("generationTime", [model]),
    };
    this.#models.set(model, made);
    return made;
  }
}
