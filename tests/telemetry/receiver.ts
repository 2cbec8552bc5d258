/** An OTLP receiver on loopback, as a collector is one: it keeps what it is sent. */
import { inTime } from "../support/time.ts";
import { decoded } from "./otlp_messages.ts";

type Loose = Record<string, unknown>;

export interface SpanSeen {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  start: number;
  end: number;
  status: number;
  scope: string;
  attributes: Loose;
}

export interface Receiver {
  url: string;
  spans: SpanSeen[];
  /** Values of histograms by name: number of measurements and labels. */
  metrics: Map<string, { count: number; sum: number; attributes: Loose }[]>;
  resources: Loose[];
  /** Names of counters with the sum of each's values, and of what they are. */
  counters: Map<string, { sum: number; attributes: Loose }[]>;
  /** All that came, as it came; of what is not text, each byte as a character. */
  raw: string[];
  /** Heads of the requests. */
  heads: Headers[];
  /** Takes a body as if it had been sent. */
  take(text: string): void;
  /** Resolves when what has come fulfils it. */
  until(what: (receiver: Receiver) => boolean): Promise<void>;
  close(): Promise<void>;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

function valueOf(value: Record<string, unknown>): unknown {
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.arrayValue !== undefined) {
    return ((value.arrayValue as Loose).values as Record<string, unknown>[]).map(valueOf);
  }
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}

const attributesOf = (list: KeyValue[] = []): Loose =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));

/** @param answer what each export is answered; absent: that it was taken */
export function otlpReceiver(answer?: () => Response | Promise<Response>): Receiver {
  const waiting = new Set<() => void>();
  // Whoever exported to a receiver that had this port before may still do so.
  const own = crypto.randomUUID();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname: path } = new URL(request.url);
    if (!path.startsWith(`/${own}/`)) return new Response("not here", { status: 404 });
    const pathname = path.slice(own.length + 1);
    receiver.heads.push(request.headers);
    const bytes = new Uint8Array(await request.arrayBuffer());
    const json = request.headers.get("content-type") === "application/json";
    receiver.raw.push(json ? new TextDecoder().decode(bytes) : latin1(bytes));
    if (answer) return await answer();
    // What is printed on a terminal comes from Deno, as logs.
    if (pathname === "/v1/logs") return new Response();
    const kind = pathname === "/v1/traces" ? "Traces" : "Metrics";
    receiver.take(json ? receiver.raw.at(-1)! : JSON.stringify(decoded(kind, bytes)));
    return json ? Response.json({}) : new Response(null, {
      headers: { "content-type": "application/x-protobuf" },
    });
  });
  function take(text: string): void {
    const sent = JSON.parse(text);
    for (const { resource, scopeSpans = [] } of sent.resourceSpans ?? []) {
      receiver.resources.push(attributesOf(resource.attributes));
      for (const { scope, spans } of scopeSpans) {
        for (const span of spans) {
          receiver.spans.push({
            ...span,
            parentSpanId: span.parentSpanId ?? "",
            start: Number(span.startTimeUnixNano) / 1e6,
            end: Number(span.endTimeUnixNano) / 1e6,
            status: span.status?.code ?? 0,
            scope: scope.name,
            attributes: attributesOf(span.attributes),
          });
        }
      }
    }
    for (const { resource, scopeMetrics = [] } of sent.resourceMetrics ?? []) {
      receiver.resources.push(attributesOf(resource.attributes));
      for (const { metrics } of scopeMetrics) {
        for (const { name, histogram, sum } of metrics) {
          // Cumulative: the last one tells all.
          if (sum) receiver.counters.set(name, (sum.dataPoints ?? []).map(counted));
          else receiver.metrics.set(name, (histogram?.dataPoints ?? []).map(measured));
        }
      }
    }
    for (const look of waiting) look();
  }
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.addr.port}/${own}`,
    spans: [],
    metrics: new Map(),
    counters: new Map(),
    resources: [],
    raw: [],
    heads: [],
    take,
    until: (what) =>
      inTime(
        new Promise((resolve) => {
          const look = () => {
            if (!what(receiver)) return;
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
          look();
        }),
        { what: () => `the receiver gets ${what}` },
      ),
    close: () => server.shutdown(),
  };
  return receiver;
}

/** A collector that accepts connections and never says a word. */
export function silentCollector() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of listener) conns.push(conn);
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    /** Connections that it has accepted. */
    accepted: () => conns.length,
    async close(): Promise<void> {
      listener.close();
      await accepting.catch(() => {});
      for (const conn of conns) conn.close();
    },
  };
}

const measured = (point: Loose) => ({
  count: Number(point.count),
  sum: Number(point.sum),
  attributes: attributesOf(point.attributes as KeyValue[]),
});

const counted = (point: Loose) => ({
  sum: Number(point.asInt),
  attributes: attributesOf(point.attributes as KeyValue[]),
});

export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/**
 * Measurements are exported at the end only. Deno waits at its exit until no export is under way: with many a second, beside a
 * receiver on a busy machine, for good.
 */
export const AT_THE_END = { OTEL_METRIC_EXPORT_INTERVAL: "600000" };

/** Variables that make a program export to it, without a wait. */
export const exporting = ({ url }: Pick<Receiver, "url">): Record<string, string> => ({
  OTEL_DENO: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
  OTEL_DENO_CONSOLE: "capture",
});
