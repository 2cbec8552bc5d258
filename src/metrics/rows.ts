/**
 * All metrics of the gateway, one row each. The Prometheus page and the manual are generated from these rows.
 * A new metric needs only a row and the code that updates it.
 *
 * Label values are names of surfaces, models, providers and codes, never keys or text of a conversation.
 */

export interface MetricRow {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
  /**
   * Values of each label that are known at the start: their counters begin with 0. If a counter appeared with
   * the value 1, Prometheus would see no increase, and the first event, possibly the only one, would raise no
   * alert.
   */
  known?: readonly (readonly (string | number)[])[];
  /** The value is stored elsewhere and read when the metrics are read. This is always so for gauges. */
  observable?: true;
  /** Upper bounds of the buckets of a histogram, ascending. */
  buckets?: readonly number[];
}

/** In seconds. */
export const DURATIONS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;

/** In seconds. */
const HOLDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const;

export const METRICS = {
  responses: {
    name: "sluice_responses_total",
    type: "counter",
    help: "HTTP responses by surface (group of routes) and status.",
    labels: ["surface", "status"],
  },
  generations: {
    name: "sluice_generations_total",
    type: "counter",
    help: "Finished generations by model, provider (`none`: no provider accepted the call) and status.",
    labels: ["model", "provider", "status"],
  },
  tokens: {
    name: "sluice_tokens_total",
    type: "counter",
    help:
      "Tokens by model and kind. Cached tokens are part of the input, reasoning tokens part of the output.",
    labels: ["model", "kind"],
  },
  searches: {
    name: "sluice_searches_total",
    type: "counter",
    help: "Executed web searches by model.",
    labels: ["model"],
  },
  findings: {
    name: "sluice_dlp_findings_total",
    type: "counter",
    help: "Findings of data-loss prevention by entity type, mode and place (`request` or `answer`).",
    labels: ["type", "mode", "of"],
  },
  refusals: {
    name: "sluice_refusals_total",
    type: "counter",
    help: "Generations with a valid key that were refused before a provider was called, by error code.",
    labels: ["code"],
  },
  screened: {
    name: "sluice_dlp_screened_total",
    type: "counter",
    help: "Requests and answers with findings, by action: refused, masked, alerted.",
    labels: ["of", "action"],
  },
  budgetWarnings: {
    name: "sluice_budget_warnings_total",
    type: "counter",
    help:
      "Budgets whose use reached 50, 80 or 100 per cent, by owner of the budget: account, key, team, session, tag.",
    labels: ["scope", "percent"],
    known: [["account", "key", "team", "session", "tag"], [50, 80, 100]],
  },
  webhookDeliveries: {
    name: "sluice_webhook_deliveries_total",
    type: "counter",
    help: "Webhook deliveries by outcome: delivered, failed (will be retried), dropped (too old).",
    labels: ["outcome"],
    known: [["delivered", "failed", "dropped"]],
  },
  telemetryLost: {
    name: "sluice_telemetry_lost_total",
    type: "counter",
    help: "OpenTelemetry spans and measurements that could not be exported, by kind.",
    labels: ["kind"],
    known: [["spans", "measurements"]],
  },
  payloads: {
    name: "sluice_payloads_total",
    type: "counter",
    help:
      "Payloads for the payload log by outcome: stored, dropped (the queue was full), failed (the storage refused them).",
    labels: ["outcome"],
    known: [["stored", "dropped", "failed"]],
  },
  cost: {
    name: "sluice_cost_dollars_total",
    type: "counter",
    help: "Cost of generations by model, in the currency of the prices.",
    labels: ["model"],
  },
  keptStreams: {
    name: "sluice_kept_streams_total",
    type: "counter",
    help:
      "Resumable streams by event: resumed (a client reconnected), joined (a repeated request), lost (the store was unavailable or a size limit was reached).",
    labels: ["outcome"],
    known: [["resumed", "joined", "lost"]],
  },
  keptChars: {
    name: "sluice_kept_stream_chars",
    type: "gauge",
    help: "Characters of this process's resumable streams that are in the store.",
    labels: [],
    observable: true,
  },
  firstPart: {
    name: "sluice_first_part_seconds",
    type: "histogram",
    help: "Time to the first part of an answer, in seconds.",
    labels: ["model"],
    buckets: DURATIONS,
  },
  generationTime: {
    name: "sluice_generation_seconds",
    type: "histogram",
    help: "Time from admission to the end of a generation, in seconds.",
    labels: ["model"],
    buckets: DURATIONS,
  },
  providerInFlight: {
    name: "sluice_provider_in_flight",
    type: "gauge",
    help: "Calls in progress at a provider.",
    labels: ["provider"],
    observable: true,
  },
  providerQueued: {
    name: "sluice_provider_queued",
    type: "gauge",
    help: "Calls that wait because `max_concurrent` of the provider is reached.",
    labels: ["provider"],
    observable: true,
  },
  breakerState: {
    name: "sluice_breaker_state",
    type: "gauge",
    help: "State of the circuit breaker of a provider's model: 0 closed, 1 half-open, 2 open.",
    labels: ["provider", "model"],
    observable: true,
  },
  providerAttempts: {
    name: "sluice_provider_attempts_total",
    type: "counter",
    help: "Calls to a provider's model, including retries.",
    labels: ["provider", "model"],
    observable: true,
  },
  providerFailedAttempts: {
    name: "sluice_provider_failed_attempts_total",
    type: "counter",
    help: "Calls to a provider's model that failed.",
    labels: ["provider", "model"],
    observable: true,
  },
  providerRetries: {
    name: "sluice_provider_retries_total",
    type: "counter",
    help: "Calls to a provider's model that were retries.",
    labels: ["provider", "model"],
    observable: true,
  },
  inFlight: {
    name: "sluice_in_flight",
    type: "gauge",
    help: "Generations in progress, including those whose client has disconnected.",
    labels: [],
    observable: true,
  },
  waiting: {
    name: "sluice_waiting",
    type: "gauge",
    help: "Generations that wait for admission in this process.",
    labels: [],
    observable: true,
  },
  inFlightBodyBytes: {
    name: "sluice_in_flight_body_bytes",
    type: "gauge",
    help: "Size of the request bodies of generations in progress, in bytes as received.",
    labels: [],
    observable: true,
  },
  connections: {
    name: "sluice_connections",
    type: "gauge",
    help:
      "Client connections by state: `idle` between requests, `head` and `body` while a request is received, `handling` while it is processed, `writing` while the answer is sent, `lingering` before they are closed.",
    labels: ["state"],
    observable: true,
  },
  connectionsRefused: {
    name: "sluice_connections_refused_total",
    type: "counter",
    help: "Connections that were refused because `server.max_connections` was reached.",
    labels: [],
    observable: true,
  },
  deadlines: {
    name: "sluice_deadlines",
    type: "gauge",
    help:
      "Active deadlines (timeouts). Each call has some; without traffic the number returns to its initial value.",
    labels: [],
    observable: true,
  },
  storeUp: {
    name: "sluice_store_up",
    type: "gauge",
    help: "Whether the store is available: 1 yes, 0 no.",
    labels: [],
    observable: true,
  },
  recordsPending: {
    name: "sluice_records_pending",
    type: "gauge",
    help: "Records that are not in the store yet.",
    labels: [],
    observable: true,
  },
  journalDamagedLines: {
    name: "sluice_journal_damaged_lines_total",
    type: "counter",
    help: "Lines of journal files that could not be read and were moved to a separate file.",
    labels: [],
    observable: true,
  },
  payloadQueueBytes: {
    name: "sluice_payload_queue_bytes",
    type: "gauge",
    help: "Size of the payloads that wait to be written, in bytes.",
    labels: [],
    observable: true,
  },
  buildInfo: {
    name: "sluice_build_info",
    type: "gauge",
    help: "Always 1; the label is the version of Sluice.",
    labels: ["version"],
    observable: true,
  },
  startTimeSeconds: {
    name: "sluice_start_time_seconds",
    type: "gauge",
    help: "Time at which the process began, in seconds since 1970.",
    labels: [],
    observable: true,
  },
  configReloaded: {
    name: "sluice_config_last_reload_successful",
    type: "gauge",
    help: "Whether the last reload of the configuration was applied: 1 yes, or there was none; 0 no.",
    labels: [],
    observable: true,
  },
  residentBytes: {
    name: "sluice_resident_bytes",
    type: "gauge",
    help: "Resident memory of the process, in bytes.",
    labels: [],
    observable: true,
  },
  lagSeconds: {
    name: "sluice_lag_seconds",
    type: "gauge",
    help: "Delay of the recent ticks of the process's timer, in seconds (event loop lag).",
    labels: [],
    observable: true,
  },
  heldSeconds: {
    name: "sluice_event_loop_held_seconds",
    type: "histogram",
    help:
      "Time for which one operation blocked the event loop, in seconds, by cause: `parse` of a body, `screen`, `convert` between formats, `store`, `payload log`, `resume`. Operations of less than a millisecond are not counted.",
    labels: ["cause"],
    buckets: HOLDS,
  },
} as const satisfies Record<string, MetricRow>;

type Rows = typeof METRICS;
export type MetricId = keyof Rows;
/** Rows whose values are stored elsewhere. */
export type ObservableId = {
  [Id in MetricId]: Rows[Id] extends { observable: true } ? Id : never;
}[MetricId];
export type CounterId = Exclude<
  { [Id in MetricId]: Rows[Id]["type"] extends "counter" ? Id : never }[MetricId],
  ObservableId
>;
export type HistogramId = { [Id in MetricId]: Rows[Id]["type"] extends "histogram" ? Id : never }[MetricId];
type Values<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string | number };
/** One value for each label of a row, in the order of the row. */
export type LabelValues<Id extends MetricId> = Values<Rows[Id]["labels"]>;
