import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { textsOf } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { seeded } from "../support/resuming.ts";
import {
  DECODED_AT_ONCE,
  replaceInJson,
  replaceInText,
  unescaped,
  unescapedInSlices,
} from "../../src/dlp/json_text.ts";

Deno.test("unescaped() resolves escapes and knows where each unit came from", () => {
  assertEquals(unescaped('{"a":1}'), null);
  const text = String.raw`{"a":"\u0034\n\"x"}`;
  const view = unescaped(text)!;
  assertEquals(view.text, '{"a":"4\n"x"}');
  const at = (i: number) => text.slice(view.from![i], view.to![i]);
  assertEquals([at(5), at(6), at(7), at(8), at(9)], ['"', "\\u0034", "\\n", '\\"', "x"]);
  assertEquals(unescaped("broken \\")?.text, "broken \\");
  assertEquals(unescaped("broken \\u12")?.text, "broken u12");
});

Deno.test("unescaped() of any JSON text reads as its strings do", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => {
    const text = JSON.stringify(value);
    assertEquals((unescaped(text)?.text ?? text).slice(1, -1), value);
  }));
});

Deno.test("unescapedInSlices() yields in a long text, and decodes escapes at the borders of its slices", () => {
  for (const before of [-6, -5, -2, -1, 0, 1]) {
    const text = `${"x".repeat(DECODED_AT_ONCE + before)}\\u0041\\n${"y".repeat(DECODED_AT_ONCE)}`;
    const work = unescapedInSlices(text);
    let yields = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) yields++;
    const view = step.value!;
    const expected = text.replace("\\u0041\\n", "A\n");
    assert(view.text === expected && yields === 2, `${before}: ${yields} yields`);
    const at = expected.indexOf("A");
    assertEquals([...view.from!.slice(at, at + 3)], [at, at + 6, at + 8]);
    assertEquals([...view.to!.slice(at, at + 3)], [at + 6, at + 8, at + 9]);
    assertEquals([view.from!.length, view.to!.at(-1)], [expected.length, text.length]);
  }
});

Deno.test("replaceInJson() replaces inside strings only", () => {
  const by = "<X_1>";
  assertEquals(replaceInJson('{"a":"bcd"}', [{ start: 6, end: 9, by }]), '{"a":"<X_1>"}');
  assertEquals(replaceInJson('{"a":"bcd"}', [{ start: 2, end: 9, by }]), '{"<X_1>":"<X_1>"}');
  assertEquals(replaceInJson('{"a":123}', [{ start: 5, end: 8, by }]), null);
  assertEquals(replaceInJson('{"a":"b","c":1}', [{ start: 6, end: 14, by }]), null);
  assertEquals(replaceInJson('{"a":true}', [{ start: 5, end: 9, by }]), null);
  // Two keys that become one would take a value away.
  assertEquals(replaceInJson('{"a":1,"b":2}', [{ start: 2, end: 3, by }, { start: 8, end: 9, by }]), null);
});

Deno.test("replaceInText() keeps JSON that a text is, or holds, JSON", () => {
  const mask = (text: string, value: string) => {
    const start = text.indexOf(value);
    return replaceInText(text, [{ start, end: start + value.length, by: "<X_1>" }]);
  };
  assertEquals(mask('{"a":4111,"b":"x"}', "4111"), '{"a":"<X_1>","b":"x"}');
  assertEquals(mask("[1, 4111.0]", "4111"), '[1, "<X_1>"]');
  assertEquals(mask('{"a":"n:\\n4111"}', "4111"), '{"a":"n:\\n<X_1>"}');
  assertEquals(mask('Result: {"a": 4111}', "4111"), 'Result: {"a": "<X_1>"}');
  assertEquals(mask('log "{\\"a\\":4111}"', "4111"), 'log "{\\"a\\":\\"<X_1>\\"}"');
  assertEquals(mask("Result: [1, 4111]", "4111"), 'Result: [1, "<X_1>"]');
  assertEquals(mask('{"r":"[4111,\\"x\\"]"}', "4111"), '{"r":"[\\"<X_1>\\",\\"x\\"]"}');
  assertEquals(mask("card: 4111, thanks", "4111"), "card: <X_1>, thanks");
  assertEquals(mask("4111", "4111"), "<X_1>");
  assertEquals(mask('{"n":"see [1, 4111]"}', "4111"), '{"n":"see [1, \\"<X_1>\\"]"}');
  assertEquals(mask("Result: [[1], 4111]", "4111"), 'Result: [[1], "<X_1>"]');
  assertEquals(mask('Say "ok" [{"a":["]"]}, 4111]', "4111"), 'Say "ok" [{"a":["]"]}, "<X_1>"]');
  assertEquals(mask('Result: ["x (1, 2)", 4111]', "4111"), 'Result: ["x (1, 2)", "<X_1>"]');
  assertEquals(mask("Result: [a, b] and 4111]", "4111"), "Result: [a, b] and <X_1>]");
  // Half of an escape would be left.
  assertEquals(mask('{"a":"x\\n4111"}', "n4111"), null);
});

Deno.test("replaceInText() keeps lists of JSON in a text JSON, however nested, indented and long", () => {
  const next = seeded(3);
  const draw = (most: number) => Math.floor(next() * most);
  const texts = [
    "a, 4111",
    "x (1, 4111), y",
    "4111",
    "a: 4111",
    'say "ok", 4111',
    "line\n4111\nend",
    "plain",
  ];
  const made = (depth: number): unknown => {
    const kind = draw(depth > 0 ? 7 : 3);
    if (kind === 0) return texts[draw(texts.length)];
    if (kind === 1) return 4111;
    if (kind === 2) return [true, null, 5, -1.5e10][draw(4)];
    if (kind === 3) return Object.fromEntries([1, 2].map((n) => [`name ${n}`, made(depth - 1)]));
    if (kind === 4) return JSON.stringify(made(depth - 1));
    return Array.from({ length: 1 + draw(kind === 5 ? 3 : 40) }, () => made(kind === 5 ? depth - 2 : 0));
  };
  const masked = (value: unknown): unknown => {
    if (value === 4111) return "<X_1>";
    if (Array.isArray(value)) return value.map(masked);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one)]));
    }
    if (typeof value !== "string") return value;
    return /^[[{"\d]/.test(value) && value !== "4111"
      ? JSON.stringify(masked(JSON.parse(value)))
      : value.replace("4111", "<X_1>");
  };
  for (let round = 0; round < 2000; round++) {
    const value = [made(5), { last: made(3) }];
    const json = JSON.stringify(value, null, draw(2) * 2);
    const before = ["Result: ", 'He said "ok" ', "```json\n"][draw(3)];
    const text = `${before}${json}\nend`;
    const spans = [...text.matchAll(/(?<!\d)4111(?!\d)/g)].map(({ index }) => ({
      start: index,
      end: index + 4,
      by: "<X_1>",
    }));
    const said = replaceInText(text, spans)!;
    assertEquals(JSON.parse(said.slice(before.length, -4)), masked(value), text);
  }
});

Deno.test("textsOf() hands control back while it decodes the escapes of long arguments", () => {
  const turn = {
    role: "assistant",
    tool_calls: [{
      id: "c",
      type: "function",
      function: { name: "f", arguments: JSON.stringify({ a: "a\n".repeat(1_000_000) }) },
    }],
  };
  const body = { messages: [{ role: "user", content: "x" }, turn] };
  const check = merge(null, readRequestOptions({ regexes: [{ name: "x", pattern: "zzz" }] }), {
    unscannable: "pass",
    restore: false,
  });
  const reading = readLeaves(body, LEAVES.chat_completions);
  const texts = textsOf(reading, check);
  let yields = 0;
  while (!texts.next().done) yields++;
  assert(yields > 3, `${yields} yields`);
});

Deno.test("replaceInText() reads a long run of digits once, however many spans are in it", () => {
  const unit = "+14155550123";
  const text = `{"a": [${unit.repeat(1000)}`;
  const spans = Array.from({ length: 1000 }, (_, i) => {
    const start = 7 + i * unit.length;
    return { start, end: start + unit.length, by: "<X>" };
  });
  const { test } = RegExp.prototype;
  let reads = 0;
  RegExp.prototype.test = function (of) {
    reads++;
    return test.call(this, of);
  };
  let replaced: string | null;
  try {
    replaced = replaceInText(text, spans);
  } finally {
    RegExp.prototype.test = test;
  }
  assertEquals(replaced, `{"a": [${"<X>".repeat(1000)}`);
  assert(reads < 10 * text.length, `${reads} reads of ${text.length} characters`);
});
