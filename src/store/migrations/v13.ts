/** Administration tokens, console sessions ended before they expired, and the member of each key. */
import type { Dialect } from "./dialect.ts";

export function v13(_: Dialect): readonly string[] {
  return [
    `CREATE TABLE admin_tokens (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL, created BIGINT NOT NULL,
      created_by TEXT NOT NULL, expires_at BIGINT, revoked_at BIGINT, last_used BIGINT, rev BIGINT NOT NULL)`,
    `CREATE UNIQUE INDEX admin_tokens_by_hash ON admin_tokens (hash)`,
    `CREATE INDEX admin_tokens_by_rev ON admin_tokens (rev)`,
    `CREATE TABLE ended_sessions (id TEXT PRIMARY KEY, ends BIGINT NOT NULL, rev BIGINT NOT NULL)`,
    `ALTER TABLE keys ADD COLUMN member TEXT`,
    `CREATE INDEX keys_by_member ON keys (member) WHERE member IS NOT NULL`,
  ];
}
