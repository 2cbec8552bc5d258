/** The page of metrics, from the registry's rows. */
import { type MetricRow, METRICS } from "../../metrics/rows.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `\`GET /metrics\` answers in the text format of Prometheus. Requests from the own machine need no credential; all others, and those that come through a proxy, need the admin key as \`Authorization: Bearer ADMIN_KEY\`.

Values are those of one process. With several workers one answer has those of all, and every value has the label \`worker\`. Labels hold names of surfaces, models, providers and codes, never a key and never text of a conversation.`;

export function metricsPage(): string {
  const all = Object.values<MetricRow>(METRICS);
  const section = (title: string, type: MetricRow["type"]) => {
    const rows = all.filter((m) => m.type === type).map((
      m,
    ) => [code(m.name), m.labels.map(code).join(", "), m.help]);
    return `## ${title}\n\n${markdownTable(["Name", "Labels", "Meaning"], rows)}`;
  };
  const buckets = [...new Set(all.flatMap((m) => m.buckets ?? []))].join(", ");
  return [
    head("Metrics", "src/metrics/rows.ts", INTRODUCTION),
    section("Counters", "counter"),
    section("Gauges", "gauge"),
    section("Histograms", "histogram"),
    `Upper bounds of the buckets, in seconds: ${buckets}.\n`,
  ].join("\n\n");
}
