import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import { parse } from "../../src/exchange/json.ts";
import { decodeAnswer } from "../../src/formats/chat_completions/decode_answer.ts";
import { KnownAnswers } from "../../src/formats/chat_completions/read_answer.ts";
import { readRecordings } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";

/** What the parser makes of it; a text for what fails. */
function parsed(answer: string): unknown {
  try {
    return JSON.stringify(decodeAnswer(parse(answer, true)));
  } catch (thrown) {
    return Failure.from(thrown).message;
  }
}

function learnt(answer: string): KnownAnswers {
  const known = new KnownAnswers();
  learn(known, answer);
  return known;
}

function learn(known: KnownAnswers, answer: string): void {
  const value = parse(answer, true);
  known.learn(answer, value, decodeAnswer(value));
}

/** What it reads, as text; null: nothing. */
function read(known: KnownAnswers, answer: string): string | null {
  const parts = known.read(answer);
  return parts && JSON.stringify(parts);
}

const body = (content: string, usage = '{"prompt_tokens":25,"completion_tokens":32,"total_tokens":57}') =>
  `{"id":"chatcmpl-1","object":"chat.completion","created":1763700000,"model":"m","choices":[{"index":0,` +
  `"message":{"role":"assistant","content":${content},"refusal":null,"annotations":[]},"logprobs":null,` +
  `"finish_reason":"stop"}],"usage":${usage},"service_tier":"default","system_fingerprint":"fp_1"}`;

const usage = (prompt: string, completion: string, reasoning: string) =>
  `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":57,` +
  `"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":${reasoning}}}`;

Deno.test("KnownAnswers.read() reads another text, id, time and counts as the parser does", () => {
  const known = learnt(body('"one"', usage("25", "32", "0")));
  for (
    const text of ["two", "line\nbreak", 'a "quote" \\ 😀', "мир", '","usage":{"prompt_tokens":1}', "\ud800"]
  ) {
    const answer = body(JSON.stringify(text), usage("7", "8", "5")).replace("mpl-1", "mpl-22").replace(
      "00,",
      "1,",
    );
    assertEquals(read(known, answer), parsed(answer));
    assert(read(known, answer) !== null, text);
  }
  const nested = (hour: string) =>
    `{"prompt_tokens":25,"completion_tokens":32,"total_tokens":57,"prompt_tokens_details":{"cached_tokens":1,` +
    `"cache_write_tokens":9,"cache_creation_token_details":{"ephemeral_1h_input_tokens":${hour}}}}`;
  const hours = learnt(body('"one"', nested("3")));
  const answer = body('"two"', nested("8"));
  assertEquals(read(hours, answer), parsed(answer));
  assert(read(hours, answer)!.includes('"cacheWrite1h":8'));
  // Counts that no call has: the report says nothing then.
  const none = body('"two"', usage("0", "0", "0").replace("57", "0"));
  assertEquals(read(known, none), parsed(none));
  assert(!read(known, none)!.includes("usage"));
});

Deno.test("KnownAnswers.read() leaves every other answer to the parser", () => {
  const one = body('"one"', usage("25", "32", "0"));
  const known = learnt(one);
  const others = [
    body('""', usage("25", "32", "0")),
    body("null", usage("25", "32", "0")),
    body('"a\nb"', usage("25", "32", "0")),
    body('"\\x"', usage("25", "32", "0")),
    body('"a', usage("25", "32", "0")),
    ...["-1", "1.5", "01", "1e3", "1234567890123456", '"7"', "null", "", " 7", "7 ", "{}"].map((count) =>
      body('"two"', usage(count, "32", "0"))
    ),
    one + " ",
    " " + one,
    "\ufeff" + one,
    one.slice(0, -1),
    one.replace('"stop"', '"length"'),
    one.replace('"index":0', '"index":1'),
    one.replace('"usage"', '"error":{"message":"no"},"usage"'),
    one.replace('"usage"', '"choices":[],"usage"'),
    one.replace("chatcmpl-1", "chat\\u0063mpl"),
    one.replace("fp_1", "fp_2"),
    "",
    "{}",
    `[${one}]`,
  ];
  for (const other of others) assertEquals(known.read(other), null, other);
  assertEquals(read(known, one), parsed(one));
});

Deno.test("KnownAnswers learns no answer of which more than the text and the counts is told", () => {
  const one = body('"one"');
  for (
    const other of [
      body('""'),
      body("null"),
      one.replace('"refusal":null', '"refusal":"no"'),
      one.replace('"refusal":null', '"reasoning_content":"why"'),
      one.replace(
        '"refusal":null',
        '"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]',
      ),
      one.replace(
        '"annotations":[]',
        '"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.test"}}]',
      ),
      one.replace('"finish_reason"', '"content_filter_results":{"hate":{"filtered":false}},"finish_reason"'),
      one.replace('"usage":', '"usage":{"prompt_tokens":1},"usage":'),
      one.replace('"content":"one"', '"content":"one","content":"two"'),
      one.replace('"content":', '"c\\u006fntent":'),
      one.replace('"prompt_tokens":25', '"prompt_tokens":"many"'),
      one.replace("}],", '},{"index":1,"message":{"content":"two"},"finish_reason":"stop"}],'),
      one.replace("fp_1", "f".repeat(9000)),
    ]
  ) {
    assertEquals(learnt(other).read(other), null, other);
  }
});

Deno.test("KnownAnswers.read() bills what a number that would be rounded says, whatever other counts hid when it was learnt", () => {
  const counts = (cached: number, reasoning: number) =>
    `{"prompt_tokens":25,"completion_tokens":32,"total_tokens":57,"prompt_tokens_details":{"cached_tokens":${cached}},` +
    `"cached_tokens":12345678901234567890,"reasoning_tokens":1e400,` +
    `"completion_tokens_details":{"reasoning_tokens":${reasoning}}}`;
  const known = learnt(body('"one"', counts(5, 6)));
  for (const [cached, reasoning] of [[0, 6], [5, 0], [0, 0]]) {
    const answer = body('"two"', counts(cached, reasoning));
    assertEquals(read(known, answer), parsed(answer));
  }
});

Deno.test("KnownAnswers takes nothing for the text that only has a name like the way to it", () => {
  const answer = (text: string) =>
    `{"model":"m","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}],` +
    `"choices,0":{"message":{"content":"${text}"}},"usage":{"prompt_tokens":25,"completion_tokens":32}}`;
  assertEquals(learnt(answer("one")).read(answer("two")), null);
});

Deno.test("KnownAnswers.read() finds where a text ends that says what stands behind it", () => {
  const [, behind] = body('"|"').split("|");
  const known = learnt(body('"one"'));
  for (const text of [behind, behind.repeat(3), `${behind}\\`, '"', "\\", '\\"', `a${behind.slice(0, 20)}`]) {
    const answer = body(JSON.stringify(text));
    assertEquals(read(known, answer), parsed(answer));
  }
  for (const inner of ["\\", `a${behind}`, `a","refusal":null}},{"index":1,"message":{"content":"b`]) {
    const answer = body(`"${inner}"`);
    assertEquals(known.read(answer), null, answer);
  }
});

Deno.test("KnownAnswers.read() leaves a long answer to the parser, which is as quick", () => {
  const known = learnt(body('"one"'));
  assert(known.read(body(`"${"a".repeat(60_000)}"`)) !== null);
  assertEquals(known.read(body(`"${"a".repeat(70_000)}"`)), null);
});

Deno.test("KnownAnswers knows several kinds of answers at a time, and gives back parts that nothing else has", () => {
  const known = new KnownAnswers();
  const kinds = ["stop", "length", "content_filter"].map((reason) => body('"one"').replace("stop", reason));
  for (const kind of kinds) learn(known, kind);
  for (let i = 0; i < 9; i++) {
    const answer = kinds[i % 3].replace('"one"', `"${i}"`);
    assertEquals(read(known, answer), parsed(answer));
    for (const part of known.read(answer)!) {
      if (part.type === "start") part.extra!.fields.service_tier = "changed";
      if (part.type === "usage") part.usage.input = -1;
      if (part.type === "finish") part.reason = "pause";
    }
  }
});

Deno.test("KnownAnswers learns few where no answer is like another", () => {
  const known = new KnownAnswers();
  const other = (i: number) => body('"one"').replace("fp_1", `fp_${"x".repeat(i)}`);
  let read = 0;
  for (let i = 0; i < 400; i++) {
    learn(known, other(i));
    if (known.read(other(i)) !== null) read++;
  }
  assert(read > 0 && read < 60, String(read));
});

Deno.test("KnownAnswers.read() says nothing that the parser does not say, of answers changed at random", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", '"', "\\", "\n", "}", ":", "content", "é", "мир", " ", "1234567890123456789"),
    maxLength: 6,
  });
  const count = fc.oneof(fc.nat(), fc.nat(3), fc.maxSafeInteger());
  const piece = fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "{",
    "}",
    ",",
    ":",
    '"content":"',
    "\n",
    "x",
    "",
    "0",
    "1",
    ".",
    "-",
  );
  let alike = 0;
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(count, { minLength: 3, maxLength: 3 }),
      fc.option(piece),
      fc.nat(),
      fc.nat(3),
      (one, two, counts, piece, at, cut) => {
        const [prompt, completion, reasoning] = counts.map(String);
        let second = body(JSON.stringify(two), usage(prompt, completion, reasoning));
        if (piece !== null) {
          const place = at % second.length;
          second = second.slice(0, place) + piece + second.slice(place + cut);
        }
        const said = read(learnt(body(JSON.stringify(one), usage("25", "32", "0"))), second);
        if (said === null) return;
        alike++;
        assertEquals(said, parsed(second));
      },
    ),
    { numRuns: 5_000 },
  );
  assert(alike > 100, String(alike));
});

sharedTest("corpus/", "KnownAnswers.read() reads recorded answers, changed, as the parser does", () => {
  let alike = 0;
  for (const { id, response } of readRecordings<{ id: string; response: unknown }>("chat")) {
    if (typeof response !== "object" || response === null) continue;
    const answer = JSON.stringify(response);
    let value: unknown;
    const known = new KnownAnswers();
    try {
      value = parse(answer, true);
      known.learn(answer, value, decodeAnswer(value));
    } catch {
      continue;
    }
    const numbered = answer.replaceAll(/:(\d+)([,}])/g, (_, digits, end) => `:${Number(digits) + 3}${end}`);
    const reworded = answer.replaceAll(/"content":"/g, '"content":"Another text, \\"longer\\". ');
    for (const other of [answer, numbered, reworded]) {
      const said = read(known, other);
      if (said === null) continue;
      alike++;
      assertEquals(said, parsed(other), id);
    }
  }
  assert(alike > 20, String(alike));
});
