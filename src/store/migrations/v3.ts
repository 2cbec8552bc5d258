/** The audit log: DLP findings, and changes made by administrators. */
import type { Dialect } from "./dialect.ts";

export function v3(_: Dialect): readonly string[] {
  return [
    `CREATE TABLE audit (
      id TEXT PRIMARY KEY, created BIGINT NOT NULL, kind TEXT NOT NULL, key_id TEXT, key_name TEXT, account TEXT,
      data TEXT NOT NULL)`,
    `CREATE INDEX audit_by_created ON audit (created, id)`,
    `CREATE INDEX audit_by_kind ON audit (kind, created, id)`,
    `CREATE INDEX audit_by_key ON audit (key_id, created)`,
  ];
}
