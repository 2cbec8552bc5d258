/** `GET /metrics` for Prometheus: open to the own machine, to others with the admin key only. */
import { Failure } from "../exchange/failure.ts";
import { PROMETHEUS_TYPE } from "../metrics/prometheus.ts";
import { isAdmin } from "./admin.ts";

/**
 * @param remote the caller's address, null when unknown
 * @param text makes the page
 */
export function metricsPage(
  request: Request,
  remote: string | null,
  adminKey: string | null,
  text: () => string,
): Response {
  const allowed = (isLoopback(remote) && !isForwarded(request)) ||
    (adminKey !== null && isAdmin(request, adminKey));
  if (!allowed) {
    throw new Failure(
      "authentication_required",
      "The admin key is required: send it as Authorization: Bearer <admin_key>.",
    );
  }
  return new Response(text(), { headers: { "content-type": PROMETHEUS_TYPE } });
}

/** A proxy on the own machine speaks for others, who are not on it. */
function isForwarded({ headers }: Request): boolean {
  return headers.has("forwarded") || headers.has("x-forwarded-for") || headers.has("x-real-ip");
}

function isLoopback(remote: string | null): boolean {
  return remote !== null && /^(?:127\.|::1$|::ffff:127\.)/.test(remote);
}
