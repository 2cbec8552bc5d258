/** `GET /metrics` for Prometheus: without authentication from this machine, otherwise with the admin key. */
import type { Endpoint } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../metrics/prometheus.ts";

export const METRICS_PAGE: Endpoint = {
  method: "GET",
  path: "/metrics",
  surface: OPERATION,
  credential: "admin_or_loopback",
  summary: "The metrics of all workers in the text format of Prometheus.",
  answer: { types: ["text/plain"] },
  async handle({ state }) {
    return new Response(prometheusText(await state.allMetrics()), {
      headers: { "content-type": PROMETHEUS_TYPE },
    });
  },
};
