/** Repair over random schemas, arguments, cuts and breakages. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { Declared } from "../../../src/pipeline/repair/declared.ts";
import { mend } from "../../../src/pipeline/repair/mend.ts";
import { repairCalls } from "../../../src/pipeline/repair/repair_calls.ts";
import { ArgumentScanner } from "../../../src/pipeline/repair/scanner.ts";

const RUNS = { seed: 22, numRuns: 400 };

/** Strings that look like other kinds of values stand among the random ones. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("5", "true", "null", "{}", "[1]", '{"a":1}', "None", '"', "\\", "```", "'"),
);
const { object } = fc.letrec<{ value: unknown; object: Loose }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(text.filter((name) => name !== "__proto__"), tie("value"), { maxKeys: 5 }),
}));

/** Numbers below a bound, the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 >>> 0;
    return (state >>> 8) % below;
  };
}

/** A schema that the value conforms to, in one of the many ways to write it. */
function schemaOf(value: unknown, roll: (below: number) => number, defs: Loose): Loose {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const type = kind === "number" && Number.isInteger(value) && roll(2) ? "integer" : kind;
  const plain: Loose = kind === "object" ? objectSchema(value as Loose, roll, defs) : kind === "array"
    ? {
      type,
      items: { anyOf: (value as unknown[]).map((item) => schemaOf(item, roll, defs)).concat({ type }) },
    }
    : { type };
  const anchor = `a${Object.keys(defs).length}`;
  switch (roll(11)) {
    case 0:
      return {};
    case 1:
      return { anyOf: [{ type: "null" }, plain] };
    case 2:
      return { oneOf: [plain, { type: kind === "boolean" ? "number" : "boolean" }] };
    case 3:
      defs[anchor] = plain;
      return { $ref: `#/$defs/${anchor}` };
    case 4:
      defs[anchor] = { $anchor: anchor, ...plain };
      return { $ref: `#${anchor}` };
    case 5:
      return { ...plain, type: [type, "null"] };
    case 6:
      return { enum: [value] };
    case 7:
      return { const: value };
    case 8:
      return { allOf: [plain] };
    default:
      return plain;
  }
}

function objectSchema(value: Loose, roll: (below: number) => number, defs: Loose): Loose {
  const entries = Object.entries(value).map(([name, inner]) => [name, schemaOf(inner, roll, defs)] as const);
  const escaped = (name: string) => `^${name.replaceAll(/[^A-Za-z0-9]/gu, "\\$&")}$`;
  const others = { type: ["number", "boolean", "object"][roll(3)] };
  const type = roll(4) ? { type: "object" } : {};
  switch (roll(3)) {
    case 0:
      return {
        ...type,
        patternProperties: Object.fromEntries(entries.map(([name, schema]) => [escaped(name), schema])),
        additionalProperties: others,
      };
    case 1:
      return { ...type, properties: Object.fromEntries(entries), additionalProperties: others };
    default:
      return { ...type, properties: Object.fromEntries(entries), required: Object.keys(value) };
  }
}

function declaredFor(value: Loose, seed: number): Loose {
  const $defs: Loose = {};
  return { ...objectSchema(value, dice(seed), $defs), $defs };
}

/** The arguments in pieces as they come through the stage, and for how many calls it says that it mended them. */
async function through(pieces: readonly string[], parameters: Loose): Promise<[string, number]> {
  async function* answer(): AsyncGenerator<Part[]> {
    yield [{ type: "call-start", block: 0, choice: 0, id: "c", name: "f", kind: "function" }];
    for (const piece of pieces) yield [{ type: "call-delta", block: 0, text: piece }];
    yield [{ type: "call-end", block: 0 }, { type: "finish", choice: 0, reason: "tool-calls" }];
  }
  let count = 0;
  let out = "";
  for await (
    const batch of repairCalls(answer(), [{ kind: "function", name: "f", parameters }], () => count++)
  ) {
    for (const part of batch) if (part.type === "call-delta") out += part.text;
  }
  return [out, count];
}

/** The text in pieces that end at these shares of it. */
function cutAt(text: string, shares: readonly number[]): string[] {
  const places = [0, ...shares.map((share) => Math.floor(share * text.length)).sort((a, b) => a - b)];
  return places.map((from, i) => text.slice(from, places[i + 1] ?? text.length));
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

Deno.test("arguments that conform are never changed, whatever the schema and wherever they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(object, fc.nat(), shares, fc.nat(3), async (value, seed, shares, indent) => {
      const json = JSON.stringify(value, null, indent);
      assertEquals(await through(cutAt(json, shares), declaredFor(value, seed)), [json, 0]);
    }),
    RUNS,
  );
});

Deno.test("an integer in any notation is one, and stays", async () => {
  const parameters = { type: "object", properties: { n: { type: "integer" } } };
  for (const n of ["1.0", "1e3", "1.5e1", "-0", "9".repeat(500), "12345678901234567890"]) {
    assertEquals(await through([`{"n":${n}}`], parameters), [`{"n":${n}}`, 0]);
  }
});

Deno.test("of several answers, one that ends leaves the calls of the others alone", async () => {
  const start = (block: number): Part => ({
    type: "call-start",
    block,
    choice: block,
    id: `c${block}`,
    name: "f",
    kind: "function",
  });
  async function* answers(): AsyncGenerator<Part[]> {
    yield [start(0), start(1), { type: "call-delta", block: 0, text: '{"n":1,' }];
    yield [{ type: "call-delta", block: 1, text: '{"n":"2",' }, { type: "call-end", block: 0 }];
    yield [{ type: "finish", choice: 0, reason: "tool-calls" }];
    yield [{ type: "call-delta", block: 1, text: '"m":1}' }, { type: "call-end", block: 1 }];
    yield [{ type: "finish", choice: 1, reason: "tool-calls" }];
  }
  const parameters = { type: "object", properties: { n: { type: "integer" } } };
  const texts = ["", ""];
  for await (const batch of repairCalls(answers(), [{ kind: "function", name: "f", parameters }], () => {})) {
    for (const part of batch) if (part.type === "call-delta") texts[part.block] += part.text;
  }
  assertEquals(texts, ['{"n":1}', '{"n":2,"m":1}']);
});

/** Faults that the manual names; each leaves what the arguments say. */
const BREAKAGES: readonly ((json: string) => string)[] = [
  (json) => "```json\n" + json + "\n```",
  (json) => "```" + json + "```",
  (json) => JSON.stringify(json),
  (json) => JSON.stringify("```json\n" + json + "\n```"),
  (json) => json.replace(/[}\]]+$/, ""),
  (json) => json.replace(/[}\]]$/, ""),
  (json) => `${json}}`,
  (json) => `${json}]\n}`,
  (json) => json.replace(/(?<=[^{[,:])[}\]]+$/, ",$&"),
];

Deno.test("what was broken by syntax is mended to what it said", () => {
  fc.assert(
    fc.property(object, fc.nat(), fc.nat(BREAKAGES.length - 1), (value, seed, nth) => {
      const json = JSON.stringify(value);
      const mended = mend(BREAKAGES[nth](json), Declared.of(declaredFor(value, seed)), { complete: true });
      assertEquals(mended && JSON.parse(mended), JSON.parse(json));
    }),
    RUNS,
  );
});

/** Names and scalars of a value in order. A text and the number it is written like count as the same. */
function said(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(said);
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...said(inner)]);
}

Deno.test("a sign of structure that is missing or too many never changes what is said", () => {
  const plainText = fc.string({ unit: fc.constantFrom(..."ab{}[],:\"\\' "), maxLength: 6 });
  const plain = fc.dictionary(
    plainText.filter((name) => !/^\d*$/.test(name)),
    fc.oneof(
      plainText.filter((one) => !/^[{[]/.test(one)),
      fc.integer(),
      fc.array(fc.integer(), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("x", "y"), fc.boolean(), { maxKeys: 2 }),
    ),
    { maxKeys: 4 },
  );
  let mendedOnes = 0;
  fc.assert(
    fc.property(plain, fc.nat(), fc.nat(), fc.constantFrom("", ...'{}[],:"'), (value, seed, place, sign) => {
      const json = JSON.stringify(value);
      // Inside of a string they would be what it says.
      const places = [...json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)].flatMap(({ index, 0: token }) =>
        sign === "" && token.length > 1 ? [index, index + token.length - 1] : [index]
      );
      const at = places[place % places.length];
      const broken = json.slice(0, at) + sign + json.slice(sign === "" ? at + 1 : at);
      try {
        JSON.parse(broken);
        return;
      } catch {
        // It is broken.
      }
      const mended = mend(broken, Declared.of(declaredFor(value, seed)), { complete: true });
      if (mended === null) return;
      mendedOnes++;
      assertEquals(said(JSON.parse(mended)), said(value), broken);
    }),
    { ...RUNS, numRuns: 3000 },
  );
  assert(mendedOnes > 100);
});

Deno.test("anything at all is read without a throw, and what comes out of it parses", () => {
  const signs = fc.string({ unit: fc.constantFrom(..."{}[],:\"'\\`tn1-.eu \n"), maxLength: 40 });
  fc.assert(
    fc.property(fc.oneof(signs, signs.map((one) => `{${one}}`)), fc.boolean(), (text, complete) => {
      new ArgumentScanner(Declared.of({})).push(text);
      const mended = mend(text, Declared.of({}), { complete });
      if (mended !== null) assertEquals(typeof JSON.parse(mended), "object");
    }),
    { ...RUNS, numRuns: 3000 },
  );
});

// An algorithm whose time grew with the square of the length would take hours for one of these.
Deno.test("a megabyte of what is hard to read is read in one go", () => {
  const n = 1_000_000;
  const hard = [
    "`".repeat(n),
    "```" + "a".repeat(n),
    "```" + " ".repeat(n),
    "```" + "\n".repeat(n) + "x",
    "```" + "a ".repeat(n / 2) + "``",
    '{"a":"' + "\\".repeat(n),
    '{"a":"' + "\\".repeat(n) + '"}',
    '{"a":' + "[".repeat(n),
    '{"a":'.repeat(n / 5),
    '"'.repeat(n),
    "{" + '"'.repeat(n),
    "{" + "'".repeat(n),
    "{" + "a".repeat(n),
    '{"a":' + "1".repeat(n),
    '{"a":1' + " ".repeat(n),
    '{"a":1}' + "}".repeat(n),
    "{" + '"a":1,'.repeat(n / 6),
    "{'a':[" + "'',".repeat(n / 3),
    '{"a":"' + "\\u".repeat(n / 2),
  ];
  const declared = Declared.of({ type: "object", properties: { a: { type: "number" } } });
  for (const text of hard) {
    mend(text, declared, { complete: true });
    const scanner = new ArgumentScanner(declared);
    for (let i = 0; i < text.length; i += 1000) scanner.push(text.slice(i, i + 1000));
  }
});
