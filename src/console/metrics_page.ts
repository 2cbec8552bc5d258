/** `GET /metrics` for Prometheus: open to this machine, to others with the admin key only. */
import type { Endpoint } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../metrics/prometheus.ts";

export const METRICS_PAGE: Endpoint = {
  method: "GET",
  path: "/metrics",
  surface: OPERATION,
  credential: "admin_or_loopback",
  summary: "Shows the metrics of this process in the text format of Prometheus.",
  answer: { types: ["text/plain"] },
  handle({ state }) {
    const text = prometheusText(state.kit.metrics.registry.collect(), state.metricLabels);
    return new Response(text, { headers: { "content-type": PROMETHEUS_TYPE } });
  },
};
