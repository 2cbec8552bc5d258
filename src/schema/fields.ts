/**
 * Building blocks of the schemas of everything that an operator writes: the configuration, the administration API.
 *
 * A field says in words what it allows, and those words are the mistake that the operator reads. Objects are strict: a field
 * that is not declared is a mistake. Names come in as they are written, in snake case with seconds, and go out as the code has
 * them, in camel case with milliseconds, so that a field stands in one place only. A default is given with `prefault`: it goes
 * through the same conversion as a written value, and shows in the JSON Schema.
 */
import { z } from "zod/mini";
import { Field, says } from "./field.ts";

export { Field, says, type Value, type Written } from "./field.ts";

/** `first_byte_seconds` is `firstByteMs` in the code. */
export type CodeName<S extends string> = S extends `${infer Head}_seconds` ? `${CodeName<Head>}Ms`
  : S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CodeName<Tail>>}`
  : S;

export type CodeNames<T> = { [K in keyof T as K extends string ? CodeName<K> : K]: T[K] };

/** The name that a field has in the program: `idle_seconds` becomes `idleMs`. */
export function codeName(name: string): string {
  return name.replace(/_seconds$/, "_ms").replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields of an object by their written names. */
export type Shape = Readonly<Record<string, Field>>;

type Schemas<T extends Shape> = { -readonly [K in keyof T]: T[K]["schema"] };

/** An object with these fields and no others. */
type ObjectOf<T extends Shape> = z.ZodMiniObject<Schemas<T>, z.core.$strict>;

/** The names of an object's fields in the code, by the written ones. */
type Names = ReadonlyMap<string, string>;

/** What an object is in the code. @param take what is asked of a field that is written, or has to be */
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
 * The schema of an object that asks of its fields only those that are written, and those that have to be. Its `getter` gives
 * zod's own schema of all fields, which JSON Schemas are made of.
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
      // What the fields mean together is asked where each of them fits.
      if (payload.issues.length > 0) payload.aborted = true;
      const keys = Object.keys(input).filter((name) => !names.has(name));
      if (keys.length > 0) {
        // The known names in place of a message: nothing else of the issue knows them.
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

/** An object with these fields and no others, under their written names. */
export function exactly<T extends Shape>(shape: T) {
  return objectOf<T, z.output<ObjectOf<T>>>(shape, (name) => name, () => wholeObject(shape));
}

/** Likewise, with the names of the code in what comes out. */
export function fields<T extends Shape>(shape: T) {
  type InCode = CodeNames<z.output<ObjectOf<T>>>;
  return objectOf<T, InCode>(
    shape,
    codeName,
    () => z.pipe(wholeObject(shape), z.transform((value) => value as InCode)),
  );
}

/** Any number of entries under names of the operator's choice. */
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

/** What a schema is made with, its checks included: each that is added to it afterwards makes a schema anew. */
function checked<T>(words: { error: string }, ...checks: z.core.$ZodCheck<T>[]) {
  return { ...words, checks };
}

/** A whole number from `least` to `most`, both included. */
export function whole(least: number, most: number) {
  const words = says(`a whole number from ${least} to ${most}`);
  return new Field(() => z.int(checked(words, z.gte(least, words), z.lte(most, words))));
}

/** @param more what it may be besides, in words */
export function between(least: number, most: number, unit = "", more = "") {
  const words = says(`a number${unit} from ${least} to ${most}${more}`);
  return new Field(() => z.number(checked(words, z.gte(least, words), z.lte(most, words))));
}

const DAY = 86_400;

/** Seconds up to a day, in the code milliseconds. The field's name ends in `_seconds`. */
export function seconds(least: number, most = DAY) {
  return between(least, most, " of seconds").transform((value) => Math.round(value * 1000));
}

/** True or false. */
export function flag() {
  return new Field(() => z.boolean(says("true or false")));
}

/** One of some texts. */
export function choice<const T extends readonly [string, ...string[]]>(...values: T) {
  return new Field(() => z.enum(values, says(`one of ${values.join(", ")}`)));
}

/**
 * A list whose items are of one kind.
 *
 * @param what the items, in the plural, for messages
 */
export function listOf<S extends z.ZodMiniType>(item: Field<S>, what: string) {
  const allowed = `a list of ${what}`;
  return new Field(() => titled(z.array(item.schema, says(allowed)), allowed), {
    convert: (written) => (written as z.input<S>[]).map((one) => item.convert(one)),
  });
}

/** The words become the title in the JSON Schema, where editors and the manual show what a pattern cannot tell. */
function titled<T extends z.ZodMiniType>(made: T, allowed: string): T {
  z.globalRegistry.add(made, { title: allowed });
  return made;
}

/**
 * Any text.
 *
 * @param allowed what it is, for messages
 */
export function stringField(allowed: string) {
  return new Field(() => titled(z.string(says(allowed)), allowed));
}

/** @param most its largest length */
export function matching(pattern: RegExp, allowed: string, most?: number) {
  const words = says(allowed);
  return new Field(() => {
    const length = most === undefined ? [] : [z.maxLength(most, words)];
    return titled(z.string(checked(words, z.regex(pattern, words), ...length)), allowed);
  });
}

/** Some text that is more than white space. */
export function nonBlank(most: number, what: string) {
  const allowed = `${what} of 1 to ${most} characters`;
  return matching(/\S/, allowed, most);
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

const POST_ADDRESS = "an http:// or https:// address without user and fragment";

/** An address that events are posted to. */
export function postAddress() {
  return stringField(POST_ADDRESS).refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password, hash } = new URL(text);
    return /^https?:$/.test(protocol) && username === "" && password === "" && hash === "";
  }, says(POST_ADDRESS));
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
