/**
 * Mistakes of a request, named by field, value found and what is allowed. Types of mistakes are pydantic's words, which
 * clients of this API already know.
 */
import { z } from "zod/mini";
import { Failure, type Mistake } from "../exchange/failure.ts";
import { isNumber, type Loose } from "../exchange/json.ts";
import type { Prompt } from "../exchange/prompt.ts";

export type Path = readonly (string | number)[];

/** Most tool definitions that a request of chat-completions or responses may have. Messages has no bound of its own. */
const MOST_TOOLS = 256;

/** More than these are not worth reading, and a hostile body must not make a large answer. */
const MOST_MISTAKES = 50;

/** Notes one mistake. */
export function mistake(mistakes: Mistake[], type: string, loc: Path, msg: string): void {
  if (mistakes.length < MOST_MISTAKES) mistakes.push({ type, loc: [...loc], msg });
}

/** Mistakes of fields that want a number: one that does not fit is shown. */
const NUMBERS: ReadonlySet<string> = new Set(["int_type", "float_type"]);

/** Notes that a value is not of the kind that its field wants. */
export function wrongKind(
  mistakes: Mistake[],
  loc: Path,
  wanted: string,
  type: string,
  value: unknown,
): void {
  if (value === undefined) mistake(mistakes, "missing", loc, `expected ${wanted}, got nothing`);
  else {mistake(
      mistakes,
      type,
      loc,
      `expected ${wanted}, got ${NUMBERS.has(type) && isNumber(value) ? shown(value) : kindOf(value)}`,
    );}
}

const OPTIONAL = { name: "string", description: "string", strict: "boolean" } as const;

/** Optional fields of a tool's definition, and of the schema of an answer. */
export const TOOL_WORDS = ["description", "strict"] as const;
export const SCHEMA_WORDS = ["name", "description", "strict"] as const;

/** Notes which of the optional fields, where they are not null, are of another kind than they have to be. */
export function checkOptional(
  value: Loose,
  fields: readonly (keyof typeof OPTIONAL)[],
  mistakes: Mistake[],
  loc: Path,
): void {
  for (const field of fields) {
    const kind = OPTIONAL[field];
    const given = value[field] ?? undefined;
    if (given === undefined || typeof given === kind) continue;
    const [wanted, type] = kind === "string" ? ["a string", "string_type"] : ["true or false", "bool_type"];
    wrongKind(mistakes, [...loc, field], wanted, type, given);
  }
}

/**
 * Notes a list with more tools than a request may define. False: it has, and need not be read.
 * @param isBuiltIn whether an entry is the built-in search, which defines no tool
 */
export function checkToolCount(
  list: readonly unknown[],
  isBuiltIn: (entry: unknown) => boolean,
  mistakes: Mistake[],
  loc: Path,
): boolean {
  if (list.length <= MOST_TOOLS) return true;
  const count = list.filter((entry) => !isBuiltIn(entry)).length;
  if (count <= MOST_TOOLS) return true;
  mistake(mistakes, "too_long", loc, `expected at most ${MOST_TOOLS}, got ${count}`);
  return false;
}

/** Throws when there are mistakes. */
export function refuse(mistakes: readonly Mistake[]): void {
  const first = mistakes[0];
  if (!first) return;
  const where = pathText(first.loc);
  const more = mistakes.length > 1 ? ` (and ${mistakes.length - 1} more)` : "";
  throw new Failure("validation_error", `Cannot read ${where}: ${first.msg}${more}`, {
    errors: mistakes,
    ...(first.loc.length > 0 && { param: where }),
  });
}

/** Throws when the turns of a request left nothing to send: all is empty, or nothing that this API could be told. */
export function mustSay(sent: readonly unknown[], prompt: Prompt): void {
  if (sent.length === 0 && prompt.turns.length > 0) throw nothingToSend(prompt);
}

export function nothingToSend(prompt: Pick<Prompt, "format" | "passedOver">): Failure {
  const param = prompt.format === "responses" ? "input" : "messages";
  const stored = prompt.passedOver?.includes("item_reference")
    ? ": references to stored items mean nothing here, where nothing is stored"
    : "";
  const message = `Cannot send ${param}: expected some text, attachment or tool call for the model${stored}.`;
  return new Failure("validation_error", message, {
    param,
    errors: [{ type: "value_error", loc: [param], msg: message }],
  });
}

export function unsupported(message: string, param: string): Failure {
  return new Failure("feature_not_supported", message, { param });
}

/** `messages[2].content`, the whole body being `the request`. */
export function pathText(loc: Path): string {
  let text = "";
  for (const step of loc) text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`;
  return text === "" ? "the request" : text;
}

/** The kind of a value in JSON's words. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (isNumber(value)) return "a number";
  switch (typeof value) {
    case "object":
      return "an object";
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    default:
      return "nothing";
  }
}

const KINDS: Readonly<Record<string, readonly [wanted: string, type: string]>> = {
  string: ["a string", "string_type"],
  number: ["a number", "float_type"],
  int: ["a whole number", "int_type"],
  boolean: ["true or false", "bool_type"],
  array: ["an array", "list_type"],
  object: ["an object", "dict_type"],
  record: ["an object", "dict_type"],
};

/** How the schemas of a body's fields are made. */
export type BodyFields = Readonly<Record<string, () => z.ZodMiniType>>;

/** The schema of a whole body. */
export function bodyOf<F extends BodyFields>(fields: F) {
  const shape = Object.entries(fields).map(([name, make]) => [name, make()]);
  return z.looseObject(Object.fromEntries(shape) as { -readonly [K in keyof F]: ReturnType<F[K]> });
}

/**
 * What notes the mistakes in the fields of a body. A request has some five of the thirty fields that its schema knows, and
 * a schema runs for each of those that are not there, too; so it is asked as a whole only where one does not fit. For the same reason a
 * field's schema is made when a request first has it.
 *
 * @param required fields without which no request fits
 */
export function checkerOf(
  fields: BodyFields,
  required: readonly string[],
): (body: Loose, mistakes: Mistake[]) => void {
  const makers = new Map(Object.entries(fields));
  const made = new Map<string, z.ZodMiniType>();
  let whole: z.ZodMiniObject | undefined;
  const fits = (name: string, value: unknown): boolean => {
    let field = made.get(name);
    if (field === undefined) {
      const make = makers.get(name);
      if (make === undefined) return true;
      made.set(name, field = make());
    }
    return field.safeParse(value).success;
  };
  return (body, mistakes) => {
    if (
      required.every((name) => body[name] !== undefined) &&
      Object.keys(body).every((name) => fits(name, body[name]))
    ) return;
    whole ??= bodyOf(fields);
    const checked = whole.safeParse(body);
    if (!checked.success) fromZod(mistakes, checked.error, body);
  };
}

/** What zod found, as mistakes. */
function fromZod(mistakes: Mistake[], error: z.core.$ZodError, body: unknown): void {
  for (const issue of error.issues) {
    const loc = issue.path.filter((step) => typeof step !== "symbol");
    const value = valueAt(body, loc);
    if (issue.code === "invalid_type") {
      const [wanted, type] = KINDS[issue.expected] ?? [issue.expected, `${issue.expected}_type`];
      wrongKind(mistakes, loc, wanted, type, value);
    } else if (issue.code === "invalid_value") {
      const allowed = issue.values.map((v) => JSON.stringify(v)).join(", ");
      mistake(mistakes, "literal_error", loc, `expected one of ${allowed}, got ${shown(value)}`);
    } else if (issue.code === "too_big") {
      const list = issue.origin === "array" || issue.origin === "string";
      mistake(
        mistakes,
        list ? "too_long" : "less_than_equal",
        loc,
        `expected at most ${issue.maximum}, got ${sized(value)}`,
      );
    } else if (issue.code === "too_small") {
      const list = issue.origin === "array" || issue.origin === "string";
      mistake(
        mistakes,
        list ? "too_short" : "greater_than_equal",
        loc,
        `expected at least ${issue.minimum}, got ${sized(value)}`,
      );
    } else if (issue.code === "invalid_union") {
      mistake(mistakes, "string_type", loc, `expected a string or an array of strings, got ${kindOf(value)}`);
    } else mistake(mistakes, "value_error", loc, `expected another value, got ${kindOf(value)}`);
  }
}

function valueAt(body: unknown, loc: Path): unknown {
  let value = body;
  for (const step of loc) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Short strings and numbers as they are; they are option values, not conversation. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(value) : "a long string";
  if (isNumber(value)) {
    return JSON.stringify(value) === "null" ? "a number that is too large" : JSON.stringify(value);
  }
  if (typeof value === "boolean") return String(value);
  return kindOf(value);
}

function sized(value: unknown): string {
  return Array.isArray(value) || (typeof value === "string" && value.length > 40)
    ? String(value.length)
    : shown(value);
}
