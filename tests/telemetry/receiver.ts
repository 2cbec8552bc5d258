/** An OTLP receiver on loopback, as a collector is one: it keeps what it is sent, as JSON. */

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
  /** All that came, as it came. */
  raw: string[];
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
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const text = await request.text();
    receiver.raw.push(text);
    if (answer) return await answer();
    const sent = JSON.parse(text);
    for (const { resource, scopeSpans = [] } of sent.resourceSpans ?? []) {
      receiver.resources.push(attributesOf(resource.attributes));
      for (const { scope, spans } of scopeSpans) {
        for (const span of spans) {
          receiver.spans.push({
            ...span,
            start: Number(span.startTimeUnixNano) / 1e6,
            end: Number(span.endTimeUnixNano) / 1e6,
            status: span.status?.code ?? 0,
            scope: scope.name,
            attributes: attributesOf(span.attributes),
          });
        }
      }
    }
    for (const { scopeMetrics = [] } of sent.resourceMetrics ?? []) {
      for (const { metrics } of scopeMetrics) {
        for (const { name, histogram } of metrics) {
          // Cumulative: the last one tells all.
          receiver.metrics.set(
            name,
            (histogram?.dataPoints ?? []).map((point: Loose) => ({
              count: Number(point.count),
              sum: Number(point.sum),
              attributes: attributesOf(point.attributes as KeyValue[]),
            })),
          );
        }
      }
    }
    for (const look of waiting) look();
    return Response.json({});
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.addr.port}`,
    spans: [],
    metrics: new Map(),
    resources: [],
    raw: [],
    until: (what) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`The receiver waits in vain for ${what}`)), 20_000);
        const look = () => {
          if (!what(receiver)) return;
          waiting.delete(look);
          clearTimeout(late);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () => server.shutdown(),
  };
  return receiver;
}

/** Variables that make a program export to it, without a wait. */
export const exporting = ({ url }: Receiver): Record<string, string> => ({
  OTEL_DENO: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
  OTEL_DENO_CONSOLE: "capture",
});
