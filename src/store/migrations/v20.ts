/**
 * Console sessions, running calls as published by nodes while somebody watches, and indexes for warnings on
 * the overview page: keys that expire soon, budgets that are nearly spent.
 */
export function v20(): readonly string[] {
  return [
    `CREATE TABLE console_sessions (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, team TEXT, member TEXT, way TEXT NOT NULL,
      credential TEXT, began BIGINT NOT NULL, ends BIGINT NOT NULL)`,
    `CREATE INDEX console_sessions_by_begin ON console_sessions (began, id)`,
    `CREATE TABLE watches (node TEXT PRIMARY KEY, rev BIGINT NOT NULL)`,
    `CREATE TABLE running_calls (node TEXT PRIMARY KEY, data TEXT NOT NULL)`,
    `CREATE INDEX keys_by_end ON keys (expires_at) WHERE expires_at IS NOT NULL AND revoked_at IS NULL`,
    // Contains no column that changes with every call: PostgreSQL would otherwise write each new row version
    // into all indexes.
    `CREATE INDEX budgets_warned ON budgets (ends) WHERE warned >= 80`,
  ];
}
