/**
 * Messages about mistakes in input of an operator: the path, the allowed values, the actual value, and a
 * suggestion.
 *
 * A message is printed on terminals and in logs, so it must not contain a secret: values of credential fields
 * are never shown, and neither are values from the environment.
 */
import { levenshteinDistance } from "@std/text/levenshtein_distance.js";
import type { z } from "zod/mini";
import type { Field } from "./field.ts";

export type InputPath = readonly (string | number)[];

export interface InputMistake {
  /** `models[0].routes[1].provider`; empty for the file as a whole; `line:column` for syntax. */
  path: string;
  message: string;
}

const PLAIN_NAME = /^[A-Za-z_$][\w-]{0,79}$/;
/** The most characters of a name or a value that a message shows. */
const MOST_SHOWN = 80;
/**
 * Characters that JSON does not escape and that a terminal interprets: control characters, line breaks,
 * direction marks.
 */
const ACTED_UPON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A foreign text as a printable JSON string, truncated if it is long. */
function quoted(text: string): string {
  const cut = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return JSON.stringify(cut).replace(
    ACTED_UPON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The name of a field in the input: unchanged if it is a plain name, else as a JSON string. */
export function shownName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoted(name);
}

/** A path as people write it: `providers.openai.keys[0]`. */
export function pathText(path: InputPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (PLAIN_NAME.test(step)) text += text ? `.${step}` : step;
    else text += `[${quoted(step)}]`;
  }
  return text;
}

/** A path for programs, with long names truncated. */
export function pathSteps(path: InputPath): (string | number)[] {
  return path.map((step) => typeof step === "number" ? step : step.slice(0, MOST_SHOWN).toWellFormed());
}

const CREDENTIALS = new Set([
  "admin_key",
  "api_key",
  "client_secret",
  "password",
  "pepper",
  "secret",
  "secret_access_key",
  "session_token",
  // The URL of an incoming webhook of Slack is a secret: it authorizes posting.
  "slack",
]);

const NOT_SHOWN = "another value (not shown)";

/** Whether the value at this path must never be shown. */
export function isSecret(path: InputPath): boolean {
  return CREDENTIALS.has(String(path.at(-1))) || path.includes("headers") ||
    path[0] === "payloads" && path[1] === "key";
}

/** Whether the value at this path is the URL of a webhook, whose path often authorizes posting to it. */
export function isReceiver(path: InputPath): boolean {
  const name = path.at(-1);
  return (path[0] === "webhooks" && name === "url") || (path[0] === "alerts" && name === "webhook");
}

/** Scheme and host of a URL, which need not be valid, or the name of a variable; null: it has no scheme and host. */
function originOf(address: string): string | null {
  if (/^\$\{\w+\}$/.test(address)) return address;
  const [, origin, rest] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]+)(.*)$/is.exec(address) ?? [];
  return origin === undefined ? null : rest.length > 1 ? `${origin}/…` : `${origin}${rest}`;
}

/** Prefixes of secrets of vendors and of this gateway: such a secret may be in the wrong field. */
const SECRET_LIKE =
  /^(?:Bearer\s+)?(?:sk|rk|pk|xai|gsk|hf|gh[a-z]|github_pat|glpat|nvapi|pplx|AIza|AKIA|ASIA|eyJ|xox[a-z])[\w.-]{12,}$/;

/** A text in place of a whole section may be a secret: `"openai": "KEY"`. */
function mayBeSecret(value: unknown): value is string {
  return typeof value === "string" && /^\S{16,}$/.test(value);
}

/** A value as a message shows it. Of objects and lists only the type is shown, since they may contain anything. */
export function shownInput(value: unknown, path: InputPath): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (isSecret(path)) return NOT_SHOWN;
  if (typeof value !== "string") return String(value);
  if (SECRET_LIKE.test(value)) return "a text like a secret (not shown)";
  const address = withoutPassword(value);
  if (!isReceiver(path) || value === "") return quoted(address);
  const origin = originOf(address);
  return origin === null ? NOT_SHOWN : quoted(origin);
}

/**
 * Removes everything from a URL that may be secret: the text before an `@`, the text after a colon unless it
 * is a port, and the query, in which drivers accept passwords. It also works for invalid URLs, so it does not
 * depend on slashes.
 */
export function withoutPassword(address: string): string {
  const [, scheme, rest] = /^([a-z][a-z\d+.-]*:(?=.*@|\/\/)(?:\/\/)?)?(.*)$/is.exec(address)!;
  if (scheme === undefined && !rest.includes("@")) return rest;
  const behind = rest.replace(/^.*@/s, "…@").replace(/\?.*/s, "?…");
  return (scheme ?? "") + behind.replace(/^([^/:@[]*):(?!\d{0,5}(?:[/?,]|$))[^/]*/s, "…");
}

/**
 * The known name that was probably meant: first one with one edit, then one that extends or abbreviates the
 * name, then one with a few edits.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, 256);
  const ranked = known.map((candidate) => ({
    candidate,
    slips: levenshteinDistance(wanted, candidate.toLowerCase()) as number,
    holds: Math.min(wanted.length, candidate.length) > 2 &&
      (candidate.toLowerCase().includes(wanted) || wanted.includes(candidate.toLowerCase())),
  })).sort((a, b) => a.slips - b.slips);
  // At most two edits in a short name, or a third of a long one: other suggestions would be random.
  const near = ranked.find(({ slips }) => slips <= Math.max(2, wanted.length / 3));
  if (near && near.slips < 2) return near.candidate;
  return (ranked.find(({ holds }) => holds) ?? (wanted.length > 1 ? near : undefined))?.candidate;
}

/** `one of a, b`, truncated for long lists, and the most similar name. */
export function oneOf(known: readonly string[], what = ""): string {
  const listed = known.slice(0, 12).join(", ");
  const more = known.length > 12 ? ` and ${known.length - 12} more` : "";
  return `one of ${what}${known.length ? listed : "(there are none)"}${more}`;
}

/** The message for an unknown `field`, or an unknown `parameter` of a query. */
export function unknownName(
  kind: "field" | "parameter",
  name: string,
  known: readonly string[],
): string {
  if (known.length === 0) return `unknown ${kind}; there are none`;
  const hint = nearest(name, known);
  return `unknown ${kind}${hint ? `; nearest is ${hint}` : ""}; known are ${known.join(", ")}`;
}

/** Collects the mistakes in one input. */
export interface Report {
  mistakes: (InputMistake & { steps: InputPath })[];
  warnings: string[];
  /** `expected ALLOWED, got VALUE`, with the most similar of the known names, if any. */
  expect(allowed: string, value: unknown, path: InputPath, known?: readonly string[]): void;
  /** An unknown field of an object. Its value is not shown: it may be a secret under a misspelt name. */
  unknown(field: string, path: InputPath, known: readonly string[]): void;
  /** Like `expect`, but as a warning: the gateway runs anyway. */
  doubt(allowed: string, value: unknown, path: InputPath, known?: readonly string[]): void;
}

/** Comparisons with known names for all mistakes of an input; further mistakes suggest none. */
const MOST_COMPARISONS = 100_000;

/**
 * @param written strings with variables of the environment, by path, as written; messages show them in place
 * of the values
 */
export function openReport(written: ReadonlyMap<string, string>): Report {
  let comparisons = MOST_COMPARISONS;
  /** There may be thousands of mistakes, and thousands of known names. */
  function similar(name: string, known: readonly string[]): string | undefined {
    comparisons -= known.length;
    return comparisons < 0 ? undefined : nearest(name, known);
  }
  function sentence(allowed: string, value: unknown, path: InputPath, known: readonly string[] = []): string {
    const text = written.get(pathText(path));
    if (text === undefined && /^an? (?:object|list)\b/.test(allowed) && mayBeSecret(value)) {
      return `expected ${allowed}, got a text of ${value.length} characters (not shown)`;
    }
    if (text !== undefined) return `expected ${allowed}, got ${shownInput(text, path)}`;
    const hint = typeof value === "string" && !isSecret(path) ? similar(value, known) : undefined;
    return `expected ${allowed}, got ${shownInput(value, path)}${hint ? `; nearest is ${hint}` : ""}`;
  }
  const mistakes: Report["mistakes"] = [];
  const warnings: string[] = [];
  return {
    mistakes,
    warnings,
    expect: (allowed, value, path, known) =>
      mistakes.push({ path: pathText(path), steps: path, message: sentence(allowed, value, path, known) }),
    unknown(field, path, known) {
      const steps = [...path, field];
      mistakes.push({ path: pathText(steps), steps, message: unknownName("field", field, known) });
    },
    doubt: (allowed, value, path, known) =>
      warnings.push(`${pathText(path)}: ${sentence(allowed, value, path, known)}`),
  };
}

/** Validates a value against its field. Mistakes are added to the report; undefined: there were some. */
export function read<S extends z.ZodMiniType>(
  field: Field<S>,
  value: unknown,
  found: Report,
): z.output<S> | undefined {
  const result = field.reader.safeParse(value, { reportInput: true });
  for (const issue of result.error?.issues ?? []) addIssue(issue, found);
  return result.data;
}

function addIssue(issue: z.core.$ZodIssue, found: Report): void {
  const path = issue.path as InputPath;
  if (issue.code === "invalid_union") {
    // If the value matches one of the alternatives except for nested mistakes, report those mistakes.
    const inside = issue.errors.find((issues) => issues.every((one) => one.path.length > 0));
    for (const one of inside ?? []) addIssue({ ...one, path: [...issue.path, ...one.path] }, found);
    if (inside !== undefined) return;
  }
  // Report only the first mistake of each value.
  if (issue.code !== "unrecognized_keys" && found.mistakes.at(-1)?.path === pathText(path)) return;
  if (issue.code === "unrecognized_keys") {
    // The message of this issue contains the names of the known fields.
    for (const key of issue.keys) found.unknown(key, path, issue.message.split(" "));
  } else if (issue.code === "invalid_key") {
    found.expect(issue.issues[0].message, path.at(-1), path);
  } else {
    const known = issue.code === "invalid_value" ? issue.values.map(String) : [];
    found.expect(issue.message, issue.input, path, known);
  }
}
