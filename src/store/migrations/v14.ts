/**
 * Keys whose requests and answers are stored, the location of payloads, and alerts: samples of nodes and open
 * alerts.
 */
import type { Dialect } from "./dialect.ts";

export function v14(_: Dialect): readonly string[] {
  return [
    `ALTER TABLE keys ADD COLUMN payloads BIGINT`,
    `CREATE TABLE payload_places (id TEXT PRIMARY KEY, created BIGINT NOT NULL, place TEXT NOT NULL)`,
    `CREATE INDEX payload_places_by_age ON payload_places (created)`,
    // The last sample of each node, and when the evaluating node was last active.
    `CREATE TABLE alert_samples (node TEXT PRIMARY KEY, data TEXT NOT NULL)`,
    `CREATE TABLE open_alerts (id TEXT PRIMARY KEY, since BIGINT NOT NULL, data TEXT NOT NULL)`,
  ];
}
