/**
 * Parses input of the administration API with the schemas of config.ts. An invalid value becomes a
 * `validation_error` that names the field, the value and what is allowed.
 */
import type { z } from "zod/mini";
import { Failure, type Mistake } from "../../exchange/failure.ts";
import { type Field, MOMENT_WORDS, readMoment, type Written } from "../../schema/fields.ts";
import { oneOf, openReport, pathSteps, read, shownInput } from "../../schema/mistakes.ts";
import {
  type AuditKind,
  isUsageDimension,
  type Position,
  USAGE_DIMENSIONS,
  type UsageDimension,
} from "../../store/mod.ts";
import {
  ACCOUNT_IN_USE,
  ACCOUNT_NAME,
  CREATED_ACCOUNT,
  CREATED_KEY,
  CREATED_TOKEN,
  CREDIT_ADDITION,
  KEY_CHANGE,
  NEW_TEAM,
  TEAM_CHANGE,
} from "../config.ts";
import type { TraitQuery } from "./trait_query.ts";

/** A key to be created, with names and values as in the configuration file. */
export type KeyInput = Written<typeof CREATED_KEY>;

/** A team to be created, and a change of a team, likewise. */
export type TeamInput = Written<typeof NEW_TEAM>;
export type TeamChange = Written<typeof TEAM_CHANGE>;
export type AccountInput = Written<typeof CREATED_ACCOUNT>;

export interface GenerationQuery extends PageQuery, TraitQuery {
  /** Name or id of a key. */
  key?: string;
  model?: string;
  account?: string;
  session?: string;
  /** ISO 8601 or a date. */
  from?: string;
  to?: string;
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
}

export interface KeyQuery extends PageQuery {
  /** Only keys whose name contains this text, ignoring case. */
  search?: string;
  /** Only keys of this team. */
  team?: string;
}

export interface AuditQuery extends PageQuery {
  kind?: string;
  /** Name or id of a key. */
  key?: string;
  /** ISO 8601 or a date. */
  from?: string;
  to?: string;
}

/** Undefined: all kinds. Throws `validation_error` for an unknown kind. */
export function auditKindOf(kind: string | undefined): AuditKind | undefined {
  if (kind === undefined || kind === "dlp" || kind === "admin") return kind;
  throw invalid("kind", `expected dlp or admin, got ${shownInput(kind, ["kind"])}`);
}

export interface UsageQuery extends PageQuery {
  /** One of the dimensions, or two joined by a comma. */
  by: string;
  /** ISO 8601 or a date. */
  from?: string;
  to?: string;
  /** Reads any number of records: nobody waits for the result. */
  whole?: boolean;
  /** Maximum number of rows; absent: a page. For internal use only. */
  most?: number;
}

/** Maximum page size. */
export const LARGEST_PAGE = 1000;

/** The page size of a request. */
export function pageSize(limit: number | undefined, usual: number): number {
  const size = limit ?? usual;
  if (Number.isInteger(size) && size >= 1 && size <= LARGEST_PAGE) return size;
  throw invalid(
    "limit",
    `expected a whole number from 1 to ${LARGEST_PAGE}, got ${shownInput(limit, ["limit"])}`,
  );
}

/** One dimension, or two different ones separated by a comma. Throws `validation_error`. */
export function dimensionsOf(by: string): UsageDimension[] {
  const names = by.split(",").map((name) => name.trim());
  const known = names.filter(isUsageDimension);
  if (known.length === names.length && known.length <= 2 && new Set(known).size === known.length) {
    return known;
  }
  throw invalid(
    "by",
    `expected ${oneOf(USAGE_DIMENSIONS)}, or two of them joined by a comma, got ${shownInput(by, ["by"])}`,
  );
}

/**
 * A failure about one field of a query or body.
 *
 * @param message what was expected and what was found
 */
export function invalid(field: string, message: string): Failure {
  return refusal([{ type: "value_error", loc: [field], msg: message }], field);
}

function refusal(mistakes: readonly Mistake[], field: string): Failure {
  const more = mistakes.length > 1 ? ` (and ${mistakes.length - 1} more)` : "";
  return new Failure("validation_error", `Cannot read ${field}: ${mistakes[0].msg}${more}`, {
    param: field,
    errors: mistakes,
  });
}

/** Parses a value with a schema. Throws a `validation_error` that lists all errors. */
function checked<S extends z.ZodMiniType>(schema: Field<S>, value: unknown, field = ""): z.output<S> {
  const found = openReport(new Map());
  const result = read(schema, value, found);
  if (found.mistakes.length === 0 && result !== undefined) return result;
  const mistakes = found.mistakes.map(({ steps, message }): Mistake => ({
    type: "value_error",
    loc: steps.length > 0 ? pathSteps(steps) : [field],
    msg: message,
  }));
  throw refusal(mistakes, found.mistakes[0].path || field);
}

/** An expiry in the past is allowed, as in the configuration file. */
export const readNewKey = (input: unknown) => checked(CREATED_KEY, input, "the key");
/** Only the named fields. */
export const readKeyChange = (input: unknown) => checked(KEY_CHANGE, input, "the key");
/** @param now the token must expire later than this */
export const readNewToken = (input: unknown, now: number) =>
  endingLater(checked(CREATED_TOKEN, input, "the token"), input, now);
export const readNewTeam = (input: unknown) => checked(NEW_TEAM, input, "the team");
export const readTeamChange = (input: unknown) => checked(TEAM_CHANGE, input, "the team");
export const readNewAccount = (input: unknown) => checked(CREATED_ACCOUNT, input, "the account");
export const readCreditAddition = (input: unknown) => checked(CREDIT_ADDITION, input, "the credits");
/** The name of an account that may exist already. */
export const readAccount = (name: unknown) => checked(ACCOUNT_IN_USE, name, "name");
/** The name of a new account. */
export const readAccountName = (name: unknown) => checked(ACCOUNT_NAME, name, "name");

function endingLater<T extends { expiresAt: number | null }>(made: T, input: unknown, now: number): T {
  if (made.expiresAt === null || made.expiresAt > now) return made;
  const { expires_at } = input as { expires_at: unknown };
  throw invalid(
    "expires_at",
    `expected a time later than now, got ${shownInput(expires_at, ["expires_at"])}, which has passed`,
  );
}

/** A time in a query; null: not given. Without a time zone it is UTC. */
export function timeOf(field: string, value: string | null | undefined): number | null {
  if (value === undefined || value === null) return null;
  const time = readMoment(value) ?? readMoment(`${value}Z`);
  if (time === null) throw invalid(field, `expected ${MOMENT_WORDS}, got ${shownInput(value, [field])}`);
  return time;
}

/** The time range of a query. Throws `validation_error` if it is empty. */
export function spanOf(query: { from?: string; to?: string }): { from: number | null; to: number | null } {
  const [from, to] = [timeOf("from", query.from), timeOf("to", query.to)];
  if (from !== null && to !== null && from >= to) {
    const allowed = `a time later than from (${shownInput(query.from, ["from"])})`;
    throw invalid("to", `expected ${allowed}, got ${shownInput(query.to, ["to"])}`);
  }
  return { from, to };
}

/** The cursor of a list: time and id of the last row, as base64url. */
export function encodeCursor({ created, id }: Position): string {
  return btoa(`${created} ${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The cursor of a list ordered by name. */
export function encodeName(name: string): string {
  return encodeURIComponent(`after ${name}`);
}

/** The name after which the list continues. Throws `validation_error`. */
export function decodeName(cursor: string): string {
  try {
    const match = /^after ([^]+)$/.exec(decodeURIComponent(cursor));
    if (match !== null) return match[1];
  } catch {
    // Not a cursor of this API.
  }
  throw wrongCursor();
}

/** The inverse of {@link encodeCursor}. Throws `validation_error` for an invalid cursor. */
export function decodeCursor(cursor: string): Position {
  const match = /^(\d{1,15}) ([!-~]{1,200})$/.exec(fromBase64(cursor) ?? "");
  if (match === null) throw wrongCursor();
  return { created: Number(match[1]), id: match[2] };
}

const OFFSET = /^at (\d{1,9})$/;

/** The cursor of a list ordered by sums: a row offset. */
export function encodeOffset(offset: number): string {
  return btoa(`at ${offset}`).replaceAll("=", "");
}

/** Whether a cursor is a row offset, as in lists ordered by cost. */
export function isOffset(cursor: string): boolean {
  return OFFSET.test(fromBase64(cursor) ?? "");
}

/** The row offset in a cursor. Throws `validation_error`. */
export function decodeOffset(cursor: string): number {
  const match = OFFSET.exec(fromBase64(cursor) ?? "");
  if (match === null) throw wrongCursor();
  return Number(match[1]);
}

function wrongCursor(): Failure {
  return invalid("cursor", "expected the next_cursor of an earlier answer");
}

function fromBase64(text: string): string | null {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
