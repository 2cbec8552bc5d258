/** Files for other programs that the manual serves: `GET /docs/files/NAME`. */
import grafana from "./files/grafana.json" with { type: "text" };
import collector from "./files/otel-collector.yml" with { type: "text" };
import prometheus from "./files/prometheus.yml" with { type: "text" };
import rules from "./files/sluice.rules.yml" with { type: "text" };

const YAML = "application/yaml; charset=utf-8";

export const FILES: Readonly<Record<string, { type: string; text: string }>> = {
  "grafana.json": { type: "application/json", text: grafana as unknown as string },
  "otel-collector.yml": { type: YAML, text: collector as unknown as string },
  "prometheus.yml": { type: YAML, text: prometheus },
  "sluice.rules.yml": { type: YAML, text: rules },
};
