/**
 * Counters for the operator, in memory, as Prometheus reads them. Labels are names of models, providers, codes: never a
 * key, never text of a conversation.
 */
import type { GenerationEnd } from "../exchange/generation.ts";

/** Upper bounds of the time histograms, in seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

interface Family {
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** Rendered labels to value. */
  values: Map<string, number>;
}

export class Metrics {
  readonly #families = new Map<string, Family>();

  constructor() {
    this.#family("sluice_responses_total", "counter", "Responses by surface and status.");
    this.#family(
      "sluice_generations_total",
      "counter",
      "Generations that ended, by model, provider and status.",
    );
    this.#family(
      "sluice_tokens_total",
      "counter",
      "Tokens by model and kind, parts counted in their totals.",
    );
    this.#family("sluice_searches_total", "counter", "Executed web searches.");
    this.#family("sluice_first_part_seconds", "histogram", "Time to the first part of an answer.");
    this.#family("sluice_generation_seconds", "histogram", "Time from admission to the end of a generation.");
  }

  responded(surface: string, status: number): void {
    this.#add("sluice_responses_total", `surface="${surface}",status="${status}"`, 1);
  }

  generated(model: string, end: GenerationEnd): void {
    const of = `model="${label(model)}"`;
    const provider = label(end.provider ?? "none");
    this.#add("sluice_generations_total", `${of},provider="${provider}",status="${end.status}"`, 1);
    if (end.usage) {
      this.#add("sluice_tokens_total", `${of},kind="input"`, end.usage.input);
      this.#add("sluice_tokens_total", `${of},kind="cached"`, end.usage.cached);
      this.#add("sluice_tokens_total", `${of},kind="output"`, end.usage.output);
      this.#add("sluice_tokens_total", `${of},kind="reasoning"`, end.usage.reasoning);
    }
    if (end.searches > 0) this.#add("sluice_searches_total", of, end.searches);
    if (end.ttftMs !== null) this.#observe("sluice_first_part_seconds", of, end.ttftMs / 1000);
    this.#observe("sluice_generation_seconds", of, end.latencyMs / 1000);
  }

  /** The text of all families, and of these gauges. */
  render(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    for (const [name, { type, help, values }] of this.#families) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of values) {
        const [suffix, rest] = type === "histogram" ? labels.split("|", 2) : ["", labels];
        lines.push(`${name}${suffix}{${rest}} ${value}`);
      }
    }
    for (const [name, value] of Object.entries(gauges)) {
      lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
    }
    return lines.join("\n") + "\n";
  }

  #family(name: string, type: Family["type"], help: string): void {
    this.#families.set(name, { type, help, values: new Map() });
  }

  #add(name: string, labels: string, value: number): void {
    const { values } = this.#families.get(name)!;
    values.set(labels, (values.get(labels) ?? 0) + value);
  }

  #observe(name: string, labels: string, seconds: number): void {
    for (const bound of BUCKETS) this.#add(name, `_bucket|${labels},le="${bound}"`, seconds <= bound ? 1 : 0);
    this.#add(name, `_bucket|${labels},le="+Inf"`, 1);
    this.#add(name, `_sum|${labels}`, seconds);
    this.#add(name, `_count|${labels}`, 1);
  }
}

function label(text: string): string {
  return text.replace(/[\\"\n]/g, (c) => c === "\n" ? "\\n" : `\\${c}`);
}
