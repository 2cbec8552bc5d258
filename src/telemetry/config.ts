/** The configuration section `telemetry`. Other settings come from the `OTEL_*` variables. */
import { between, fields, flag } from "../schema/fields.ts";

export const TELEMETRY = fields({
  sample: between(0, 1).nullable().prefault(null).describe(
    "Share of the generations whose traces are recorded, if the caller's trace does not decide it. Metrics count all generations. Null: `OTEL_TRACES_SAMPLER` decides; without it, all are recorded.",
  ),
  langfuse: flag().prefault(false)
    .describe(
      "Whether spans also have the attributes that Langfuse reads: user, session, tags, type, usage.",
    ),
});

export interface TelemetryConfig {
  /** Null: the variables decide. */
  sample: number | null;
  langfuse: boolean;
}

/** Whether anything is exported, according to the variables that Deno itself also reads. */
export function telemetryIsOn(env: (name: string) => string | undefined): boolean {
  const is = (name: string) => ["1", "true"].includes(env(name)?.toLowerCase() ?? "");
  return is("OTEL_DENO") && !is("OTEL_SDK_DISABLED");
}

const SIGNALS = ["", "_TRACES", "_METRICS"];
const OF_SIGNAL = [
  "CERTIFICATE",
  "CLIENT_CERTIFICATE",
  "CLIENT_KEY",
  "ENDPOINT",
  "HEADERS",
  "PROTOCOL",
  "TIMEOUT",
];
/** Variables that are read while telemetry is on. */
export const TELEMETRY_VARIABLES: readonly string[] = [
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_SCHEDULE_DELAY",
  "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
  "OTEL_METRICS_EXPORTER",
  "OTEL_METRIC_EXPORT_INTERVAL",
  "OTEL_PROPAGATORS",
  "OTEL_SEMCONV_STABILITY_OPT_IN",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_EXPORTER",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  ...SIGNALS.flatMap((signal) => OF_SIGNAL.map((name) => `OTEL_EXPORTER_OTLP${signal}_${name}`)),
];
/** The variables that contain paths of files. */
export const TELEMETRY_FILES: readonly string[] = TELEMETRY_VARIABLES.filter((name) =>
  /_(?:CERTIFICATE|CLIENT_KEY)$/.test(name)
);
