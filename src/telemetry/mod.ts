/**
 * Telemetry through Deno's own OpenTelemetry, which exports what is made here off the event loop: one trace for a generation,
 * and the metrics of the conventions for generative AI. Loaded only where `OTEL_DENO` switches it on.
 */
import type { Telemetry } from "../pipeline/telemetry.ts";
import { TracedCall } from "./call.ts";
import { Recording, type RecordingOptions } from "./recording.ts";

export { quietFetch } from "./quiet_fetch.ts";

export function openTelemetry(options: RecordingOptions): Telemetry {
  const recording = new Recording(options);
  return { follow: (request) => new TracedCall(recording, request) };
}
