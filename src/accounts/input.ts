/**
 * What an operator writes into the administration API, read by the schemas of config.ts: a mistake becomes a
 * `validation_error` that names the field, the value found and what is allowed.
 */
import type { z } from "zod";
import { Failure, type Mistake } from "../exchange/failure.ts";
import { MOMENT_WORDS, readMoment } from "../schema/fields.ts";
import { openReport, read, shownInput } from "../schema/mistakes.ts";
import type { Position } from "../store/mod.ts";
import { ACCOUNT_NAME, CREATED_KEY, CREDIT_ADDITION, KEY_CHANGE } from "./config.ts";

/** A key to be made, with the names and values of the configuration file. */
export type KeyInput = z.input<typeof CREATED_KEY>;

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

export function invalid(field: string, message: string): Failure {
  return refusal([{ type: "value_error", loc: [field], msg: message }], field);
}

function refusal(mistakes: readonly Mistake[], field: string): Failure {
  return new Failure("validation_error", `Cannot read ${field}: ${mistakes[0].msg}`, {
    param: field,
    errors: mistakes,
  });
}

/** A value as its schema gives it. Throws a `validation_error` with every mistake. */
function checked<T extends z.ZodType>(schema: T, value: unknown, field = ""): z.output<T> {
  const found = openReport(new Map());
  const result = read(schema, value, found);
  if (found.mistakes.length === 0 && result !== undefined) return result;
  const mistakes = found.mistakes.map(({ steps, message }): Mistake => ({
    type: "value_error",
    loc: steps.length > 0 ? [...steps] : [field],
    msg: message,
  }));
  throw refusal(mistakes, found.mistakes[0].path || field);
}

export const readNewKey = (input: unknown) => checked(CREATED_KEY, input, "the key");
/** The fields that are named. */
export const readKeyChange = (input: unknown) => checked(KEY_CHANGE, input, "the key");
export const readCreditAddition = (input: unknown) => checked(CREDIT_ADDITION, input, "the credits");
export const readAccountName = (name: unknown) => checked(ACCOUNT_NAME, name, "name");

/** A moment of a query; null: none is given. One without a zone is taken as UTC. */
export function timeOf(field: string, value: string | null | undefined): number | null {
  if (value === undefined || value === null) return null;
  const time = readMoment(value) ?? readMoment(`${value}Z`);
  if (time === null) throw invalid(field, `expected ${MOMENT_WORDS}, got ${shownInput(value, [field])}`);
  return time;
}

export function encodeCursor({ created, id }: Position): string {
  return btoa(`${created} ${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function decodeCursor(cursor: string): Position {
  const match = /^(\d{1,15}) ([!-~]{1,200})$/.exec(fromBase64(cursor) ?? "");
  if (match === null) throw invalid("cursor", "expected the next_cursor of an earlier answer");
  return { created: Number(match[1]), id: match[2] };
}

function fromBase64(text: string): string | null {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
