/** JSON with comments: the same values and refusals as a parser that others keep, and what is said of several mistakes. */
import { assertEquals } from "@std/assert";
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { type JsonNode, readJsonText, type SyntaxMistake } from "../../src/config/json_text.ts";
import { seeded } from "../support/resuming.ts";

type Plain = string | number | boolean | null | { items: Plain[] } | { fields: [string, Plain][] };

function ours(text: string): Plain | undefined {
  const mistakes: SyntaxMistake[] = [];
  const root = readJsonText(text, mistakes);
  const plain = (node: JsonNode): Plain =>
    node.type === "object"
      ? { fields: node.fields.map(({ name, value }) => [name, plain(value)]) }
      : node.type === "array"
      ? { items: node.items.map(plain) }
      : node.value;
  return mistakes.length > 0 || root === undefined ? undefined : plain(root);
}

function theirs(text: string): Plain | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const plain = (node: Node): Plain =>
    node.type === "object"
      ? { fields: node.children!.map(({ children }) => [children![0].value, plain(children![1])]) }
      : node.type === "array"
      ? { items: node.children!.map(plain) }
      : node.value;
  return errors.length > 0 || root === undefined ? undefined : plain(root);
}

const PIECES = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"a"',
  '"b"',
  '"\\u00e9\\n"',
  '"\\x"',
  '"\t"',
  '"',
  "1",
  "-0.5e3",
  "01",
  "1.",
  "true",
  "null",
  "nul",
];
const GAPS = ["", " ", "\n", "// c }\n", "/* , */", "/*", "\r\n", "\u00a0", "/"];

/** Mostly texts that fit, with something put in, left out or put twice. */
function texts(random: () => number): string {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)];
  const gap = () => random() < 0.2 ? pick(GAPS) : "";
  const value = (depth: number): string => {
    const kind = random();
    if (depth > 3 || kind < 0.4) {
      return pick(['"a"', '"b\\n"', "12", "-1e2", "false", "null", '"//"', '"/* */"']);
    }
    const items = Array.from({ length: Math.floor(random() * 4) }, () => gap() + value(depth + 1) + gap());
    const comma = random() < 0.2 && items.length > 0 ? "," : "";
    if (kind < 0.7) return `[${items.join(",")}${comma}${gap()}]`;
    return `{${
      items.map((item) => `${gap()}${pick(['"a"', '"b"', '"__proto__"'])}${gap()}:${item}`).join(",")
    }${comma}}`;
  };
  const text = gap() + value(0) + gap();
  if (random() < 0.5) return text;
  const at = Math.floor(random() * (text.length + 1));
  return random() < 0.5
    ? text.slice(0, at) + text.slice(at + 1)
    : text.slice(0, at) + pick(PIECES) + text.slice(at);
}

Deno.test("readJsonText() reads and refuses the same texts as jsonc-parser", () => {
  const random = seeded(18);
  let read = 0;
  for (let i = 0; i < 20_000; i++) {
    const text = texts(random);
    const expected = theirs(text);
    assertEquals(ours(text), expected, JSON.stringify(text));
    if (expected !== undefined) read++;
  }
  assertEquals(read > 5000 && read < 19_000, true, `${read} of them fit`);
});

const MISTAKES: [text: string, mistakes: string[]][] = [
  ['{\n"a": x,\n"b" 1,\n"c": [1 2],\n, "d": 1}', [
    "7 invalid symbol",
    "14 colon expected",
    "25 comma expected",
    "29 value expected",
  ]],
  ["[1}", ["2 close bracket expected"]],
  ['{"a": "\\q", "b": "\u0001"}', [
    "6 invalid escape or character in a string",
    "17 invalid escape or character in a string",
  ]],
  ['{"a": "b\\"', ["6 unexpected end of string", "10 close brace expected"]],
  ["[1, /* 2]", ["4 unexpected end of comment", "9 close bracket expected"]],
  ["{1: 2}", ["1 property name expected"]],
];
for (const [text, expected] of MISTAKES) {
  Deno.test(`readJsonText() names all mistakes in ${JSON.stringify(text)}`, () => {
    const mistakes: SyntaxMistake[] = [];
    readJsonText(text, mistakes);
    assertEquals(mistakes.map(({ offset, what }) => `${offset} ${what}`), expected);
  });
}

Deno.test("readJsonText() takes a megabyte of gaps, and of text in one string", () => {
  const gaps = "// comment\n \t/* more */".repeat(45_000);
  const long = "ab\\n".repeat(250_000);
  assertEquals(ours(`${gaps}["${long}"${gaps}]${gaps}`), { items: [long.replaceAll("\\n", "\n")] });
});
