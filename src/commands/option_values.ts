/** The options of the command line and their allowed values. */
import { KEY_PREFIX } from "../exchange/key_prefix.ts";
import { MOMENT_WORDS, readMoment } from "../schema/fields.ts";
import { nearest, oneOf } from "../schema/mistakes.ts";

/** The command line is invalid. The message is shown to the user. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The error for a word that is not allowed; it names the most similar allowed one. */
export function wrong(
  what: string,
  allowed: readonly string[],
  got: string | undefined,
  hint = "",
): UsageError {
  const similar = got === undefined ? undefined : nearest(got, allowed);
  const found = got === undefined ? "nothing" : JSON.stringify(got);
  const more = similar === undefined ? hint : `; nearest is ${similar}`;
  return new UsageError(`Cannot read ${what}: expected ${oneOf(allowed)}, got ${found}${more}`);
}

/** Every option, with the type of its value for `parseArgs`. */
export const OPTIONS = {
  config: { type: "string" },
  port: { type: "string" },
  hostname: { type: "string" },
  workers: { type: "string" },
  json: { type: "boolean" },
  by: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  key: { type: "string" },
  session: { type: "string" },
  limit: { type: "string" },
  account: { type: "string" },
  team: { type: "string" },
  "access-policy": { type: "string" },
  "dlp-policy": { type: "string" },
  expires: { type: "string" },
  overlap: { type: "string" },
  policy: { type: "string" },
  sarif: { type: "boolean" },
  name: { type: "string" },
  force: { type: "boolean" },
  month: { type: "string" },
  csv: { type: "boolean" },
  demo: { type: "boolean" },
  diff: { type: "boolean" },
  write: { type: "boolean" },
  providers: { type: "string" },
  store: { type: "string" },
  url: { type: "string" },
  model: { type: "string" },
  models: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
} as const;

/** The name of an option, without its dashes. */
export type Option = keyof typeof OPTIONS;
/** The options of a command line, with their values as written. */
export type Values = { [O in Option]?: typeof OPTIONS[O]["type"] extends "boolean" ? boolean : string };

/** A whole number from `least` to `most`; undefined: the option is absent. Throws `UsageError` for other values. */
export function whole(
  option: Option,
  text: string | undefined,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `Cannot read --${option}: expected a whole number from ${least} to ${most}, got ${JSON.stringify(text)}`,
  );
}

/** The base URL of a gateway, without version, user, query or fragment. Throws `UsageError`. */
export function address(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (
    url !== null && /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ""
  ) {
    // Clients are often configured with the version, which is added here.
    return text.replace(/\/+$/, "").replace(/\/v1$/, "");
  }
  const allowed = "an http:// or https:// address without user, query and fragment";
  throw new UsageError(`Cannot read --url: expected ${allowed}, got ${JSON.stringify(text)}`);
}

/** An API key of the gateway. Errors do not show the value, since it may be another secret. */
export function apiKey(text: string | undefined): string | undefined {
  if (text === undefined || text.startsWith(KEY_PREFIX)) return text;
  const allowed = `an API key of Sluice, which begins with ${KEY_PREFIX}`;
  throw new UsageError(`Cannot read --key: expected ${allowed}, got another text (not shown)`);
}

/**
 * `--from`, inclusive, and `--to`, exclusive, as they were written. Throws `UsageError` if they are not in
 * this order.
 */
export function span({ from, to }: Values): { from: string | undefined; to: string | undefined } {
  const [starts, ends] = [time("from", from), time("to", to)];
  if (starts !== undefined && ends !== undefined && readMoment(starts)! >= readMoment(ends)!) {
    const allowed = `a time later than --from (${starts})`;
    throw new UsageError(`Cannot read --to: expected ${allowed}, got ${JSON.stringify(ends)}`);
  }
  return { from: starts, to: ends };
}

/** A day or a time in ISO 8601, as it was written. Throws `UsageError`. */
export function time(option: Option, text: string | undefined): string | undefined {
  if (text === undefined || readMoment(text) !== null) return text;
  throw new UsageError(`Cannot read --${option}: expected ${MOMENT_WORDS}, got ${JSON.stringify(text)}`);
}
