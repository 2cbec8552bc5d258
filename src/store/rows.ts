/**
 * Rows as both engines return them, and their columns read by name: `asText(row.id)`.
 *
 * A column that a statement does not select is `undefined`, and each reader refuses it, so that a wrong name is an error
 * and not the text "undefined" in the ledger.
 */

export type Value = string | number | bigint | null;
export type Row = Record<string, Value>;

export function asText(value: Value): string {
  if (typeof value !== "string") throw unexpected("text", value);
  return value;
}

/** A whole number that fits a `number`: a time, a count. */
export function asInt(value: Value): number {
  if (typeof value !== "bigint" && typeof value !== "number") throw unexpected("an integer", value);
  return Number(value);
}

/** Money in picodollars, or a sum of any size. */
export function asMoney(value: Value): bigint {
  if (typeof value === "bigint") return value;
  // SQLite turns a sum beyond 64 bits into a float.
  if (typeof value === "number") return BigInt(value);
  throw unexpected("an integer", value);
}

/** Booleans are kept as 0 and 1, which both engines have. */
export function asBool(value: Value): boolean {
  return asInt(value) !== 0;
}

/** A column that may be NULL: `optional(row.provider, asText)`. */
export function optional<T>(value: Value, read: (value: Value) => T): T | null {
  return value === null ? null : read(value);
}

/** The value itself stays out of the message: it may be a hash or a name. */
function unexpected(expected: string, value: unknown): TypeError {
  return new TypeError(
    `Cannot read a row: expected ${expected}, got ${value === null ? "null" : typeof value}`,
  );
}
