/** Parses a request body, within limits that keep parsing and processing fast. */
import { Failure } from "../exchange/failure.ts";
import { parseExact } from "../exchange/json.ts";
import { parseInSlices } from "../exchange/parse_in_slices.ts";
import {
  counted,
  countedInSlices,
  type Excess,
  MOST_ENTRIES,
  overfull,
  REQUEST_BUDGET,
} from "../exchange/json_budget.ts";

/** Longer texts are parsed in slices: many long numbers, deeply nested, take a tenth of a second in one call. */
export const BRIEF = 1 << 17;

/** Arrays with a configured limit (`server.max_messages`), by their names in the formats. */
const BOUNDED_ELSEWHERE: ReadonlySet<string> = new Set(["messages", "input"]);

function refuse(excess: Excess | null): void {
  if (!excess) return;
  const type = excess.what === "levels of nesting" ? "recursion_loop" : "too_long";
  throw invalidBody(type, `expected at most ${excess.limit} ${excess.what}`);
}

/** Throws if the text is not JSON or exceeds the limits. */
export function parseBody(text: string): unknown {
  const count = counted(text, REQUEST_BUDGET);
  if (count !== null) refuse(count.excess);
  let value: unknown;
  try {
    value = parseExact(text, count?.mayRound);
  } catch (error) {
    throw notJson(text, error);
  }
  // An array entry takes at least a character and a comma.
  if (text.length > 2 * MOST_ENTRIES) refuseOverfull(value);
  return value;
}

/** Parses a large text, yielding every few milliseconds. */
export function* parseLargeBody(text: string): Generator<void, unknown> {
  const known = yield* countedInSlices(text, REQUEST_BUDGET);
  refuse(known.excess);
  yield;
  let value: unknown;
  try {
    value = yield* parseInSlices(text, known);
  } catch (error) {
    throw notJson(text, error);
  }
  yield;
  refuseOverfull(value);
  return value;
}

function notJson(text: string, error: unknown): Failure {
  if (text.trim() === "") return invalidBody("json_invalid", "expected JSON, got nothing");
  const at = error instanceof SyntaxError ? position(error.message) : "";
  return invalidBody("json_invalid", `expected JSON${at}`);
}

function refuseOverfull(value: unknown): void {
  const found = overfull(value, BOUNDED_ELSEWHERE);
  if (!found) return;
  const param = dotted(found.path);
  const message = `Cannot read ${
    param || "the request body"
  }: expected at most ${MOST_ENTRIES} entries, got ${found.count}.`;
  throw new Failure("validation_error", message, {
    ...(param !== "" && { param }),
    errors: [{ type: "too_long", loc: ["body", ...found.path], msg: message }],
  });
}

/** Longer names are not repeated in messages. */
const LONGEST_STEP = 40;

function dotted(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else {text += `${text === "" ? "" : "."}${
        step.length > LONGEST_STEP ? `${step.slice(0, LONGEST_STEP)}…` : step
      }`;}
  }
  return text;
}

/**
 * A `validation_error` about the whole body.
 *
 * @param what the problem, as the end of a sentence
 */
export function invalidBody(type: string, what: string, cause?: unknown): Failure {
  const message = `Cannot read the request body: ${what}.`;
  return new Failure("validation_error", message, { errors: [{ type, loc: ["body"], msg: message }], cause });
}

/** The position at which the parser failed. Its own message quotes the body, which may contain sensitive text. */
function position(message: string): string {
  const match = /at position (\d+)/.exec(message);
  return match ? ` (it breaks at character ${match[1]})` : "";
}
