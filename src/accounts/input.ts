/**
 * What an operator writes into the administration API, checked field by field: a mistake becomes a `validation_error` that
 * names the field.
 */
import { Failure, type Mistake } from "../exchange/failure.ts";
import type { Position, StoredKey } from "../store/mod.ts";
import { parseAmount } from "./money.ts";
import type { Period } from "./period.ts";

export interface KeyInput {
  name: string;
  account?: string;
  access_policy?: string | null;
  dlp_policy?: string | null;
  models?: readonly string[] | null;
  spend_limit?: { amount: string; period: Period } | null;
  rate_limit?: { requests_per_minute?: number | null; tokens_per_minute?: number | null } | null;
  /** ISO 8601. */
  expires_at?: string | null;
}

export interface GenerationQuery {
  /** Name or id of a key. */
  key?: string;
  model?: string;
  account?: string;
  /** ISO 8601 or a date. */
  from?: string;
  to?: string;
  limit?: number;
  cursor?: string;
}

const PERIODS: readonly string[] = ["day", "week", "month", "total"];
const NAME = /^[^\p{Cc}\p{Cs}]{1,100}$/u;
const FIELDS = new Set([
  "name",
  "account",
  "access_policy",
  "dlp_policy",
  "models",
  "spend_limit",
  "rate_limit",
  "expires_at",
]);
export function invalid(field: string, message: string): Failure {
  const mistake: Mistake = { type: "value_error", loc: [field], msg: message };
  return new Failure("validation_error", `Cannot read ${field}: ${message}`, {
    param: field,
    errors: [mistake],
  });
}

export function checkFields(input: object): void {
  for (const field of Object.keys(input)) {
    if (!FIELDS.has(field)) throw invalid(field, "there is no such field");
  }
}

type Changeable = Omit<StoredKey, "id" | "created" | "revokedAt">;

/** The fields that are there. Input comes from outside, whatever its type says. */
export function readKey(input: Partial<KeyInput>): Partial<Changeable> {
  const key: Partial<Changeable> = {};
  if (input.name !== undefined) key.name = nameOf("name", input.name);
  if (input.account !== undefined) key.account = nameOf("account", input.account);
  if (input.access_policy !== undefined) key.accessPolicy = nameOrNull("access_policy", input.access_policy);
  if (input.dlp_policy !== undefined) key.dlpPolicy = nameOrNull("dlp_policy", input.dlp_policy);
  if (input.models !== undefined) key.models = modelsOf(input.models);
  if (input.spend_limit !== undefined) key.spendLimit = spendLimitOf(input.spend_limit);
  if (input.rate_limit !== undefined) {
    const rates = input.rate_limit ?? {};
    if (typeof rates !== "object") throw invalid("rate_limit", "expected an object or null");
    key.requestsPerMinute = rateOf("rate_limit.requests_per_minute", rates.requests_per_minute);
    key.tokensPerMinute = rateOf("rate_limit.tokens_per_minute", rates.tokens_per_minute);
  }
  if (input.expires_at !== undefined) key.expiresAt = timeOf("expires_at", input.expires_at ?? undefined);
  return key;
}

export function nameOf(field: string, value: unknown): string {
  if (typeof value === "string" && NAME.test(value)) return value;
  throw invalid(field, "expected 1 to 100 printable characters");
}

export function noteOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && /^[^\p{Cc}\p{Cs}]{0,500}$/u.test(value)) return value;
  throw invalid("note", "expected at most 500 printable characters");
}

function nameOrNull(field: string, value: unknown): string | null {
  return value === null ? null : nameOf(field, value);
}

function modelsOf(value: unknown): readonly string[] | null {
  if (value === null) return null;
  const fine = Array.isArray(value) && value.length <= 1000 &&
    value.every((v) => typeof v === "string" && /^[!-~]{1,200}$/.test(v));
  if (!fine) throw invalid("models", "expected null or a list of at most 1000 catalog patterns");
  return value;
}

function spendLimitOf(value: unknown): Changeable["spendLimit"] {
  if (value === null) return null;
  const { amount, period } = (typeof value === "object" ? value : {}) as {
    amount?: unknown;
    period?: unknown;
  };
  const parsed = typeof amount === "string" ? parseAmount(amount) : null;
  if (parsed === null || parsed < 0n) {
    throw invalid("spend_limit.amount", "expected a decimal string of at most 12 places, from 0 to 9000000");
  }
  if (typeof period !== "string" || !PERIODS.includes(period)) {
    throw invalid("spend_limit.period", `expected one of ${PERIODS.join(", ")}`);
  }
  return { amount: parsed, period: period as Period };
}

function rateOf(field: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1e12) return value;
  throw invalid(field, "expected null or a whole number from 0 to 1000000000000");
}

export function timeOf(field: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const time = typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) throw invalid(field, "expected a date or time as in ISO 8601");
  return time;
}

export function encodeCursor({ created, id }: Position): string {
  return btoa(`${created} ${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function decodeCursor(cursor: string): Position {
  let text = "";
  try {
    text = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    // Said below.
  }
  const match = /^(\d{1,15}) ([!-~]{1,200})$/.exec(text);
  if (match === null) throw invalid("cursor", "expected the next_cursor of an earlier answer");
  return { created: Number(match[1]), id: match[2] };
}
