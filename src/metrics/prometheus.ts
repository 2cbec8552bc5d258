/** Metrics in the text format of Prometheus (version 0.0.4). */
import type { MetricData } from "./registry.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics of one process. */
export interface LabelledMetrics {
  metrics: readonly MetricData[];
  /** Labels that are added to every value. */
  common: Readonly<Record<string, string>>;
}

/** @param all metrics of processes that have the same rows */
export function prometheusText(all: readonly LabelledMetrics[]): string {
  const lines: string[] = [];
  for (const [i, { row }] of all[0].metrics.entries()) {
    const { name, type, help, buckets = [] } = row;
    lines.push(`# HELP ${name} ${escaped(help, /[\\\n]/g)}`, `# TYPE ${name} ${type}`);
    const values = all.flatMap(({ metrics, common }) => {
      const extra = Object.entries(common);
      return metrics[i].samples.map((sample) => ({ sample, extra }));
    });
    for (const { sample, extra } of values) {
      const pairs = [...row.labels.map((label, i) => [label, sample.labels[i]]), ...extra]
        .map(([label, value]) => `${label}="${escaped(String(value), /[\\"\n]/g)}"`);
      const line = (suffix: string, value: number, le: string[] = []) => {
        const all = [...pairs, ...le].join();
        lines.push(`${name}${suffix}${all && `{${all}}`} ${value}`);
      };
      if ("value" in sample) {
        line("", sample.value);
        continue;
      }
      let below = 0;
      buckets.forEach((bound, i) => line("_bucket", below += sample.counts[i], [`le="${bound}"`]));
      line("_bucket", sample.count, [`le="+Inf"`]);
      line("_sum", sample.sum);
      line("_count", sample.count);
    }
  }
  return lines.join("\n") + "\n";
}

function escaped(text: string, what: RegExp): string {
  return text.replace(what, (c) => c === "\n" ? "\\n" : `\\${c}`);
}
