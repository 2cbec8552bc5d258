/** What OTLP is made of in Protocol Buffers, as far as traces and metrics need it, for a decoder that is not ours. */
import protobuf from "protobufjs";

const field = (id: number, type: string, rule?: "repeated") => ({ id, type, ...(rule && { rule }) });
const message = (fields: Record<string, ReturnType<typeof field>>) => ({ fields });

const ROOT = protobuf.Root.fromJSON({
  nested: {
    Traces: message({ resourceSpans: field(1, "ResourceSpans", "repeated") }),
    ResourceSpans: message({
      resource: field(1, "Resource"),
      scopeSpans: field(2, "ScopeSpans", "repeated"),
    }),
    ScopeSpans: message({ scope: field(1, "Scope"), spans: field(2, "Span", "repeated") }),
    Span: message({
      traceId: field(1, "bytes"),
      spanId: field(2, "bytes"),
      traceState: field(3, "string"),
      parentSpanId: field(4, "bytes"),
      name: field(5, "string"),
      kind: field(6, "uint32"),
      startTimeUnixNano: field(7, "fixed64"),
      endTimeUnixNano: field(8, "fixed64"),
      attributes: field(9, "KeyValue", "repeated"),
      status: field(15, "Status"),
      flags: field(16, "fixed32"),
    }),
    Status: message({ message: field(2, "string"), code: field(3, "uint32") }),
    Metrics: message({ resourceMetrics: field(1, "ResourceMetrics", "repeated") }),
    ResourceMetrics: message({
      resource: field(1, "Resource"),
      scopeMetrics: field(2, "ScopeMetrics", "repeated"),
    }),
    ScopeMetrics: message({ scope: field(1, "Scope"), metrics: field(2, "Metric", "repeated") }),
    Metric: message({
      name: field(1, "string"),
      description: field(2, "string"),
      unit: field(3, "string"),
      sum: field(7, "Sum"),
      histogram: field(9, "Histogram"),
    }),
    Sum: message({
      dataPoints: field(1, "NumberDataPoint", "repeated"),
      aggregationTemporality: field(2, "uint32"),
      isMonotonic: field(3, "bool"),
    }),
    NumberDataPoint: message({
      startTimeUnixNano: field(2, "fixed64"),
      timeUnixNano: field(3, "fixed64"),
      asInt: field(6, "sfixed64"),
      attributes: field(7, "KeyValue", "repeated"),
    }),
    Histogram: message({
      dataPoints: field(1, "HistogramDataPoint", "repeated"),
      aggregationTemporality: field(2, "uint32"),
    }),
    HistogramDataPoint: message({
      startTimeUnixNano: field(2, "fixed64"),
      timeUnixNano: field(3, "fixed64"),
      count: field(4, "fixed64"),
      sum: field(5, "double"),
      bucketCounts: field(6, "fixed64", "repeated"),
      explicitBounds: field(7, "double", "repeated"),
      attributes: field(9, "KeyValue", "repeated"),
      min: field(11, "double"),
      max: field(12, "double"),
    }),
    Resource: message({ attributes: field(1, "KeyValue", "repeated") }),
    Scope: message({ name: field(1, "string"), version: field(2, "string") }),
    KeyValue: message({ key: field(1, "string"), value: field(2, "AnyValue") }),
    AnyValue: message({
      stringValue: field(1, "string"),
      boolValue: field(2, "bool"),
      intValue: field(3, "int64"),
      doubleValue: field(4, "double"),
      arrayValue: field(5, "ArrayValue"),
    }),
    ArrayValue: message({ values: field(1, "AnyValue", "repeated") }),
  },
});

/** A request as its JSON would be; it throws at bytes that are none. */
export function decoded(kind: "Traces" | "Metrics", bytes: Uint8Array): Record<string, unknown> {
  const type = ROOT.lookupType(kind);
  const object = type.toObject(type.decode(bytes), { longs: String, bytes: Array, arrays: false });
  return withHex(object) as Record<string, unknown>;
}

/** Ids as JSON has them. */
function withHex(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withHex);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      name,
      /^(?:traceId|spanId|parentSpanId)$/.test(name)
        ? (of as number[]).map((byte) => byte.toString(16).padStart(2, "0")).join("")
        : withHex(of),
    ]),
  );
}
