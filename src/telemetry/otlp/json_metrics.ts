/** Measurements as `ExportMetricsServiceRequest` in JSON. */
import { aboutOrigin, jsonOf, nanoseconds } from "./json_spans.ts";
import { Counter, type CounterPoint, filled, type HistogramPoint, type Measured } from "./measurements.ts";
import type { Origin } from "./spans.ts";

const encoder = new TextEncoder();
const DELTA = 1;
const CUMULATIVE = 2;

/** An `ExportMetricsServiceRequest` as JSON. */
export function jsonMetrics(origin: Origin, measured: Measured): Uint8Array<ArrayBuffer> {
  const { resource, scope } = aboutOrigin(origin);
  const aggregationTemporality = measured.delta ? DELTA : CUMULATIVE;
  const metrics = measured.instruments.flatMap((instrument): object[] => {
    const { about } = instrument;
    if (instrument instanceof Counter) {
      if (instrument.points.length === 0) return [];
      const dataPoints = instrument.points.map((point) => counterPoint(point, measured));
      return [{ ...about, sum: { dataPoints, aggregationTemporality, isMonotonic: true } }];
    }
    const dataPoints = filled(instrument).map((point) => histogramPoint(point, instrument.bounds, measured));
    return dataPoints.length === 0 ? [] : [{ ...about, histogram: { dataPoints, aggregationTemporality } }];
  });
  return encoder.encode(
    `{"resourceMetrics":[{"resource":${resource},"scopeMetrics":[{"scope":${scope},"metrics":${
      JSON.stringify(metrics)
    }}]}]}`,
  );
}

const times = ({ start, now }: Measured) => ({
  startTimeUnixNano: JSON.parse(nanoseconds(start)),
  timeUnixNano: JSON.parse(nanoseconds(now)),
});

function counterPoint({ attributes, value }: CounterPoint, measured: Measured) {
  return { ...times(measured), asInt: String(value), attributes: JSON.parse(`[${jsonOf(attributes)}]`) };
}

function histogramPoint(point: HistogramPoint, bounds: readonly number[], measured: Measured) {
  return {
    ...times(measured),
    count: String(point.count),
    sum: point.sum,
    bucketCounts: point.counts.map(String),
    explicitBounds: bounds,
    attributes: JSON.parse(`[${jsonOf(point.attributes)}]`),
    min: point.min,
    max: point.max,
  };
}
