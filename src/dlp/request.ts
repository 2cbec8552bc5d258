/**
 * Parses `plugins.dlp` of a request, or throws a `validation_error` that lists all errors. Unknown fields are
 * errors: a misspelt field would silently disable a check.
 */
import { z } from "zod/mini";
import { Failure, type Mistake } from "../exchange/failure.ts";
import { ALL_ENTITY_NAMES, DEFAULT_TYPES, resolveEntityTypes } from "./entities.ts";
import type { RequestOptions } from "./policy.ts";
import type { StopWord } from "./stop_word.ts";

/** Maximum number of rules per request, to bound the cost. */
const MOST_WORDS = 1000;
const MOST_PATTERNS = 50;
/** Maximum length of values and patterns, in characters. */
const LONGEST_VALUE = 256;
const LONGEST_PATTERN = 512;
const MOST_NAMES = 1000;

const says = (allowed: string) => ({ error: allowed });

function text(most: number, what: string) {
  const allowed = says(`${what} of 1 to ${most} characters`);
  return z.string(allowed).check(z.maxLength(most, allowed), z.regex(/\S/, allowed));
}

function choice<const T extends readonly [string, ...string[]]>(...values: T) {
  return z.enum(values, says(`one of ${values.join(", ")}`));
}

function listOf<T extends z.ZodMiniType>(item: T, most: number, what: string) {
  const allowed = says(`a list of at most ${most} ${what}`);
  return z.array(item, allowed).check(z.maxLength(most, allowed));
}

function fields<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys" ? `only ${Object.keys(shape).join(", ")}` : "an object",
  });
}

const value = () => text(LONGEST_VALUE, "a string");
/** Optional fields may also be null, as elsewhere in a request: many clients send all fields of a model. */
export const PLUGIN = fields({
  mode: z.nullish(choice("alert", "mask", "block")),
  answers: z.nullish(choice("off", "alert", "mask", "block")),
  entity_types: z.nullish(listOf(text(100, "the name of an entity type"), MOST_NAMES, "entity types")),
  report_scope: z.nullish(choice("all", "last_message", "latest_user_message")),
  stop_words: z.nullish(listOf(
    fields({ value: value(), match: z.nullish(choice("exact", "fuzzy")) }),
    MOST_WORDS,
    "stop words",
  )),
  allowlist: z.nullish(listOf(
    fields({ value: value(), match: z.nullish(choice("exact")) }),
    MOST_WORDS,
    "allowed values",
  )),
  regexes: z.nullish(listOf(
    fields({ name: text(100, "a name"), pattern: text(LONGEST_PATTERN, "an RE2 pattern") }),
    MOST_PATTERNS,
    "patterns",
  )),
  injected_context_names: z.nullish(listOf(text(256, "a name"), MOST_NAMES, "names")),
  acknowledged: z.nullish(z.boolean(says("true or false"))),
  on_unscannable: z.nullish(choice("pass", "block")),
  restore: z.nullish(z.boolean(says("true or false"))),
});

const HOME = ["plugins", "dlp"];

/** @param given `plugins.dlp` as sent by the caller */
export function readRequestOptions(given: unknown): RequestOptions {
  const read = PLUGIN.safeParse(given);
  if (!read.success) {
    const mistakes = read.error.issues.map((issue) => {
      const path = [...HOME, ...issue.path.map((step) => typeof step === "number" ? step : String(step))];
      return mistake(path, issue.message, at(given, issue.path));
    });
    throw refusal(mistakes);
  }
  const dlp = read.data;
  const { types, unknown } = typesOf(dlp.entity_types);
  if (unknown.length > 0) {
    throw refusal(
      unknown.slice(0, 20).map((name) =>
        mistake(
          [...HOME, "entity_types", dlp.entity_types!.indexOf(name)],
          `one of ${ALL_ENTITY_NAMES.join(", ")}`,
          name,
        )
      ),
    );
  }
  return {
    rules: {
      ...(dlp.mode && { mode: dlp.mode }),
      ...(dlp.answers && { answers: dlp.answers }),
      types,
      stopWords: (dlp.stop_words ?? []).map(word),
      patterns: dlp.regexes ?? [],
      allowed: (dlp.allowlist ?? []).map((entry) => entry.value),
    },
    scope: dlp.report_scope ?? "all",
    injected: new Set(dlp.injected_context_names),
    unscannable: dlp.on_unscannable ?? "pass",
    restore: dlp.restore ?? false,
  };
}

/** The error for a pattern that RE2 rejects. */
export function refusePattern(index: number, name: string, why: string): Failure {
  const path = [...HOME, "regexes", index, "pattern"];
  return refusal([{
    type: "value_error",
    loc: path,
    msg: `Cannot read ${dotted(path)}: expected an RE2 pattern for ${shown(name)}, ${why}`,
  }]);
}

/** The default set is always the same object, so that sets can be compared by reference. */
function typesOf(names?: readonly string[] | null): { types: ReadonlySet<string>; unknown: string[] } {
  return !names ? { types: DEFAULT_TYPES, unknown: [] } : resolveEntityTypes(names);
}

function word({ value, match }: { value: string; match?: "exact" | "fuzzy" | null }): StopWord {
  return { value, match: match ?? "exact" };
}

function refusal(mistakes: readonly Mistake[]): Failure {
  return new Failure("validation_error", mistakes[0].msg, {
    param: dotted(mistakes[0].loc),
    errors: mistakes,
  });
}

function mistake(path: (string | number)[], allowed: string, found: unknown): Mistake {
  return {
    type: "value_error",
    loc: path,
    msg: `Cannot read ${dotted(path)}: expected ${allowed}, got ${seen(path, found)}`,
  };
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const step of path) found = (found as Record<PropertyKey, unknown> | undefined)?.[step];
  return found;
}

/** Values to search for are sensitive, so only other values are quoted. */
function seen(path: readonly (string | number)[], found: unknown): string {
  if (found === undefined) return "nothing";
  if (Array.isArray(found)) return `a list of ${found.length}`;
  if (typeof found === "object" && found !== null) {
    return path.length === HOME.length || typeof path.at(-1) === "number"
      ? `an object with ${Object.keys(found).map(shown).slice(0, 12).join(", ") || "nothing in it"}`
      : "an object";
  }
  const last = path.at(-1);
  if (typeof found !== "string") return String(found);
  return last === "value" || last === "pattern" ? `a string of ${found.length} characters` : shown(found);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function dotted(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) => typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}
