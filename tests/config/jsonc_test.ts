/** A configuration that is plain JSON is read faster than one with comments, and means the same. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseJsonc } from "../../src/config/jsonc.ts";
import { examineText, examineTextInSteps } from "../../src/config/load.ts";

const env = (name: string) => name === "SET" ? "value" : name === "EMPTY" ? "" : undefined;
const both = (text: string) => [parseJsonc(text, env, "c"), parseJsonc(`${text} // a comment`, env, "c")];

Deno.test("parseJsonc() reads plain JSON like JSON with comments", () => {
  const texts = [
    '{"a": "\\"b\\": 1", "c\\\\": "\\\\", "d\\\\\\"": {}}',
    '{"a" : 1, "b"\n:\t2, "c": [":", "\\":"]}',
    '{"__proto__": {"a": "${SET}"}, "constructor": "${SET}"}',
    '{"a": ["${SET}", {"b": "$SET"}, "${EMPTY}", "${MISSING}", "x${2}", "${no name}"]}',
    '"${SET}"',
    '["a", "a"]',
    "1",
    "{}",
  ];
  for (const text of texts) {
    const [plain, other] = both(text);
    assertEquals(plain, other, text);
  }
  const value = parseJsonc(texts[2], env, "c").value as Record<string, unknown>;
  assertEquals(Object.entries(value), [["__proto__", { a: "value" }], ["constructor", "value"]]);
});

Deno.test("parseJsonc() reports duplicate fields, also where a value looks like one", () => {
  const names = (text: string) => parseJsonc(text, env, "c").mistakes.map(({ path }) => path);
  assertEquals(names('{"a": 1, "a": 2}'), ["a"]);
  assertEquals(names('{"a": "\\"b\\":", "c": [{"b": 1, "b": {"d": 1}}]}'), ["c[0].b"]);
  assertEquals(names('{"a": 1, "\\u0061": 2}'), ["a"]);
  assertEquals(names('{"a": "x\\\\", "b": 1}'), []);
});

Deno.test("parseJsonc() reads any plain JSON like JSON with comments", () => {
  const piece = fc.constantFrom('"', ":", "\\", " ", "${SET}", "$", "{", "a", "\n", "ä");
  const key = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      key,
      fc.integer(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(fc.property(value, fc.constantFrom(0, 1, "\t"), (given, space) => {
    const [plain, other] = both(JSON.stringify(given, null, space));
    assertEquals(plain, other);
  }));
});

Deno.test("examineTextInSteps() finds the same, and leaves the event loop to others meanwhile", async () => {
  const text =
    '{"providers": {"p": {"api": "demo"}}, "models": [{"id": "a/b", "routes": [{"provider": "q"}]}]}';
  let over = false;
  const examining = examineTextInSteps(text, { env }).finally(() => over = true);
  for (let i = 0; i < 100; i++) await undefined;
  assert(!over);
  assertEquals((await examining).report.mistakes, examineText(text, { env }).report.mistakes);
});
