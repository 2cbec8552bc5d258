/**
 * Parses queries and bodies of administration requests: an invalid value becomes a `validation_error` that
 * names the field.
 */
import { TRAIT_PARAMETERS, type TraitQuery } from "../accounts/administration/trait_query.ts";
import { Failure } from "../exchange/failure.ts";
import { pathSteps, shownInput, shownName, unknownName } from "../schema/mistakes.ts";

/** Dimensions and time span of a usage report. The dimensions are validated by the accounts. */
export function usageQuery(query: URLSearchParams) {
  const get = textOf(query);
  return { by: get("by") ?? "key", from: get("from"), to: get("to") };
}

/** The query of a search over generations, as text; the values are validated by the accounts. */
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

/** The month of a statement, and what its lines are. */
export function statementQuery(query: URLSearchParams): { month: string; by?: string } {
  const get = textOf(query);
  const month = get("month");
  if (month === undefined) throw refusedField("month", "a month as YYYY-MM", undefined, "missing");
  return { month, by: get("by") };
}

/** The page of a list. */
export function pageQuery(query: URLSearchParams): { limit?: number; cursor?: string } {
  const get = textOf(query);
  const limit = get("limit");
  if (limit !== undefined && !/^\d{1,6}$/.test(limit)) {
    throw refusedField("limit", "a whole number", limit, "int_parsing");
  }
  return { limit: limit === undefined ? undefined : Number(limit), cursor: get("cursor") };
}

/** Returns a reader of parameters. NUL is rejected, since PostgreSQL cannot store it in text. */
export function textOf(query: URLSearchParams): (name: string) => string | undefined {
  return (name) => {
    const value = query.get(name) ?? undefined;
    // deno-lint-ignore no-control-regex
    if (value === undefined || !/[\0-\x1f]/.test(value)) return value;
    throw refusedField(name, "printable text", value, "string_pattern_mismatch");
  };
}

/** Rejects unknown fields: a misspelt field would silently have no effect. */
export function refuseUnknown(value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const msg = unknownName("field", unknown, known);
  const name = shownName(unknown);
  throw new Failure("validation_error", `Cannot read ${name}: ${msg}.`, {
    param: name,
    errors: [{ type: "extra_forbidden", loc: pathSteps([unknown]), msg }],
  });
}

/** How long the old secret of a rotated key stays valid, in seconds; default 0. */
export function overlapSeconds({ overlap_seconds: value }: { overlap_seconds?: unknown }): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw refusedField("overlap_seconds", "a whole number of at least 0", value, "int_parsing");
}

/** @param type the kind of error, as in `extra.errors` */
export function refusedField(field: string, expected: string, found: unknown, type: string): Failure {
  const msg = `expected ${expected}, got ${shownInput(found, [field])}`;
  return new Failure("validation_error", `Cannot read ${field}: ${msg}.`, {
    param: field,
    errors: [{ type, loc: [field], msg }],
  });
}
