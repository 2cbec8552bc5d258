import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { textsOf } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
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
  // Half of an escape would be left.
  assertEquals(mask('{"a":"x\\n4111"}', "n4111"), null);
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
