/** Requests inside of every limit that are made to take long, or much memory: of every shape, in each format. */
import { gzipSync } from "node:zlib";
import { ALPHABETS } from "./alphabets.ts";
import {
  type Fields,
  type FormatName,
  list,
  part,
  PATHS,
  PLACES,
  RAW,
  said,
  SCHEMA,
  TEXT,
} from "./places.ts";

export interface HostileRequest {
  name: string;
  format: FormatName;
  path: string;
  body: Uint8Array<ArrayBuffer>;
  gzip?: boolean;
}
/** Below the usual limit of a body. */
const BODY = 31_000_000;

interface Shape {
  name: string;
  fields(format: FormatName): Fields;
  /** Text of JSON in the place of {@link RAW}. */
  raw?: () => string;
  gzip?: true;
  /** Kept as it is, and not written as JSON. */
  bytes?: (format: FormatName) => string;
}

const many = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));
const named = (count: number, value: (i: number) => unknown, name = (i: number) => `k${i}`) =>
  Object.fromEntries(many(count, (i) => [name(i), value(i)]));
const nested = (levels: number, inner: unknown): unknown => {
  let value = inner;
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
  return value;
};

/** Text in every place where one stands; the alphabets take turns, so that each stands in some. */
const TEXTS: Shape[] = Object.entries(ALPHABETS).flatMap(([name, made], i) => {
  const text = (length: number) => made(length);
  const others: Shape[] = [
    { name: `system of ${name}`, fields: (f) => PLACES.system(f, text(TEXT)) },
    {
      name: `arguments of ${name}`,
      fields: (f) => PLACES.arguments(f, JSON.stringify({ a: text(TEXT / 2) }), { a: text(TEXT / 2) }),
    },
    { name: `an unknown field of ${name}`, fields: (f) => PLACES.unknown(f, text(TEXT)) },
    { name: `an unknown object of ${name}`, fields: (f) => PLACES.unknown(f, { a: { b: text(TEXT / 2) } }) },
    {
      name: `a description of ${name}`,
      fields: (f) => PLACES.schema(f, { ...SCHEMA, description: text(TEXT / 2) }),
    },
    {
      name: `parts of ${name}`,
      fields: (f) => ({ [list(f)]: [said(f, many(1000, () => part(f, text(TEXT / 1000))))] }),
    },
    { name: `a body of ${name}`, fields: (f) => PLACES.text(f, text(BODY / 2)) },
  ];
  return [{ name: `text of ${name}`, fields: (f) => PLACES.text(f, text(TEXT)) }, others[i % others.length]];
});

const STRUCTURES: Shape[] = [
  { name: "a body of one string, in an unknown field", fields: (f) => PLACES.unknown(f, "a".repeat(BODY)) },
  { name: "a body of Han, in an unknown field", fields: (f) => PLACES.unknown(f, "漢".repeat(BODY / 3)) },
  {
    name: "a body of escapes",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => '"' + "\\u0041".repeat(BODY / 6) + '"',
  },
  { name: "a body of line breaks", fields: (f) => PLACES.unknown(f, "\n".repeat(BODY / 2)) },
  { name: "a body of quotes", fields: (f) => PLACES.unknown(f, '"'.repeat(BODY / 2)) },
  {
    name: "a body of blanks between values",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `[${" ".repeat(BODY)}]`,
  },
  { name: "an image of a body", fields: (f) => PLACES.image(f, ALPHABETS.base64(26_000_000)) },
  { name: "an image of letters", fields: (f) => PLACES.image(f, "A".repeat(26_000_000)) },
  { name: "an image of lines", fields: (f) => PLACES.image(f, ALPHABETS["base64 in lines"](26_000_000)) },
  { name: "a file of a body", fields: (f) => PLACES.file(f, ALPHABETS.base64(26_000_000)) },
  { name: "a file of encoded text", fields: (f) => PLACES.file(f, ALPHABETS["base64 of text"](5_000_000)) },
  {
    name: "a file of much encoded text",
    fields: (f) => PLACES.file(f, ALPHABETS["base64 of text"](26_000_000)),
  },
  {
    name: "many images",
    fields: (f) => ({
      [list(f)]: [said(
        f,
        many(
          1000,
          () => ((PLACES.image(f, ALPHABETS.base64(20_000))[list(f)] as Fields[])[0].content as unknown[])[0],
        ),
      )],
    }),
  },
  {
    name: "messages, as many as are allowed",
    fields: (f) => ({
      [list(f)]: many(2000, (i) => said(f, "word ".repeat(300), i % 2 ? "assistant" : "user")),
    }),
  },
  {
    name: "messages of ten parts",
    fields: (f) => ({
      [list(f)]: many(
        2000,
        (i) =>
          said(
            f,
            many(
              10,
              () => i % 2 && f === "responses" ? { type: "output_text", text: "x" } : part(f, "word word"),
            ),
            i % 2 ? "assistant" : "user",
          ),
      ),
    }),
  },
  { name: "too many messages", fields: (f) => ({ [list(f)]: many(40_000, () => said(f, "x")) }) },
  {
    name: "parts, as many as are allowed",
    fields: (f) => ({ [list(f)]: [said(f, many(10_000, () => part(f, "x")))] }),
  },
  {
    name: "parts in many messages",
    fields: (f) => ({ [list(f)]: many(60, () => said(f, many(1000, () => part(f, "x")))) }),
  },
  {
    name: "a tool loop",
    fields: (f) => {
      const turns = many(660, (i) => PLACES.arguments(f, `{"a":${i}}`, { a: i })[list(f)] as Fields[]);
      return {
        [list(f)]: turns.flat().map((turn) => JSON.parse(JSON.stringify(turn).replaceAll('"t1"', '"t1"'))),
      };
    },
  },
  {
    name: "tools",
    fields: (f) => ({
      ...PLACES.text(f, "Hi"),
      tools: many(5000, (i) => {
        const [one] = PLACES.schema(f, SCHEMA).tools as Fields[];
        return f === "chat_completions"
          ? { ...one, function: { name: `f${i}`, parameters: SCHEMA } }
          : { ...one, name: `f${i}` };
      }),
    }),
  },
  {
    name: "a schema of fields",
    fields: (f) =>
      PLACES.schema(f, { type: "object", properties: named(10_000, () => ({ type: "string" })) }),
  },
  {
    name: "a schema of required fields",
    fields: (f) => {
      const properties = named(10_000, () => ({ type: "string" }));
      return PLACES.schema(f, { type: "object", properties, required: Object.keys(properties) });
    },
  },
  {
    name: "a schema of branches",
    fields: (f) =>
      PLACES.schema(f, { anyOf: many(9000, (i) => ({ type: "object", properties: { [`k${i}`]: {} } })) }),
  },
  {
    name: "a schema of values",
    fields: (f) => PLACES.schema(f, { ...SCHEMA, properties: { a: { enum: many(9999, (i) => `v${i}`) } } }),
  },
  { name: "a deep schema", fields: (f) => PLACES.schema(f, nested(490, SCHEMA)) },
  {
    name: "deep schemas",
    fields: (f) =>
      PLACES.schema(f, { type: "object", properties: named(180, () => nested(480, { type: "string" })) }),
  },
  { name: "deep text", fields: (f) => PLACES.unknown(f, nested(490, ALPHABETS.words(TEXT / 2))) },
  { name: "too deep", fields: (f) => PLACES.unknown(f, RAW), raw: () => "[".repeat(BODY) },
  {
    name: "pairs of braces",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `[${"{},".repeat(BODY / 3)}{}]`,
  },
  {
    name: "values, as many as are allowed",
    fields: (f) => PLACES.unknown(f, many(19, () => many(9999, (i) => i))),
  },
  {
    name: "long numbers",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `[${many(19, () => `[${many(9999, () => "12345678901234567890").join()}]`).join()}]`,
  },
  {
    name: "fractions",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `[${many(19, () => `[${many(9999, () => "0.12345678901234567890123").join()}]`).join()}]`,
  },
  { name: "one number of a body", fields: (f) => PLACES.unknown(f, RAW), raw: () => "1".repeat(BODY) },
  {
    name: "one fraction of a body",
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `1.${"1".repeat(BODY)}`,
  },
  {
    name: "long strings in lists",
    fields: (f) => PLACES.unknown(f, many(19, () => many(9999, (i) => `value ${i} ${"x".repeat(120)}`))),
  },
  { name: "empty objects", fields: (f) => PLACES.unknown(f, many(19, () => many(9999, () => ({})))) },
  {
    name: "objects of a name",
    fields: (f) => PLACES.unknown(f, many(9, () => many(9999, (i) => ({ a: i })))),
  },
  {
    name: "names",
    fields: (f) => PLACES.unknown(f, many(9, (j) => named(9999, () => 1, (i) => `k${j}_${i}`))),
  },
  {
    name: "names that are numbers",
    fields: (f) =>
      PLACES.unknown(f, many(9, (j) => named(9999, () => 1, (i) => `${(i * 7919 + j) % 4_000_000_000}`))),
  },
  {
    name: "long names",
    fields: (f) => PLACES.unknown(f, named(39, () => 1, (i) => `${i}`.padEnd(100_000, "n"))),
  },
  { name: "one name of a body", fields: (f) => PLACES.unknown(f, { ["n".repeat(BODY)]: 1 }) },
  {
    name: "unknown fields",
    fields: (f) => ({ ...PLACES.text(f, "Hi"), ...named(9990, (i) => `value ${i}`) }),
  },
  {
    name: "unknown fields of messages",
    fields: (f) => ({ [list(f)]: many(1000, () => ({ ...said(f, "x") as Fields, ...named(90, (i) => i) })) }),
  },
  {
    name: "metadata",
    fields: (f) => ({ ...PLACES.text(f, "Hi"), metadata: named(9999, (i) => `value ${i}`) }),
  },
  {
    name: "stops",
    fields: (f) => ({
      ...PLACES.text(f, "Hi"),
      [f === "messages" ? "stop_sequences" : "stop"]: many(9999, (i) => `s${i}`),
    }),
  },
  {
    name: "biases",
    fields: (f) => ({ ...PLACES.text(f, "Hi"), logit_bias: named(9999, () => 1, (i) => `${i}`) }),
  },
  {
    name: "domains",
    fields: (f) => ({
      ...PLACES.text(f, "Hi"),
      web_search_options: { filters: { allowed_domains: many(9999, (i) => `d${i}.example`) } },
    }),
  },
  {
    name: "arguments of values",
    fields: (f) =>
      PLACES.arguments(f, `{"a":[${many(90_000, (i) => i).join()}]}`, { a: many(9999, (i) => i) }),
  },
  {
    name: "arguments of brackets",
    fields: (f) => PLACES.arguments(f, "[".repeat(TEXT), { a: "[".repeat(TEXT) }),
  },
  {
    name: "arguments of braces",
    fields: (f) => PLACES.arguments(f, `[${"{},".repeat(TEXT / 3)}{}]`, { a: 1 }),
  },
  { name: "a model of a body", fields: (f) => ({ ...PLACES.text(f, "Hi"), model: "m".repeat(BODY) }) },
  {
    name: "an id of a body",
    fields: (f) =>
      JSON.parse(
        JSON.stringify(PLACES.arguments(f, "{}", {})).replaceAll('"t1"', `"${"i".repeat(BODY / 2 - 1000)}"`),
      ),
  },
  { name: "a role of a body", fields: (f) => ({ [list(f)]: [said(f, "x", "r".repeat(BODY))] }) },
  { name: "a user of a body", fields: (f) => ({ ...PLACES.text(f, "Hi"), user: ALPHABETS.base64(BODY) }) },
  {
    name: "a data address of percent signs",
    fields: (f) =>
      f === "chat_completions"
        ? PLACES.text(f, [{
          type: "image_url",
          image_url: { url: "data:text/plain," + "%41".repeat(TEXT / 2) },
        }])
        : PLACES.unknown(f, "data:text/plain," + "%41".repeat(TEXT / 3)),
  },
  {
    name: "no JSON at the end",
    bytes: (f) => JSON.stringify(PLACES.unknown(f, "a".repeat(BODY))).slice(0, -1) + "x",
    fields: (f) => PLACES.text(f, ""),
  },
  { name: "no UTF-8 at the end", bytes: () => "", fields: (f) => PLACES.unknown(f, "a".repeat(BODY)) },
  { name: "packed: one letter", gzip: true, fields: (f) => PLACES.unknown(f, "a".repeat(BODY)) },
  {
    name: "packed: brackets",
    gzip: true,
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => "[".repeat(BODY),
  },
  {
    name: "packed: braces",
    gzip: true,
    fields: (f) => PLACES.unknown(f, RAW),
    raw: () => `[${"{},".repeat(BODY / 3)}{}]`,
  },
  { name: "packed: too much", gzip: true, fields: (f) => PLACES.unknown(f, "a".repeat(300_000_000)) },
  { name: "packed: text", gzip: true, fields: (f) => PLACES.text(f, ALPHABETS.words(TEXT)) },
];

export const SHAPES: readonly Shape[] = [...TEXTS, ...STRUCTURES];

const encoder = new TextEncoder();

/** @param more fields that each request has besides */
export function requestOf(
  { name, fields, raw, gzip, bytes }: Shape,
  format: FormatName,
  more: Fields,
): HostileRequest {
  const base = { model: "hostile/model", ...(format === "messages" && { max_tokens: 9 }), ...more };
  const asked = { ...base, ...fields(format) };
  let text = bytes?.(format) || JSON.stringify(asked);
  if (raw) text = text.replace(JSON.stringify(RAW), () => raw());
  let body = encoder.encode(text);
  if (name.startsWith("no UTF-8")) body[body.length - 3] = 0xff;
  if (gzip) body = new Uint8Array(gzipSync(body));
  return { name, format, path: PATHS[format], body, ...(gzip && { gzip }) };
}
