/**
 * Rows as both engines return them, and typed access to their columns: `asText(row.id)`.
 *
 * A column that was not selected is `undefined`, which each accessor rejects, so a wrong name is an error
 * instead of the text "undefined" in the ledger.
 */

export type Value = string | number | bigint | null;
export type Row = Record<string, Value>;

export function asText(value: Value): string {
  if (typeof value !== "string") throw unexpected("text", value);
  return value;
}

/** An integer that fits a `number`, such as a time or a count. */
export function asInt(value: Value): number {
  if (typeof value !== "bigint" && typeof value !== "number") throw unexpected("an integer", value);
  return Number(value);
}

/** Picodollars, or a sum of any size. */
export function asMoney(value: Value): bigint {
  if (typeof value === "bigint") return value;
  // SQLite returns a sum beyond 64 bits as a float.
  if (typeof value === "number") return BigInt(value);
  throw unexpected("an integer", value);
}

/** Booleans are stored as 0 and 1, which both engines support. */
export function asBool(value: Value): boolean {
  return asInt(value) !== 0;
}

/** A nullable column: `optional(row.provider, asText)`. */
export function optional<T>(value: Value, read: (value: Value) => T): T | null {
  return value === null ? null : read(value);
}

/** The value is not part of the message: it may be a hash or a name. */
function unexpected(expected: string, value: unknown): TypeError {
  return new TypeError(
    `Cannot read a row: expected ${expected}, got ${value === null ? "null" : typeof value}`,
  );
}
