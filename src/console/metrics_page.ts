/** `GET /metrics` for Prometheus: without authentication from this machine, otherwise with the admin key. */
import type { Endpoint } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { PROMETHEUS_TYPE, prometheusPieces } from "../metrics/prometheus.ts";
import { pause } from "../timing/waits.ts";

export const METRICS_PAGE: Endpoint = {
  method: "GET",
  path: "/metrics",
  surface: OPERATION,
  credential: "admin_or_loopback",
  summary: "The metrics of all workers in the text format of Prometheus.",
  answer: { types: ["text/plain"] },
  async handle({ state }) {
    let text = "";
    for (const piece of prometheusPieces(await state.allMetrics())) {
      // A catalog of thousands of models has megabytes of metrics, and calls go on meanwhile.
      if (text !== "") await pause(0);
      text += piece;
    }
    return new Response(text, { headers: { "content-type": PROMETHEUS_TYPE } });
  },
};
