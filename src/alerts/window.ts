/** What one process measured within the duration of a rule: the current numbers minus those at its beginning. */
import { alertMetric, type Numbers } from "./metrics.ts";
import type { MetricData } from "../metrics/registry.ts";
import type { AlertRule } from "./config.ts";

/** The most groups that are evaluated for a rule; further groups are ignored. */
const MOST_GROUPS = 200;
/** About the most samples that are kept of a window: one of a day would otherwise have 17,000. */
const MOST_MOMENTS = 120;

interface Moment {
  at: number;
  numbers: Numbers;
}

export class RuleWindow {
  readonly #rule: AlertRule;
  #moments: Moment[] = [];
  readonly #atStart: boolean;

  /**
   * @param atStart true: the process has just begun, so all that it has counted is within the window. False: the
   * window begins with the first sample.
   */
  constructor(rule: AlertRule, { atStart }: { atStart: boolean }) {
    this.#rule = rule;
    this.#atStart = atStart;
  }

  /** How many samples are kept. */
  get kept(): number {
    return this.#moments.length;
  }

  /** Numbers by group for the window that ends at `now`. */
  take(now: number, metrics: readonly MetricData[]): Record<string, number[]> {
    const { when } = this.#rule;
    const metric = alertMetric(when.metric);
    const numbers = metric.read(metrics, when.by, when.percent);
    if (metric.now === true) return Object.fromEntries(first(numbers));
    if (this.#moments.length === 0) {
      this.#moments.push({ at: now, numbers: this.#atStart ? new Map() : numbers });
    }
    const since = this.#moments.findLastIndex(({ at }) => at <= now - when.over);
    if (since > 0) this.#moments = this.#moments.slice(since);
    const { numbers: before } = this.#moments[0];
    const last = this.#moments[this.#moments.length - 1];
    if (now - last.at >= when.over / MOST_MOMENTS) this.#moments.push({ at: now, numbers });
    const isNow = new Set(metric.now === false ? [] : metric.now);
    return Object.fromEntries(
      [...first(numbers)].map(([group, values]) => {
        const base = before.get(group);
        return [group, values.map((value, i) => isNow.has(i) ? value : value - (base?.[i] ?? 0))];
      }),
    );
  }
}

function* first(numbers: Numbers): Generator<[string, number[]]> {
  let left = MOST_GROUPS;
  for (const entry of numbers) {
    if (left-- === 0) return;
    yield entry;
  }
}

/** Combines the numbers of all nodes. */
export function joined(parts: readonly Record<string, number[]>[], how: "sum" | "most"): Numbers {
  const all: Numbers = new Map();
  for (const part of parts) {
    for (const [group, values] of Object.entries(part)) {
      const known = all.get(group);
      if (known === undefined) all.set(group, [...values]);
      else {values.forEach((value, i) =>
          known[i] = how === "sum" ? (known[i] ?? 0) + value : Math.max(known[i] ?? 0, value)
        );}
    }
  }
  return all;
}
