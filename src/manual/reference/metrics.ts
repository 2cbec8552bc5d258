/** The reference page of metrics, from the rows of the registry. */
import { type MetricRow, METRICS } from "../../metrics/rows.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `\`GET /metrics\` answers in the text format of Prometheus. It requires the admin key or an administration token (\`Authorization: Bearer ADMIN_KEY\`). Without an admin key in the configuration, requests from the same machine that did not come through a proxy need no credential. \`server.metrics: "open"\` lets everybody read it.

The values are those of one process. With several workers, the answer has the values of all workers, each with the label \`worker\`. Labels contain names of surfaces, models, providers and codes, but no key and no text of a conversation.`;

export function metricsPage(): string {
  const all = Object.values<MetricRow>(METRICS);
  const section = (title: string, type: MetricRow["type"]) => {
    const rows = all.filter((m) => m.type === type).map((
      m,
    ) => [code(m.name), m.labels.map(code).join(", "), m.help]);
    return `## ${title}\n\n${markdownTable(["Name", "Labels", "Meaning"], rows)}`;
  };
  const bounds = all.filter(({ buckets }) => buckets !== undefined)
    .map(({ name, buckets }) => `Bucket bounds of ${code(name)}: ${buckets!.join(", ")}.`).join("\n\n");
  return [
    head("Metrics", "src/metrics/rows.ts", INTRODUCTION),
    section("Counters", "counter"),
    section("Gauges", "gauge"),
    section("Histograms", "histogram"),
    `${bounds}\n`,
  ].join("\n\n");
}
