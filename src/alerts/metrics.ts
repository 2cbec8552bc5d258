/**
 * The metrics that alert rules can use. Each reads numbers from the registry for each group. The numbers of
 * all nodes, or of all processes of a machine, are added, or their maximum is taken, and the result is
 * converted to the one value that a rule compares with its limit.
 */
import type { HistogramSample, MetricData, NumberSample } from "../metrics/registry.ts";
import { DURATIONS } from "../metrics/rows.ts";

/** Numbers by group: counters since the start of the process, or current values. */
export type Numbers = Map<string, number[]>;

export interface AlertMetric {
  name: string;
  /** Description in the manual. */
  help: string;
  unit: string;
  /** Labels by which it can be grouped; the first is the default. Null: it has a single group. */
  by: readonly (string | null)[];
  /** The default limit; null: the rule must set one. */
  above: number | null;
  /** The largest value that it can have: a limit has to be below it. Infinity: any. */
  largest: number;
  /**
   * Which numbers are current values: true means all, a list gives their indexes. For the others, the
   * increase within the rule's duration is compared.
   */
  now: boolean | readonly number[];
  /** How the numbers of several nodes are combined. */
  joined: "sum" | "most";
  read(metrics: readonly MetricData[], by: string | null, percent: number): Numbers;
  /** Null: there is too little data. */
  value(numbers: readonly number[], of: { least: number; overMs: number }): number | null;
}

const HOUR_MS = 3_600_000;

/** The group of metrics that are not grouped. */
const ALL = "{}";

function groupOf(label: string | null, value: unknown): string {
  return label === null ? ALL : JSON.stringify({ [label]: String(value).slice(0, 128) });
}

interface Labelled<S> {
  sample: S;
  label(name: string): unknown;
}

function samples<S extends NumberSample | HistogramSample>(
  metrics: readonly MetricData[],
  name: string,
): Labelled<S>[] {
  const found = metrics.find(({ row }) => row.name === name);
  if (found === undefined) return [];
  const { labels } = found.row;
  return (found.samples as readonly S[]).map((sample) => ({
    sample,
    label: (wanted) => sample.labels[labels.indexOf(wanted)],
  }));
}

function add(numbers: Numbers, group: string, more: readonly number[]): void {
  const known = numbers.get(group);
  numbers.set(group, known === undefined ? [...more] : known.map((value, i) => value + (more[i] ?? 0)));
}

function counted(
  metric: string,
  wanted: (label: (name: string) => unknown, percent: number) => boolean = () => true,
): AlertMetric["read"] {
  return (metrics, by, percent) => {
    const numbers: Numbers = new Map(by === null ? [[ALL, [0]]] : []);
    for (const { sample, label } of samples<NumberSample>(metrics, metric)) {
      if (wanted(label, percent)) add(numbers, groupOf(by, by && label(by)), [sample.value]);
    }
    return numbers;
  };
}

function share([part, whole]: readonly number[], least: number): number | null {
  return whole >= least && whole > 0 ? part / whole : null;
}

/** The 95th percentile, linearly interpolated within its bucket as Prometheus does. */
function p95(counts: readonly number[], bounds: readonly number[], least: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total < least || total === 0) return null;
  const rank = 0.95 * total;
  let below = 0;
  for (const [i, count] of counts.entries()) {
    if (below + count < rank || count === 0) {
      below += count;
      continue;
    }
    if (i >= bounds.length) return bounds[bounds.length - 1];
    const from = i === 0 ? 0 : bounds[i - 1];
    return from + (bounds[i] - from) * (rank - below) / count;
  }
  return null;
}

function durations(name: string, help: string, metric: string, above: number): AlertMetric {
  return {
    name,
    help,
    unit: "s",
    by: [null, "model"],
    above,
    // The last bucket has no upper bound.
    largest: DURATIONS[DURATIONS.length - 1],
    now: false,
    joined: "sum",
    read(metrics, by) {
      const numbers: Numbers = new Map();
      for (const { sample, label } of samples<HistogramSample>(metrics, metric)) {
        add(numbers, groupOf(by, by && label(by)), sample.counts);
      }
      return numbers;
    },
    value: (counts, { least }) => p95(counts, DURATIONS, least),
  };
}

function current(
  name: string,
  help: string,
  { above, largest = Infinity, joined = "sum" }: Partial<AlertMetric> & { above: number },
  read: (value: number) => number,
  metric: string,
): AlertMetric {
  return {
    name,
    help,
    unit: "",
    by: [null],
    above,
    largest,
    now: true,
    joined,
    read: (metrics) => new Map([[ALL, [read(samples<NumberSample>(metrics, metric)[0]?.sample.value ?? 0)]]]),
    value: ([value]) => value,
  };
}

export const ALERT_METRICS = [
  {
    name: "error_rate",
    help: "Share of generations that failed.",
    unit: "",
    by: [null, "model", "provider"],
    above: 0.05,
    largest: 1,
    now: false,
    joined: "sum",
    read(metrics, by) {
      const numbers: Numbers = new Map();
      for (const { sample, label } of samples<NumberSample>(metrics, "sluice_generations_total")) {
        const failed = label("status") === "failed" ? sample.value : 0;
        add(numbers, groupOf(by, by && label(by)), [failed, sample.value]);
      }
      return numbers;
    },
    value: (numbers, { least }) => share(numbers, least),
  },
  durations("latency_p95", "Time that 95 of 100 generations take at most.", "sluice_generation_seconds", 60),
  durations(
    "ttft_p95",
    "Time to the first part that 95 of 100 answers take at most.",
    "sluice_first_part_seconds",
    10,
  ),
  {
    name: "provider_down",
    help: "Share of attempts at a provider that failed; 1 where all of its circuit breakers are open.",
    unit: "",
    by: ["provider"],
    above: 0.9,
    largest: 1,
    now: [2, 3],
    joined: "sum",
    read(metrics, by) {
      const numbers: Numbers = new Map();
      const of = (label: (name: string) => unknown) => groupOf(by, label("provider"));
      for (const { sample, label } of samples<NumberSample>(metrics, "sluice_provider_attempts_total")) {
        add(numbers, of(label), [0, sample.value, 0, 0]);
      }
      for (
        const { sample, label } of samples<NumberSample>(metrics, "sluice_provider_failed_attempts_total")
      ) {
        add(numbers, of(label), [sample.value, 0, 0, 0]);
      }
      for (const { sample, label } of samples<NumberSample>(metrics, "sluice_breaker_state")) {
        add(numbers, of(label), [0, 0, sample.value === 0 ? 0 : 1, 1]);
      }
      return numbers;
    },
    // A half-open breaker lets one call through, which does not show that the provider has recovered.
    value: ([failed, attempts, open, breakers], { least }) =>
      breakers > 0 && open === breakers ? 1 : share([failed, attempts], least),
  },
  {
    name: "breaker_open",
    help: "Circuit breakers that are not closed.",
    unit: "",
    by: ["provider", null],
    above: 0,
    largest: Infinity,
    now: true,
    joined: "most",
    read(metrics, by) {
      const numbers: Numbers = new Map(by === null ? [[ALL, [0]]] : []);
      for (const { sample, label } of samples<NumberSample>(metrics, "sluice_breaker_state")) {
        add(numbers, groupOf(by, by && label(by)), [sample.value === 0 ? 0 : 1]);
      }
      return numbers;
    },
    value: ([open]) => open,
  },
  {
    name: "budget",
    help: "Budgets that reached `percent` (100) of their limit.",
    unit: "",
    by: [null, "scope"],
    above: 0,
    largest: Infinity,
    now: false,
    joined: "sum",
    read: counted("sluice_budget_warnings_total", (label, percent) => Number(label("percent")) >= percent),
    value: ([count]) => count,
  },
  {
    name: "dlp_findings",
    help: "Findings of data-loss prevention.",
    unit: "",
    by: [null, "type"],
    above: 0,
    largest: Infinity,
    now: false,
    joined: "sum",
    read: counted("sluice_dlp_findings_total"),
    value: ([count]) => count,
  },
  {
    name: "spend_rate",
    help: "Cost of an hour at the pace of the time looked at.",
    unit: " an hour",
    by: [null, "model"],
    above: null,
    largest: Infinity,
    now: false,
    joined: "sum",
    read: counted("sluice_cost_dollars_total"),
    value: ([cost], { overMs }) => cost / overMs * HOUR_MS,
  },
  current(
    "store_lag",
    "Records of a machine that wait to be written to the store.",
    { above: 1000 },
    (v) => v,
    "sluice_records_pending",
  ),
  current(
    "store_down",
    "1 while the store does not answer a machine.",
    { above: 0, largest: 1, joined: "most" },
    (v) => 1 - v,
    "sluice_store_up",
  ),
] as const satisfies readonly AlertMetric[];

export type AlertMetricName = typeof ALERT_METRICS[number]["name"];

/** The metric with a name. */
export function alertMetric(name: AlertMetricName): AlertMetric {
  return ALERT_METRICS.find((metric) => metric.name === name)!;
}

/** Metrics about the store cannot be shared through it: each machine evaluates them on its own. */
export function isOfNode(name: AlertMetricName): boolean {
  return name === "store_lag" || name === "store_down";
}
