/** What a call would have cost that was paid for with the caller's own credential. */
export function v16(): readonly string[] {
  return [`ALTER TABLE generations ADD COLUMN list_cost BIGINT`];
}
