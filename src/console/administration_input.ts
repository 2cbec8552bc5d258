/** What administration calls say in queries and bodies, checked: a mistake becomes a `validation_error` that names the field. */
import { TRAIT_PARAMETERS, type TraitQuery } from "../accounts/administration/trait_query.ts";
import { Failure } from "../exchange/failure.ts";
import { unknownName } from "../schema/mistakes.ts";

/** Which sums, over which time. What the dimensions are the accounts know. */
export function usageQuery(query: URLSearchParams) {
  const get = textOf(query);
  return { by: get("by") ?? "key", from: get("from"), to: get("to") };
}

/** The query of a search over generations, as text; the accounts check the values. */
export function generationQuery(query: URLSearchParams) {
  const get = textOf(query);
  return {
    key: get("key"),
    model: get("model"),
    account: get("account"),
    session: get("session"),
    ...Object.fromEntries(TRAIT_PARAMETERS.map(([name]) => [name, get(name)])) as TraitQuery,
    from: get("from"),
    to: get("to"),
  };
}

/** The query of a list of keys, as text. */
export function keyQuery(query: URLSearchParams) {
  const get = textOf(query);
  return { search: get("search"), team: get("team") };
}

/** The query of the audit log, as text. */
export function auditQuery(query: URLSearchParams) {
  const get = textOf(query);
  return { kind: get("kind"), key: get("key"), from: get("from"), to: get("to") };
}

/** Which month, and what is a line. */
export function statementQuery(query: URLSearchParams): { month: string; by?: string } {
  const get = textOf(query);
  const month = get("month");
  if (month === undefined) throw refusedField("month", "a month as YYYY-MM", undefined, "missing");
  return { month, by: get("by") };
}

/** Which page of a list. */
export function pageQuery(query: URLSearchParams): { limit?: number; cursor?: string } {
  const get = textOf(query);
  const limit = get("limit");
  if (limit !== undefined && !/^\d{1,6}$/.test(limit)) {
    throw refusedField("limit", "a whole number", limit, "int_parsing");
  }
  return { limit: limit === undefined ? undefined : Number(limit), cursor: get("cursor") };
}

/** Reads parameters. PostgreSQL has no text with a NUL in it. */
export function textOf(query: URLSearchParams): (name: string) => string | undefined {
  return (name) => {
    const value = query.get(name) ?? undefined;
    // deno-lint-ignore no-control-regex
    if (value === undefined || !/[\0-\x1f]/.test(value)) return value;
    throw refusedField(name, "printable text", value, "string_pattern_mismatch");
  };
}

/** Refuses a field that nobody reads: one that is misspelt would not do what it was written for. */
export function refuseUnknown(value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const msg = unknownName("field", unknown, known);
  const name = unknown.slice(0, 200);
  throw new Failure("validation_error", `Cannot read ${name}: ${msg}.`, {
    param: name,
    errors: [{ type: "extra_forbidden", loc: [name], msg }],
  });
}

/** For how long a rotated key's old secret stays valid: not at all, where nothing is said. */
export function overlapSeconds({ overlap_seconds: value }: { overlap_seconds?: unknown }): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw refusedField("overlap_seconds", "a whole number of at least 0", value, "int_parsing");
}

/** @param type the kind of mistake, as `extra.errors` lists it */
export function refusedField(field: string, expected: string, found: unknown, type: string): Failure {
  const shown = found === undefined ? "nothing" : JSON.stringify(found).slice(0, 200);
  return new Failure("validation_error", `Cannot read ${field}: expected ${expected}, got ${shown}.`, {
    param: field,
    errors: [{ type, loc: [field], msg: `Input should be ${expected}` }],
  });
}
