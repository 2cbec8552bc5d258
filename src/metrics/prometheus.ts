/** Metrics in the text format of Prometheus (version 0.0.4). */
import type { MetricData } from "./registry.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** @param common labels of every value */
export function prometheusText(
  metrics: readonly MetricData[],
  common: Readonly<Record<string, string>> = {},
): string {
  const lines: string[] = [];
  const extra = Object.entries(common);
  for (const { row, samples } of metrics) {
    const { name, type, help, buckets = [] } = row;
    lines.push(`# HELP ${name} ${escaped(help, /[\\\n]/g)}`, `# TYPE ${name} ${type}`);
    for (const sample of samples) {
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
