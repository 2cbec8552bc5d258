/**
 * Building blocks for the schemas of the configuration and the administration API.
 *
 * A field describes its allowed values in words, which become the error message. Objects are strict: an
 * undeclared field is a mistake. Names are written in snake case, with times in seconds, and are converted to
 * camel case, with times in milliseconds, so that each field is declared once. A default is set with
 * `prefault`: it is converted like a written value, and appears in the JSON Schema.
 */
import { z } from "zod/mini";
import { Field, says } from "./field.ts";

export { Field, says, type Value, type Written } from "./field.ts";

/** `first_byte_seconds` becomes `firstByteMs`. */
export type CodeName<S extends string> = S extends `${infer Head}_seconds` ? `${CodeName<Head>}Ms`
  : S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CodeName<Tail>>}`
  : S;

export type CodeNames<T> = { [K in keyof T as K extends string ? CodeName<K> : K]: T[K] };

/** The name of a field in the program: `idle_seconds` becomes `idleMs`. */
export function codeName(name: string): string {
  return name.replace(/_seconds$/, "_ms").replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields of an object by their written names. */
export type Shape = Readonly<Record<string, Field>>;

type Schemas<T extends Shape> = { -readonly [K in keyof T]: T[K]["schema"] };

/** An object with exactly these fields. */
type ObjectOf<T extends Shape> = z.ZodMiniObject<Schemas<T>, z.core.$strict>;

/** The names of an object's fields in the program, by their written names. */
type Names = ReadonlyMap<string, string>;

/**
 * Builds the value of an object in the program. @param take converts the value of a field that is present or
 * required
 */
function gather(
  shape: Shape,
  names: Names,
  written: Readonly<Record<string, unknown>>,
  take: (field: Field, value: unknown, name: string) => unknown,
): Record<string, unknown> {
  const gathered: Record<string, unknown> = {};
  for (const [name, inCode] of names) {
    const field = shape[name];
    const value = written[name];
    const taken = value === undefined && field.mayBeAbsent ? field.absent() : take(field, value, name);
    if (taken !== undefined) gathered[inCode] = taken;
  }
  return gathered;
}

interface SparseDef extends z.core.$ZodLazyDef<z.ZodMiniType> {
  shape: Shape;
  names: Names;
}

/**
 * The schema of an object that creates only the schemas of fields that are present or required. Its `getter`
 * returns zod's own schema of all fields, from which JSON Schemas are generated.
 */
const SparseObject = z.core.$constructor<z.ZodMiniLazy<z.ZodMiniType>, SparseDef>(
  "SparseObject",
  (inst, def) => {
    z.ZodMiniLazy.init(inst, def);
    const { shape, names } = def;
    inst._zod.parse = (payload, context) => {
      const input = payload.value;
      if (!z.core.util.isObject(input)) {
        payload.issues.push({ code: "invalid_type", expected: "object", input, inst, message: "an object" });
        return payload;
      }
      payload.value = gather(shape, names, input, (field, value, name) => {
        const result = field.reader._zod.run({ value, issues: [] }, context) as z.core.ParsePayload;
        payload.issues.push(...z.core.util.prefixIssues(name, result.issues));
        return result.value;
      });
      // Checks over several fields run only if every field is valid.
      if (payload.issues.length > 0) payload.aborted = true;
      const keys = Object.keys(input).filter((name) => !names.has(name));
      if (keys.length > 0) {
        // The names of the known fields, in place of a message: the issue has no other property for them.
        const message = [...names.keys()].join(" ");
        payload.issues.push({ code: "unrecognized_keys", keys, input, inst, message, continue: true });
      }
      return payload;
    };
  },
);

function objectOf<T extends Shape, V>(
  shape: T,
  inCode: (name: string) => string,
  getter: () => z.ZodMiniType<V, z.input<ObjectOf<T>>>,
): Field<z.ZodMiniType<V, z.input<ObjectOf<T>>>> {
  let names: Names | undefined;
  const named = () => names ??= new Map(Object.keys(shape).map((name) => [name, inCode(name)]));
  return new Field(
    () => new SparseObject({ type: "lazy", getter, shape, names: named() }) as ReturnType<typeof getter>,
    { convert: (written) => gather(shape, named(), written, (field, value) => field.convert(value)) as V },
  );
}

function wholeObject<T extends Shape>(shape: T): ObjectOf<T> {
  const schemas = Object.entries(shape).map(([name, field]) => [name, field.schema]);
  return z.strictObject(Object.fromEntries(schemas) as Schemas<T>) as ObjectOf<T>;
}

/** An object with exactly these fields, under their written names. */
export function exactly<T extends Shape>(shape: T) {
  return objectOf<T, z.output<ObjectOf<T>>>(shape, (name) => name, () => wholeObject(shape));
}

/** An object with exactly these fields, converted to their names in the program. */
export function fields<T extends Shape>(shape: T) {
  type InCode = CodeNames<z.output<ObjectOf<T>>>;
  return objectOf<T, InCode>(
    shape,
    codeName,
    () => z.pipe(wholeObject(shape), z.transform((value) => value as InCode)),
  );
}

/** Any number of entries, with names that the operator chooses. */
export function named<K extends z.ZodMiniType<string, string>, V extends z.ZodMiniType>(
  name: Field<K>,
  value: Field<V>,
) {
  const error = (issue: z.core.$ZodRawIssue) =>
    issue.code === "invalid_type" ? "an object of named entries" : undefined;
  return new Field(() => z.record(name.reader as z.ZodMiniType<string, string>, value.schema, { error }), {
    convert: (written) =>
      Object.fromEntries(
        Object.entries(written).map(([key, one]) => [key, value.convert(one as z.input<V>)]),
      ),
  });
}

/** The options of a schema, including its checks: a check that is added later would create another schema. */
function checked<T>(words: { error: string }, ...checks: z.core.$ZodCheck<T>[]) {
  return { ...words, checks };
}

/** A whole number from `least` to `most`, both included. */
export function whole(least: number, most: number) {
  const words = says(`a whole number from ${least} to ${most}`);
  return new Field(() => z.int(checked(words, z.gte(least, words), z.lte(most, words))));
}

/** @param more further allowed values, in words */
export function between(least: number, most: number, unit = "", more = "") {
  const words = says(`a number${unit} from ${least} to ${most}${more}`);
  return new Field(() => z.number(checked(words, z.gte(least, words), z.lte(most, words))));
}

const DAY = 86_400;

/** Seconds up to a day, converted to milliseconds. The field's name ends with `_seconds`. */
export function seconds(least: number, most = DAY) {
  return between(least, most, " of seconds").transform((value) => Math.round(value * 1000));
}

/** True or false. */
export function flag() {
  return new Field(() => z.boolean(says("true or false")));
}

/** One of several texts. */
export function choice<const T extends readonly [string, ...string[]]>(...values: T) {
  return new Field(() => z.enum(values, says(`one of ${values.join(", ")}`)));
}

/**
 * A list of items of one type.
 * @param what the items, in the plural, for messages
 */
export function listOf<S extends z.ZodMiniType>(item: Field<S>, what: string) {
  const allowed = `a list of ${what}`;
  return new Field(() => titled(z.array(item.schema, says(allowed)), allowed), {
    convert: (written) => (written as z.input<S>[]).map((one) => item.convert(one)),
  });
}

/** The words become the title in the JSON Schema, where editors and the manual show what a pattern cannot express. */
function titled<T extends z.ZodMiniType>(made: T, allowed: string): T {
  z.globalRegistry.add(made, { title: allowed });
  return made;
}

/**
 * Any text.
 * @param allowed describes it in messages
 */
export function stringField(allowed: string) {
  return new Field(() => titled(z.string(says(allowed)), allowed));
}

/** @param most maximum length */
export function matching(pattern: RegExp, allowed: string, most?: number) {
  const words = says(allowed);
  return new Field(() => {
    const length = most === undefined ? [] : [z.maxLength(most, words)];
    return titled(z.string(checked(words, z.regex(pattern, words), ...length)), allowed);
  });
}

/** A text that is more than white space. */
export function nonBlank(most: number, what: string) {
  const allowed = `${what} of 1 to ${most} characters`;
  return matching(/\S/, allowed, most);
}

/** A name that is also used in response headers and metric labels, so it must be ASCII. */
export function label() {
  return matching(
    /^(?!\.{1,2}$)[!-~](?:[ -~]{0,62}[!-~])?$/,
    "a name of 1 to 64 printable ASCII characters without spaces at its ends, other than . and ..",
  );
}

/**
 * The name of a new key, account or team, for people. A reader must be able to see it and to tell it from others, so it
 * has no spaces at its ends, and no characters that are invisible or reverse the text, except the joiners of
 * scripts and emoji. Names are parts of URLs, from which browsers remove `.` and `..`.
 */
export function title() {
  return matching(
    /^(?!\.{1,2}$)[^\p{Cc}\p{Cf}\p{Cs}\p{Z}](?:(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[\u200c\u200d]){0,126}[^\p{Cc}\p{Cf}\p{Cs}\p{Z}])?$/u,
    "a name of 1 to 128 printable characters without spaces at its ends, other than . and ..",
  );
}

/** A reference to something by its `title`. A store may have names from a release with a weaker rule. */
export function titleInUse() {
  return matching(/^[^\p{Cc}\p{Cs}]{1,128}$/u, "a name of 1 to 128 printable characters");
}

/** A value for a request header. The usual mistake is a line break at the end of a secret file. */
export function headerValue() {
  return matching(/^[!-~]*$/, "printable ASCII without spaces or line breaks");
}

const PRICE = 'a decimal string like "0.0000025", at most 1000, with at most 18 digits after the point';

/** A price of one token or one search. Never a JSON number, since binary fractions are inexact. */
export function price() {
  return matching(/^(?:\d{1,3}(?:\.\d{1,18})?|1000(?:\.0{1,18})?)$/, PRICE);
}

/** A pattern over catalog ids; `*` matches any number of characters. */
export function catalogPattern() {
  return matching(/^[!-~]{1,256}$/, 'a catalog pattern like "mistral/*"');
}

const ADDRESS = "an http:// or https:// address without user, query or fragment";
const HTTP = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:\/[^\s?#]*)?$/i;

function isAddress(value: string): boolean {
  return HTTP.test(value) && URL.canParse(value) && new URL(value).port !== "0" &&
    isHost(new URL(value).hostname);
}

const POST_ADDRESS = "an http:// or https:// address without user and fragment";

/** The URL of a webhook. */
export function postAddress() {
  return stringField(POST_ADDRESS).refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password, hash } = new URL(text);
    return /^https?:$/.test(protocol) && username === "" && password === "" && hash === "";
  }, says(POST_ADDRESS));
}

/** A URL, converted to one without a trailing slash. Empty: none. */
export function urlOrNone() {
  return stringField(ADDRESS)
    .refine((value) => value === "" || isAddress(value), says(ADDRESS))
    .transform((value) => value.replace(/\/+$/, ""));
}

const SITE = "an http:// or https:// address without path, user, query or fragment";

/** The URL of a site, converted to one without a trailing slash. Empty: none. */
export function siteOrNone() {
  return stringField(SITE)
    .refine((value) => value === "" || isAddress(value) && new URL(value).pathname === "/", says(SITE))
    .transform((value) => value.replace(/\/+$/, ""));
}

const HOST = "a host name or an IP address, without port and brackets";

export function host() {
  return stringField(HOST).refine((text) => !text.startsWith("[") && isHost(text), says(HOST));
}

/** Whether a text can be a host: an IP address, or a name whose parts have 1 to 63 letters, digits, `-` and `_`. */
export function isHost(host: string): boolean {
  if (host.includes(":") || host.startsWith("[")) {
    return URL.canParse(`http://[${host.replace(/^\[|\]$/g, "").replace(/%[\w.-]+$/, "")}]`);
  }
  const labels = host.replace(/\.$/, "").split(".");
  if (host.length > 253 || !labels.every((l) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/i.test(l))) return false;
  // A name whose last part is a number must be an IPv4 address of four numbers up to 255.
  return !/^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1)!) ||
    (labels.length === 4 && labels.every((l) => /^\d{1,3}$/.test(l) && Number(l) < 256));
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * `2030-01-31` or `2030-01-31T00:00:00Z` in milliseconds since the epoch; null: the day or the time does not
 * exist, or there is no time zone.
 */
export function readMoment(written: string): number | null {
  const time = MOMENT.test(written) ? Date.parse(written) : NaN;
  if (Number.isNaN(time)) return null;
  // `Date.parse` may convert the 31st of a short month to the next month, so the day is converted back and
  // compared.
  const day = written.slice(0, 10);
  const start = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day) ? time : null;
}

export const MOMENT_WORDS = "a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z";

/** A time, converted to milliseconds since the epoch. */
export function moment() {
  return stringField(MOMENT_WORDS)
    .refine((value) => readMoment(value) !== null, says(MOMENT_WORDS))
    .transform((value) => readMoment(value) ?? NaN);
}
