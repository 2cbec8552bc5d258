/**
 * Budgets of teams, sessions and tags: settings of keys, sums by label, the warnings already sent for each
 * budget, and the outbox of warnings to webhooks.
 */
import type { Dialect } from "./dialect.ts";

const METRICS = [
  "generations",
  "failed",
  "input",
  "cached",
  "cache_write",
  "output",
  "reasoning",
  "searches",
  "cost",
];

/** Columns of sums by label that the other sums do not have. */
const MORE = ["latency_ms", "tool_calls", "cache_saved"];

export function v5({ kind, money }: Dialect): readonly string[] {
  return [
    ...[
      ["team", "TEXT"],
      ["session_amount", money],
      ["session_requests_per_minute", "BIGINT"],
      ["tag_limits", "TEXT"],
    ].map(([name, type]) => `ALTER TABLE keys ADD COLUMN ${name} ${type}`),
    `ALTER TABLE generations ADD COLUMN tool_calls BIGINT`,
    `ALTER TABLE budgets ADD COLUMN limit_amount ${money}`,
    // The highest percentage of the limit for which a warning was sent.
    `ALTER TABLE budgets ADD COLUMN warned BIGINT`,
    `CREATE TABLE label_sums (
      value TEXT NOT NULL, label TEXT NOT NULL, starts BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL,
      account TEXT NOT NULL, team TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, format TEXT NOT NULL,
      ${METRICS.concat(MORE).map((name) => `${name} BIGINT NOT NULL`).join(", ")},
      PRIMARY KEY (value, label, starts, key_id, key_name, account, team, model, provider, format)
     )${kind === "sqlite" ? " WITHOUT ROWID" : ""}`,
    `CREATE INDEX label_sums_by_day ON label_sums (label, starts)`,
    `CREATE TABLE deliveries (
      id TEXT PRIMARY KEY, webhook TEXT NOT NULL, created BIGINT NOT NULL, due BIGINT NOT NULL, attempts BIGINT NOT NULL,
      node TEXT, data TEXT NOT NULL)`,
    `CREATE INDEX deliveries_by_webhook ON deliveries (webhook, due)`,
  ];
}
