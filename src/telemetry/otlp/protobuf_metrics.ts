/** Measurements as `ExportMetricsServiceRequest` in Protocol Buffers (opentelemetry-proto 1.9). */
import { Counter, type CounterPoint, filled, type HistogramPoint, type Measured } from "./measurements.ts";
import { ProtobufWriter } from "./protobuf.ts";
import { within } from "./protobuf_spans.ts";
import type { Origin } from "./spans.ts";

/** In points of counters attributes are field 7, in points of histograms they are field 9, as in spans. */
const COUNTER_ATTRIBUTES = 0x3a;
const HISTOGRAM_ATTRIBUTES = 0x4a;
const DELTA = 1;
const CUMULATIVE = 2;

/** An `ExportMetricsServiceRequest` as protobuf. */
export function protobufMetrics(origin: Origin, measured: Measured): Uint8Array<ArrayBuffer> {
  const to = new ProtobufWriter(HISTOGRAM_ATTRIBUTES, 1 << 14);
  const kind = measured.delta ? DELTA : CUMULATIVE;
  for (const instrument of measured.instruments) {
    const points = instrument instanceof Counter ? instrument.points : filled(instrument);
    if (points.length === 0) continue;
    const { name, description, unit } = instrument.about;
    const metric = to.open(0x12);
    to.string(0x0a, name);
    to.string(0x12, description);
    to.string(0x1a, unit);
    if (instrument instanceof Counter) {
      const sum = to.open(0x3a);
      for (const point of instrument.points) counterPoint(to, point, measured);
      to.field(0x10, kind);
      // `is_monotonic`: the sum never decreases.
      to.field(0x18, 1);
      to.close(sum);
    } else {
      const histogram = to.open(0x4a);
      for (const point of filled(instrument)) histogramPoint(to, point, instrument.bounds, measured);
      to.field(0x10, kind);
      to.close(histogram);
    }
    to.close(metric);
  }
  return within(origin, to.bytes.subarray(0, to.at));
}

function counterPoint(
  to: ProtobufWriter,
  { attributes, value }: CounterPoint,
  { start, now }: Measured,
): void {
  const began = to.open(0x0a);
  to.time(0x11, start);
  to.time(0x19, now);
  to.fixedField(0x31, value);
  // The cached encoding has another tag. Counters are few, so their attributes are encoded again.
  to.attributeTag = COUNTER_ATTRIBUTES;
  attributes.write(to);
  to.attributeTag = HISTOGRAM_ATTRIBUTES;
  to.close(began);
}

function histogramPoint(
  to: ProtobufWriter,
  point: HistogramPoint,
  bounds: readonly number[],
  { start, now }: Measured,
): void {
  const began = to.open(0x0a);
  to.time(0x11, start);
  to.time(0x19, now);
  to.fixedField(0x21, point.count);
  to.doubleField(0x29, point.sum);
  const counts = to.open(0x32);
  for (const count of point.counts) to.rawFixed(count);
  to.close(counts);
  const limits = to.open(0x3a);
  for (const bound of bounds) to.rawDouble(bound);
  to.close(limits);
  to.fixed(point.attributes);
  to.doubleField(0x59, point.min);
  to.doubleField(0x61, point.max);
  to.close(began);
}
