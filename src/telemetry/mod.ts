/**
 * Telemetry with OpenTelemetry: one trace per generation, and the metrics of the semantic conventions for
 * generative AI. Spans that Deno creates itself join these traces. Loaded only if `OTEL_DENO` enables it.
 */
import type { Telemetry } from "../pipeline/telemetry.ts";
import { follow } from "./call.ts";
import type { TelemetryConfig } from "./config.ts";
import { Instruments } from "./instruments.ts";
import { Exporter, type ExporterOptions } from "./otlp/exporter.ts";
import { withinNoTrace } from "./place.ts";
import { Recording } from "./recording.ts";

export { withinNoTrace } from "./place.ts";

/** One per process; a reload keeps it. */
export interface OpenTelemetry {
  /** The interface that the pipeline calls, with the settings of this section of the configuration. */
  following(config: TelemetryConfig): Telemetry;
  /** Exports the rest, within some seconds. @returns whether the collector answers */
  close(): Promise<boolean>;
}

/** Starts the export of traces and measurements. */
export function openTelemetry(options: Omit<ExporterOptions, "untraced">): OpenTelemetry {
  const exporter = new Exporter({ ...options, untraced: withinNoTrace });
  const instruments = new Instruments(exporter);
  if (exporter.measures) exporter.measure(instruments.all);
  return {
    following(config) {
      const recording = new Recording({ ...config, exporter, instruments, random: options.random });
      return { follow: (request) => follow(recording, request) };
    },
    close: () => exporter.close(),
  };
}
