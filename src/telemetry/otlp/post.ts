/** Sends requests to a collector over HTTP or gRPC. */
import { fetchedBody } from "./answer_body.ts";
import { partialSuccess, retryAfterMs } from "./answers.ts";
import { directly } from "./direct.ts";
import type { Destination } from "./environment.ts";
import type { Certificates, ExportResponse, Post, Sent } from "./request.ts";

/** Status codes after which the specification requires a retry. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface PostOptions {
  path:
    | "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
    | "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
  readText(path: string): string;
  /** Whether requests to a URL use a proxy. */
  proxied(url: string): boolean;
}

/**
 * Creates the function that sends exports with the protocol of the destination. Rejects if a certificate
 * cannot be read.
 */
export async function openPost(to: Destination, { path, readText, proxied }: PostOptions): Promise<Post> {
  const read = (file: string | undefined) => file === undefined ? undefined : readText(file);
  const certificates: Certificates = {
    ca: read(to.certificate),
    cert: read(to.clientCertificate),
    key: read(to.clientKey),
  };
  if (to.protocol === "grpc") {
    const { grpcPost } = await import("./grpc.ts");
    return grpcPost(to, path, certificates);
  }
  const encoding = to.protocol === "http/json" ? "json" : "protobuf";
  const headers = {
    ...to.headers,
    "user-agent": "sluice",
    "content-type": encoding === "json" ? "application/json" : "application/x-protobuf",
  };
  const url = new URL(to.url);
  // The login is one of the headers. With `fetch` there would be two.
  url.username = url.password = "";
  const through = proxied(to.url) ? byFetch(url, certificates) : directly(url, certificates);
  return async (body, signal) => {
    const { status, retryAfterMs: afterMs, body: answer } = await through({ headers, body, signal });
    if (status >= 200 && status < 300) return { kind: "taken", partial: partialSuccess(answer, encoding) };
    const why = `it answered ${status}`;
    if (!LATER.has(status)) return { kind: "refused", why };
    return { kind: "later", why, ...(afterMs !== undefined && { afterMs }) };
  };
}

function byFetch(url: URL, { ca, cert, key }: Certificates): (sent: Sent) => Promise<ExportResponse> {
  const client = ca !== undefined || (cert !== undefined && key !== undefined)
    ? Deno.createHttpClient({
      ...(ca !== undefined && { caCerts: [ca] }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    })
    : undefined;
  return async ({ headers, body, signal }) => {
    const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual", client });
    const answer = await fetchedBody(response, signal);
    const after = retryAfterMs((name) => response.headers.get(name));
    return { status: response.status, retryAfterMs: after, body: answer };
  };
}
