/**
 * The metrics of the semantic conventions. Their labels depend only on the configuration: no label is a name
 * that a caller sends.
 */
import { NO_USAGE, type Usage } from "../exchange/usage.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import { providerName, serverOf } from "./attributes.ts";
import { type FixedAttributes, fixedOf } from "./otlp/attributes.ts";
import { Counter, type CounterPoint, Histogram, type HistogramPoint } from "./otlp/measurements.ts";

/** Bucket bounds that the conventions recommend. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i);

/** The most series of a metric. Further ones share one overflow series, as the specification requires. */
const MOST_ROUTES = 2000;
const OVERFLOW = { "otel.metric.overflow": "true" };

type Values = Readonly<Record<string, string | number>>;

/** The measurements of one route. */
export interface RouteMeasures {
  /**
   * Records the end of a provider call. @param first milliseconds to the first output of a stream; null: no
   * output, or not a stream
   */
  ended(ms: number, error: string | null, usage: Usage | null, first: number | null): void;
}

export class Instruments {
  readonly all: readonly (Counter | Histogram)[];
  readonly #newest;
  /** Metric names of version 1.41; null: they are not exported. */
  readonly #before;
  readonly #routes = new Map<string, RouteMeasures>();

  constructor({ newestOnly }: { newestOnly: boolean }) {
    const tokens = (name: string, description: string) =>
      new Counter({ name: `gen_ai.client.inference.usage.${name}`, description, unit: "{token}" });
    const seconds = (name: string, description: string, bounds = SECONDS) =>
      new Histogram({ name, description, unit: "s" }, bounds);
    const spread = (name: string, description: string) =>
      new Histogram({ name, description, unit: "{token}" }, TOKENS);
    this.#newest = {
      duration: seconds("gen_ai.client.inference.duration", "How long calls of providers take."),
      first: seconds(
        "gen_ai.client.inference.time_to_first_chunk",
        "How long streams take until their first output.",
      ),
      input: tokens("input_tokens", "Tokens of input, those of caches among them."),
      output: tokens("output_tokens", "Tokens of output, those of reasoning among them."),
      cacheRead: tokens("cache_read.input_tokens", "Tokens of input that were read from a cache."),
      cacheWrite: tokens("cache_write.input_tokens", "Tokens of input that were written to a cache."),
      reasoning: tokens("reasoning.output_tokens", "Tokens of output that are reasoning."),
      inputs: spread("gen_ai.client.inference.operation.input_tokens", "Tokens of input of a call."),
      outputs: spread("gen_ai.client.inference.operation.output_tokens", "Tokens of output of a call."),
    };
    this.#before = newestOnly ? null : {
      duration: seconds("gen_ai.client.operation.duration", "How long calls of providers take."),
      usage: spread("gen_ai.client.token.usage", "Tokens that calls of providers use."),
      first: seconds(
        "gen_ai.server.time_to_first_token",
        "How long streams take until their first output.",
        FIRST_SECONDS,
      ),
    };
    this.all = [...Object.values(this.#newest), ...Object.values(this.#before ?? {})];
  }

  of(upstream: Upstream, { model }: Route): RouteMeasures {
    const labels: Values = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerName(upstream),
      "gen_ai.request.model": model,
      ...serverOf(upstream),
    };
    const name = JSON.stringify(labels);
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    const over = this.#routes.size >= MOST_ROUTES;
    if (over) return this.#routes.get("") ?? this.#add("", OVERFLOW);
    return this.#add(name, labels);
  }

  #add(name: string, labels: Values): RouteMeasures {
    const made = this.#measures(labels);
    this.#routes.set(name, made);
    return made;
  }

  #measures(labels: Values): RouteMeasures {
    const newest = this.#newest;
    const before = this.#before;
    const fixed = fixedOf(labels);
    const byError = new Map<string, ByError>();
    let good: ByError | undefined;
    const ofError = (error: string | null): ByError => {
      if (error === null) return good ??= make(fixed);
      let known = byError.get(error);
      if (known === undefined) byError.set(error, known = make(fixedOf({ ...labels, "error.type": error })));
      return known;
    };
    function make(of: FixedAttributes): ByError {
      return {
        duration: newest.duration.point(of),
        inputs: newest.inputs.point(of),
        outputs: newest.outputs.point(of),
        before: before?.duration.point(of) ?? null,
      };
    }
    const first = once(() => newest.first.point(fixed));
    const firstBefore = once(() => before?.first.point(fixed) ?? null);
    const usageBefore = once(() =>
      before &&
      ["input", "output"].map((type) => before.usage.point(fixedOf({ ...labels, "gen_ai.token.type": type })))
    );
    const input = new ByModality(newest.input, labels);
    const output = new ByModality(newest.output, labels);
    const cacheRead = new ByModality(newest.cacheRead, labels);
    const cacheWrite = new ByModality(newest.cacheWrite, labels);
    const reasoning = new ByModality(newest.reasoning, labels);
    return {
      ended(ms, error, usage, firstMs) {
        const of = ofError(error);
        of.duration.record(ms / 1000);
        of.before?.record(ms / 1000);
        const used = usage ?? NO_USAGE;
        of.inputs.record(used.input);
        of.outputs.record(used.output);
        if (firstMs !== null) {
          first().record(firstMs / 1000);
          firstBefore()?.record(firstMs / 1000);
        }
        input.add(used.input, used.audioInput, used.imageInput, used.videoInput);
        output.add(used.output, used.audioOutput, used.imageOutput, 0);
        if (used.cached > 0) cacheRead.unknown(used.cached);
        if (used.cacheWrite > 0) cacheWrite.unknown(used.cacheWrite);
        if (used.reasoning > 0) reasoning.unknown(used.reasoning);
        if (usage === null) return;
        const parts = usageBefore();
        parts?.[0].record(usage.input);
        parts?.[1].record(usage.output);
      },
    };
  }
}

interface ByError {
  duration: HistogramPoint;
  inputs: HistogramPoint;
  outputs: HistogramPoint;
  before: HistogramPoint | null;
}

/** Tokens by modality. They are counted as unknown if the provider does not report modalities. */
class ByModality {
  readonly #counter: Counter;
  readonly #labels: Values;
  readonly #points = new Map<string, CounterPoint>();
  #unknown: CounterPoint | undefined;

  constructor(counter: Counter, labels: Values) {
    this.#counter = counter;
    this.#labels = labels;
  }

  unknown(count: number): void {
    (this.#unknown ??= this.#of("unknown")).add(count);
  }

  add(all: number, audio: number, image: number, video: number): void {
    const media = audio + image + video;
    if (media === 0) return this.unknown(all);
    this.#of("text").add(Math.max(0, all - media));
    if (audio > 0) this.#of("audio").add(audio);
    if (image > 0) this.#of("image").add(image);
    if (video > 0) this.#of("video").add(video);
  }

  #of(modality: string): CounterPoint {
    let point = this.#points.get(modality);
    if (point === undefined) {
      const attributes: FixedAttributes = fixedOf({ ...this.#labels, "gen_ai.token.modality": modality });
      this.#points.set(modality, point = this.#counter.point(attributes));
    }
    return point;
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
