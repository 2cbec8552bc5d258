/**
 * Building blocks of the schemas of everything that an operator writes: the configuration, the administration API.
 *
 * A field says in words what it allows, and those words are the mistake that the operator reads. Objects are strict: a field
 * that is not declared is a mistake. Names come in as they are written, in snake case with seconds, and go out as the code has
 * them, in camel case with milliseconds, so that a field stands in one place only. A default is given with `prefault`: it goes
 * through the same conversion as a written value, and shows in the JSON Schema. What most configurations leave out stands in
 * `z.lazy`: a schema costs more to make than to ask, and that one is made with the first value for it.
 */
import { z } from "zod";

/** The message of a schema: what a value must look like, in words. */
export const says = (allowed: string) => ({ error: allowed });

/**
 * What a schema is made with, its checks included: each that is added to it afterwards makes a schema anew, and a start makes hundreds.
 */
export function checked<T>(allowed: string, ...checks: z.core.$ZodCheck<T>[]) {
  return { ...says(allowed), checks };
}

/** `first_byte_seconds` is `firstByteMs` in the code. */
export type CodeName<S extends string> = S extends `${infer Head}_seconds` ? `${CodeName<Head>}Ms`
  : S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CodeName<Tail>>}`
  : S;

export type CodeNames<T> = { [K in keyof T as K extends string ? CodeName<K> : K]: T[K] };

export function codeName(name: string): string {
  return name.replace(/_seconds$/, "_ms").replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

/** An object with these fields and no others, under their written names. */
export function exactly<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: (issue) => issue.code === "invalid_type" ? "an object" : undefined });
}

/** Likewise, with the names of the code in what comes out. */
export function fields<T extends z.ZodRawShape>(shape: T) {
  const names = Object.keys(shape).map((name) => [name, codeName(name)] as const);
  return exactly(shape).transform((value) => {
    const written = value as Record<string, unknown>;
    const converted: Record<string, unknown> = {};
    for (const [name, inCode] of names) if (written[name] !== undefined) converted[inCode] = written[name];
    return converted as CodeNames<typeof value>;
  });
}

/** Any number of entries under names of the operator's choice. */
export function named<T extends z.ZodType>(name: z.ZodString, value: T) {
  return z.record(name, value, {
    error: (issue) => issue.code === "invalid_type" ? "an object of named entries" : undefined,
  });
}

export function whole(least: number, most: number) {
  const allowed = `a whole number from ${least} to ${most}`;
  return z.int(checked(allowed, z.gte(least, says(allowed)), z.lte(most, says(allowed))));
}

export function between(least: number, most: number, unit = "") {
  const allowed = `a number${unit} from ${least} to ${most}`;
  return z.number(checked(allowed, z.gte(least, says(allowed)), z.lte(most, says(allowed))));
}

const DAY = 86_400;

/** Seconds up to a day, in the code milliseconds. The field's name ends in `_seconds`. */
export function seconds(least: number) {
  return between(least, DAY, " of seconds").transform((value) => Math.round(value * 1000));
}

export function flag() {
  return z.boolean(says("true or false"));
}

export function choice<const T extends readonly [string, ...string[]]>(...values: T) {
  return z.enum(values, says(`one of ${values.join(", ")}`));
}

export function listOf<T extends z.ZodType>(item: T, what: string) {
  const allowed = `a list of ${what}`;
  return titled(z.array(item, says(allowed)), allowed);
}

/** The words become the title in the JSON Schema, where editors and the manual show what a pattern cannot tell. */
function titled<T extends z.ZodType>(made: T, allowed: string): T {
  z.globalRegistry.add(made, { title: allowed });
  return made;
}

export function stringField(allowed: string, ...checks: z.core.$ZodCheck<string>[]) {
  return titled(z.string(checked(allowed, ...checks)), allowed);
}

export function matching(pattern: RegExp, allowed: string, ...more: z.core.$ZodCheck<string>[]) {
  return stringField(allowed, z.regex(pattern, says(allowed)), ...more);
}

/** Some text that is more than white space. */
export function nonBlank(most: number, what: string) {
  const allowed = `${what} of 1 to ${most} characters`;
  return matching(/\S/, allowed, z.maxLength(most, says(allowed)));
}

/** A name that also goes into response headers and metric labels, hence ASCII. */
export function label() {
  return matching(
    /^[!-~](?:[ -~]{0,62}[!-~])?$/,
    "a name of 1 to 64 printable ASCII characters without spaces at its ends",
  );
}

/** A name of a key, an account or a policy, for people. */
export function title() {
  return matching(/^[^\p{Cc}\p{Cs}]{1,128}$/u, "a name of 1 to 128 printable characters");
}

/** A value that goes into a request header. A line break at the end of a secret file is the usual mistake. */
export function headerValue() {
  return matching(/^[!-~]*$/, "printable ASCII without spaces or line breaks");
}

const PRICE = 'a decimal string like "0.0000025", at most 1000, with at most 18 digits after the point';

/** A price of one token or one search. Never a JSON number: those are binary fractions. */
export function price() {
  return matching(/^(?:\d{1,3}(?:\.\d{1,18})?|1000(?:\.0{1,18})?)$/, PRICE);
}

/** Over catalog ids; `*` stands for any run of characters. */
export function catalogPattern() {
  return matching(/^[!-~]{1,256}$/, 'a catalog pattern like "mistral/*"');
}

const ADDRESS = "an http:// or https:// address without user, query or fragment";
const HTTP = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:\/[^\s?#]*)?$/i;

function isAddress(value: string): boolean {
  return HTTP.test(value) && URL.canParse(value) && new URL(value).port !== "0" &&
    isHost(new URL(value).hostname);
}

/** An address, without the slash at its end. Empty: none. */
export function urlOrNone() {
  return stringField(ADDRESS)
    .refine((value) => value === "" || isAddress(value), says(ADDRESS))
    .transform((value) => value.replace(/\/+$/, ""));
}

/** Whether something can be a host: an IP address, or a name whose parts have 1 to 63 letters, digits, `-` and `_`. */
export function isHost(host: string): boolean {
  if (host.includes(":") || host.startsWith("[")) {
    return URL.canParse(`http://[${host.replace(/^\[|\]$/g, "").replace(/%[\w.-]+$/, "")}]`);
  }
  const labels = host.replace(/\.$/, "").split(".");
  if (host.length > 253 || !labels.every((l) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/i.test(l))) return false;
  // A name whose last part is a number is an IPv4 address, and only four numbers to 255 are one.
  return !/^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1)!) ||
    (labels.length === 4 && labels.every((l) => /^\d{1,3}$/.test(l) && Number(l) < 256));
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** `2030-01-31` or `2030-01-31T00:00:00Z` in milliseconds since the epoch; null: no such day, no such time, or no zone. */
export function readMoment(written: string): number | null {
  const time = MOMENT.test(written) ? Date.parse(written) : NaN;
  if (Number.isNaN(time)) return null;
  // An engine may roll the 31st of a short month over into the next; the day must come back as it went in.
  const day = written.slice(0, 10);
  const start = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day) ? time : null;
}

export const MOMENT_WORDS = "a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z";

/** A moment, in the code milliseconds since the epoch. */
export function moment() {
  return stringField(MOMENT_WORDS)
    .refine((value) => readMoment(value) !== null, says(MOMENT_WORDS))
    .transform((value) => readMoment(value) ?? NaN);
}
