/** What a call would have cost that its caller's own credential paid. */
export function v16(): readonly string[] {
  return [`ALTER TABLE generations ADD COLUMN list_cost BIGINT`];
}
