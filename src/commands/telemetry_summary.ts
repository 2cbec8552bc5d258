/** What `sluice check` says about the variables of OpenTelemetry. */
import { withoutPassword } from "../schema/mistakes.ts";
import { type Destination, exportSettings } from "../telemetry/otlp/environment.ts";

export interface TelemetrySummary {
  /** A line of the summary. */
  line: string;
  warnings: string[];
}

/** Only for a process in which telemetry is on. */
export function telemetrySummary(env: (name: string) => string | undefined): TelemetrySummary {
  const { traces, metrics, mistakes } = exportSettings(env);
  return {
    line: `telemetry  traces ${place(traces)}, metrics ${place(metrics)}`,
    warnings: mistakes.map((mistake) => `telemetry: ${mistake}`),
  };
}

function place(to: Destination | null): string {
  return to === null ? "are not exported" : `to ${withoutPassword(to.url)} (${to.protocol})`;
}
