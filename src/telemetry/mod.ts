/**
 * Telemetry by OpenTelemetry: one trace for a generation, and the metrics of the conventions for generative AI. What Deno
 * traces by itself joins these traces. Loaded only where `OTEL_DENO` switches it on.
 */
import type { Telemetry } from "../pipeline/telemetry.ts";
import { follow } from "./call.ts";
import type { TelemetryConfig } from "./config.ts";
import { Instruments } from "./instruments.ts";
import { Exporter, type ExporterOptions } from "./otlp/exporter.ts";
import { withinNoTrace } from "./place.ts";
import { Recording } from "./recording.ts";

export { boundExit } from "./exit.ts";
export { withinNoTrace } from "./place.ts";

/** Of a process: it stays over a reload. */
export interface OpenTelemetry {
  /** Calls as this section of the configuration wants them followed. */
  following(config: TelemetryConfig): Telemetry;
  /** Exports what is left, for some seconds at most. @returns whether the collector answers */
  close(): Promise<boolean>;
}

/** Starts to export traces and measurements. */
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
