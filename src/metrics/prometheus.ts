/** Metrics in the text format of Prometheus (version 0.0.4). */
import type { HistogramSample, MetricData, NumberSample } from "./registry.ts";
import type { MetricRow } from "./rows.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics of one process. */
export interface LabelledMetrics {
  metrics: readonly MetricData[];
  /** Labels that are added to every value. */
  common: Readonly<Record<string, string>>;
}

/** Length of a piece of the text in characters: it is made in about a millisecond. */
const PIECE_CHARS = 64 * 1024;

/** The text in pieces. @param all metrics of processes that have the same rows */
export function* prometheusPieces(all: readonly LabelledMetrics[]): Generator<string, void> {
  let text = "";
  for (const [i, { row }] of all[0].metrics.entries()) {
    text += `# HELP ${row.name} ${escaped(row.help, /[\\\n]/g)}\n# TYPE ${row.name} ${row.type}\n`;
    for (const { metrics, common } of all) {
      const extra = Object.entries(common).map(pair);
      for (const sample of metrics[i].samples) {
        text += linesOf(row, sample, extra);
        if (text.length < PIECE_CHARS) continue;
        yield text;
        text = "";
      }
    }
  }
  yield text;
}

function linesOf(
  { name, labels, buckets = [] }: MetricRow,
  sample: NumberSample | HistogramSample,
  extra: readonly string[],
): string {
  const pairs = [...labels.map((label, i) => pair([label, sample.labels[i]])), ...extra].join();
  if ("value" in sample) return `${name}${pairs && `{${pairs}}`} ${sample.value}\n`;
  const before = `${name}_bucket{${pairs && `${pairs},`}le="`;
  let text = "";
  let below = 0;
  buckets.forEach((bound, i) => text += `${before}${bound}"} ${below += sample.counts[i]}\n`);
  const named = pairs && `{${pairs}}`;
  return text + `${before}+Inf"} ${sample.count}\n` +
    `${name}_sum${named} ${sample.sum}\n${name}_count${named} ${sample.count}\n`;
}

function pair([label, value]: readonly [string, string | number]): string {
  return `${label}="${escaped(String(value), /[\\"\n]/g)}"`;
}

function escaped(text: string, what: RegExp): string {
  return text.replace(what, (c) => c === "\n" ? "\\n" : `\\${c}`);
}
