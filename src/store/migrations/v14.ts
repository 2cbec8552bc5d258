/** Keys whose requests and answers are kept, where payloads are, and alerts: what nodes measure, and which alerts are open. */
import type { Dialect } from "./dialect.ts";

export function v14(_: Dialect): readonly string[] {
  return [
    `ALTER TABLE keys ADD COLUMN payloads BIGINT`,
    `CREATE TABLE payload_places (id TEXT PRIMARY KEY, created BIGINT NOT NULL, place TEXT NOT NULL)`,
    `CREATE INDEX payload_places_by_age ON payload_places (created)`,
    // The last that each node measured, under the time of the node that judges.
    `CREATE TABLE alert_samples (node TEXT PRIMARY KEY, data TEXT NOT NULL)`,
    `CREATE TABLE open_alerts (id TEXT PRIMARY KEY, since BIGINT NOT NULL, data TEXT NOT NULL)`,
  ];
}
