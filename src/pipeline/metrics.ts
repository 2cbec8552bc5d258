/**
 * Counters for the operator, in memory, as Prometheus reads them. Labels are names of models, providers, codes: never a
 * key, never text of a conversation.
 *
 * Counting stands on the hot path, so it adds to numbers; names and labels become text only when somebody reads.
 */
import type { GenerationEnd } from "../exchange/generation.ts";

/** Upper bounds of the time histograms, in seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Values that somebody else keeps. */
export interface Family {
  name: string;
  type: "gauge" | "counter";
  help: string;
  samples: readonly { labels: Readonly<Record<string, string>>; value: number }[];
}

class Histogram {
  readonly counts: number[] = new Array(BUCKETS.length + 1).fill(0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let i = 0;
    while (i < BUCKETS.length && seconds > BUCKETS[i]) i++;
    this.counts[i]++;
    this.sum += seconds;
    this.count++;
  }

  lines(name: string, labels: string): string[] {
    let below = 0;
    const buckets = BUCKETS.map((bound, i) =>
      `${name}_bucket{${labels},le="${bound}"} ${below += this.counts[i]}`
    );
    return [
      ...buckets,
      `${name}_bucket{${labels},le="+Inf"} ${this.count}`,
      `${name}_sum{${labels}} ${this.sum}`,
      `${name}_count{${labels}} ${this.count}`,
    ];
  }
}

class ModelCounts {
  /** By provider, then by status. */
  readonly ended = new Map<string, Map<string, number>>();
  readonly tokens = { input: 0, cached: 0, output: 0, reasoning: 0 };
  searches = 0;
  readonly firstPart = new Histogram();
  readonly whole = new Histogram();
}

export class Metrics {
  /** By surface, then by status. */
  readonly #responses = new Map<string, Map<number, number>>();
  readonly #models = new Map<string, ModelCounts>();

  responded(surface: string, status: number): void {
    bump(this.#responses, surface, status);
  }

  generated(model: string, end: GenerationEnd): void {
    let counts = this.#models.get(model);
    if (!counts) this.#models.set(model, counts = new ModelCounts());
    bump(counts.ended, end.provider ?? "none", end.status);
    if (end.usage) {
      counts.tokens.input += end.usage.input;
      counts.tokens.cached += end.usage.cached;
      counts.tokens.output += end.usage.output;
      counts.tokens.reasoning += end.usage.reasoning;
    }
    counts.searches += end.searches;
    if (end.ttftMs !== null) counts.firstPart.observe(end.ttftMs / 1000);
    counts.whole.observe(end.latencyMs / 1000);
  }

  /** The text of everything counted, of these gauges and of these families. */
  render(gauges: Readonly<Record<string, number>>, families: readonly Family[] = []): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string, values: readonly string[]) =>
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values);
    const models = [...this.#models].map(([model, counts]) => ({
      labels: `model="${label(model)}"`,
      counts,
    }));

    family(
      "sluice_responses_total",
      "counter",
      "Responses by surface and status.",
      [...this.#responses].flatMap(([surface, byStatus]) =>
        [...byStatus].map(([status, n]) =>
          `sluice_responses_total{surface="${surface}",status="${status}"} ${n}`
        )
      ),
    );
    family(
      "sluice_generations_total",
      "counter",
      "Generations that ended, by model, provider and status.",
      models.flatMap(({ labels, counts }) =>
        [...counts.ended].flatMap(([provider, byStatus]) =>
          [...byStatus].map(([status, n]) =>
            `sluice_generations_total{${labels},provider="${label(provider)}",status="${status}"} ${n}`
          )
        )
      ),
    );
    family(
      "sluice_tokens_total",
      "counter",
      "Tokens by model and kind; cached is part of input, reasoning of output.",
      models.flatMap(({ labels, counts }) =>
        Object.entries(counts.tokens).map(([kind, n]) => `sluice_tokens_total{${labels},kind="${kind}"} ${n}`)
      ),
    );
    family(
      "sluice_searches_total",
      "counter",
      "Executed web searches.",
      models.map(({ labels, counts }) => `sluice_searches_total{${labels}} ${counts.searches}`),
    );
    family(
      "sluice_first_part_seconds",
      "histogram",
      "Time to the first part of an answer.",
      models.flatMap(({ labels, counts }) => counts.firstPart.lines("sluice_first_part_seconds", labels)),
    );
    family(
      "sluice_generation_seconds",
      "histogram",
      "Time from admission to the end of a generation.",
      models.flatMap(({ labels, counts }) => counts.whole.lines("sluice_generation_seconds", labels)),
    );
    for (const { name, type, help, samples } of families) {
      family(
        name,
        type,
        help,
        samples.map(({ labels, value }) => {
          const pairs = Object.entries(labels).map(([key, text]) => `${key}="${label(text)}"`);
          return `${name}{${pairs.join()}} ${value}`;
        }),
      );
    }
    for (const [name, value] of Object.entries(gauges)) {
      lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
    }
    return lines.join("\n") + "\n";
  }
}

function bump<A, B>(counts: Map<A, Map<B, number>>, a: A, b: B): void {
  let inner = counts.get(a);
  if (!inner) counts.set(a, inner = new Map());
  inner.set(b, (inner.get(b) ?? 0) + 1);
}

function label(text: string): string {
  return text.replace(/[\\"\n]/g, (c) => c === "\n" ? "\\n" : `\\${c}`);
}
