/** The section `telemetry` of the configuration. What it does without comes from `OTEL_*` variables. */
import { between, fields, flag } from "../schema/fields.ts";

export const TELEMETRY = fields({
  sample: between(0, 1).prefault(1).describe(
    "Part of the generations whose traces are recorded, where the caller's `traceparent` does not say whether. Metrics count all.",
  ),
  langfuse: flag().prefault(false)
    .describe("Whether spans also have the names that Langfuse reads: user, session, tags, kind, usage."),
});

export interface TelemetryConfig {
  sample: number;
  langfuse: boolean;
}

/** Whether Deno exports anything, by the variables that it reads. */
export function telemetryIsOn(env: (name: string) => string | undefined): boolean {
  const is = (name: string) => ["1", "true"].includes(env(name)?.toLowerCase() ?? "");
  return is("OTEL_DENO") && !is("OTEL_SDK_DISABLED");
}
