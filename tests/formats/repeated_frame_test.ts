import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import type { Frame, ProviderFormat } from "../../src/formats/format.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { RepeatedFrame } from "../../src/formats/wire/repeated_frame.ts";
import { FrameReader } from "../../src/formats/wire/sse.ts";
import { AnswerReader } from "../../src/pipeline/generation/answer_reader.ts";
import { readRecordings } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";

const encoder = new TextEncoder();

const frame = (data: string, event = ""): Frame => ({ event, data });

function learnt(data: string, field = "content"): RepeatedFrame {
  const repeated = new RepeatedFrame();
  repeated.learn(frame(data), field);
  return repeated;
}

const chunk = (text: string, more = "") =>
  `{"id":"c","choices":[{"index":0,"delta":{"content":${text}},"finish_reason":null}],"usage":null${more}}`;

Deno.test("RepeatedFrame.textOf() reads the text of a frame that differs in it alone, whatever the text is", () => {
  const repeated = learnt(chunk('"one"'));
  for (
    const text of ["", " two", "line\nbreak", 'a "quote" \\ 😀', "мир", "}]}", '"content":"', "\u2028\ud800"]
  ) {
    assertEquals(repeated.textOf(frame(chunk(JSON.stringify(text)))), text);
  }
  assertEquals(repeated.textOf(frame(chunk('"\\u00e9\\/"'))), "é/");
});

Deno.test("RepeatedFrame.textOf() passes over padding, of whichever length", () => {
  const repeated = learnt(chunk('"one"', ',"obfuscation":"aX3"'));
  assertEquals(repeated.textOf(frame(chunk('" two"', ',"obfuscation":""'))), " two");
  assertEquals(repeated.textOf(frame(chunk('"\\n"', ',"obfuscation":"7hgTfRe"'))), "\n");
  assertEquals(repeated.textOf(frame(chunk('"x"', ',"obfuscation":"a","error":{"message":"b"}'))), null);
});

Deno.test("RepeatedFrame.textOf() leaves every other frame to the parser, and all that come after it", () => {
  const others = [
    chunk('"two"').replace('"index":0', '"index":1'),
    chunk('"two"').replace("null", '"stop"'),
    chunk('"two"') + " ",
    chunk('"two"').slice(0, -1),
    chunk("null"),
    chunk('"two","role":"x"'),
    chunk('"two\\"'),
    chunk('"two\nthree"'),
    chunk('"\\x"'),
    chunk('"a"b"'),
    chunk('"\\u12"'),
    '{"id":"c"}',
    "[DONE]",
    "",
  ];
  for (const other of others) {
    const repeated = learnt(chunk('"one"'));
    assertEquals(repeated.textOf(frame(other)), null, other);
    assertEquals(repeated.textOf(frame(chunk('"three"'))), null, other);
  }
  const named = learnt(chunk('"one"'));
  assertEquals(named.textOf(frame(chunk('"two"'), "error")), null);
  const parsed = learnt(chunk('"one"'));
  assertEquals(parsed.textOf({ ...frame(chunk('"two"')), value: {} }), null);
});

Deno.test("RepeatedFrame.knows() reads the bytes of a frame that came twice, with texts that have no escapes", () => {
  const repeated = learnt(chunk('"one"', ',"obfuscation":"a"'));
  const bytes = (text: string, padding = "bc") =>
    encoder.encode(`data: ${chunk(JSON.stringify(text), `,"obfuscation":"${padding}"`)}\n\n`);
  assertEquals(repeated.knows(bytes("two"), 0), false);
  repeated.textOf(frame(chunk('"two"', ',"obfuscation":""')));
  for (const text of ["", "two", " ünïcödé 🙂", "\ufeffmark", "x".repeat(100), "{}],"]) {
    const two = encoder.encode("....");
    assertEquals(repeated.knows(new Uint8Array([...two, ...bytes(text), ...bytes("")]), two.length), true);
    assertEquals([repeated.text, repeated.end], [text, two.length + bytes(text).length]);
  }
  for (const text of ["line\nbreak", '"', "\\", "\t"]) assertEquals(repeated.knows(bytes(text), 0), false);
  for (let cut = 0; cut < bytes("two").length; cut++) {
    assertEquals(repeated.knows(bytes("two").subarray(0, cut), 0), false);
  }
  repeated.textOf(frame("{}"));
  assertEquals(repeated.knows(bytes("two"), 0), false);
});

Deno.test("RepeatedFrame.knows() is asked in vain only so often", () => {
  const repeated = learnt(chunk('"one"'));
  const bytes = encoder.encode(`data: ${chunk('"two"')}\n\n`);
  for (let i = 0; i < 16; i++) repeated.textOf(frame(chunk('"two"')));
  assertEquals(repeated.knows(bytes, 0), true);
  for (let i = 0; i < 17; i++) repeated.textOf(frame(chunk('"two"')));
  assertEquals(repeated.knows(bytes, 0), false);
});

Deno.test("RepeatedFrame learns no frame of which it cannot tell where the text is", () => {
  for (
    const data of [
      // The field is there twice, or under a name with an escape, or inside of another name.
      '{"content":"a","delta":{"content":"b"}}',
      '{"content":"a","x":{"c\\u006fntent":"b"}}',
      '{"x\\"content":"a"}',
      '{"content":{"text":"a"}}',
      '{"content" :"a"}',
    ]
  ) assertEquals(learnt(data).textOf(frame(data)), null, data);
});

Deno.test("RepeatedFrame learns no more where each frame is another", () => {
  const repeated = new RepeatedFrame();
  for (let i = 0; i < 100; i++) {
    const data = chunk(`"${i}"`).replace('"c"', `"c${i}"`);
    repeated.textOf(frame(data));
    repeated.learn(frame(data), "content");
  }
  assertEquals(repeated.textOf(frame(chunk('"b"').replace('"c"', '"c99"'))), null);
  const useful = new RepeatedFrame();
  for (let i = 0; i < 100; i++) {
    const data = chunk(`"${i}"`).replace('"c"', `"c${i}"`);
    useful.learn(frame(data), "content");
    assertEquals(useful.textOf(frame(data)), String(i));
  }
});

/** The value with what may differ left out. */
function masked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value),
    (key, inner) => (key === "content" || key === "obfuscation") && typeof inner === "string" ? 0 : inner,
  );
}

Deno.test("RepeatedFrame.textOf() says nothing that the parser does not say, of frames changed at random", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", '"', "\\", "\n", "}", ":", "content", "é", "мир", " "),
    maxLength: 6,
  });
  const pieces = fc.constantFrom(
    '"',
    "\\",
    '\\"',
    "{",
    "}",
    ",",
    ":",
    '"content":"',
    '"obfuscation":"',
    "\n",
    "x",
    "",
  );
  let repeats = 0;
  let known = 0;
  fc.assert(
    fc.property(
      // Of a frame with an escape nothing is learnt.
      fc.oneof(fc.constant("one"), text),
      text,
      fc.option(text),
      fc.option(pieces),
      fc.nat(),
      fc.nat(3),
      (one, two, padding, piece, at, cut) => {
        const more = padding === null ? "" : `,"obfuscation":${JSON.stringify(padding)}`;
        const first = chunk(JSON.stringify(one), padding === null ? "" : ',"obfuscation":"abc"');
        let second = chunk(JSON.stringify(two), more);
        if (piece !== null) {
          const place = at % second.length;
          second = second.slice(0, place) + piece + second.slice(place + cut);
        }
        const said = learnt(first).textOf(frame(second));
        const bytes = encoder.encode(`data: ${second}\n\n`);
        const repeated = learnt(first);
        repeated.textOf(frame(first));
        if (repeated.knows(bytes, 0)) {
          known++;
          assertEquals([repeated.text, repeated.end], [said, bytes.length]);
        }
        if (said === null) return;
        repeats++;
        const value = JSON.parse(second);
        assertEquals(value.choices[0].delta.content, said);
        assertEquals(masked(value), masked(JSON.parse(first)));
      },
    ),
    { numRuns: 20_000 },
  );
  assert(repeats > 200 && known > 100, `${repeats} ${known}`);
});

/** Parts of a stream, and whether it failed. */
function decode(format: ProviderFormat, sse: string): unknown[] {
  const frames: Frame[] = [];
  const reader = new FrameReader();
  reader.push(new TextEncoder().encode(sse), frames);
  reader.end(frames);
  const decoder = format.decodeStream();
  const out: Part[] = [];
  try {
    for (const each of frames) decoder.push(each, out);
    decoder.end(out);
  } catch (thrown) {
    return [...out, Failure.from(thrown).message];
  }
  return out;
}

/** The same stream, no frame of which begins as the one before it. */
function eachAnother(sse: string): string {
  let frames = 0;
  return sse.replaceAll(/^data: ?\{/gm, () => `data: {${" ".repeat(1 + ++frames % 7)}`);
}

for (const [name, format] of [["chat", chatCompletions], ["msgs", messages]] as const) {
  sharedTest(
    "corpus/",
    `${format.name}: recordings give the same parts where no frame repeats another`,
    () => {
      let streams = 0;
      for (const { id, sse } of readRecordings<{ id: string; sse: string | null }>(name)) {
        if (sse === null) continue;
        streams++;
        assertEquals(decode(format, sse), decode(format, eachAnother(sse)), id);
      }
      assert(streams > 20);
    },
  );
}

sharedTest("corpus/", "recordings give the same parts however their bytes are cut", () => {
  let streams = 0;
  let seed = 1;
  const random = (below: number) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) % below;
  for (const { id, sse } of readRecordings<{ id: string; sse: string | null }>("chat")) {
    if (sse === null) continue;
    streams++;
    const expected = decode(chatCompletions, sse);
    const frames = sse.split(/(?<=\n\n)/);
    const twos = frames.flatMap((_, i) => i % 2 === 0 ? [frames.slice(i, i + 2).join("")] : []);
    const bytes = encoder.encode(sse);
    const cuts: Uint8Array[] = [];
    for (let at = 0, to = 0; at < bytes.length; at = to) {
      cuts.push(bytes.slice(at, to = at + 1 + random(700)));
    }
    for (
      const pieces of [
        frames.map((one) => encoder.encode(one)),
        twos.map((one) => encoder.encode(one)),
        cuts,
      ]
    ) {
      const reader = new AnswerReader(chatCompletions);
      const out: Part[] = [];
      let failure: Failure | undefined;
      for (const piece of pieces) failure ??= reader.push(piece, out);
      failure ??= reader.end(out);
      assertEquals(failure === undefined ? out : [...out, failure.message], expected, id);
    }
  }
  assert(streams > 20);
});

Deno.test("a stream of words is parsed once, where the frames are alike", () => {
  const parse = JSON.parse;
  const words = Array.from({ length: 200 }, (_, i) => ` word${i}`);
  const streams: [ProviderFormat, string[]][] = [
    [
      chatCompletions,
      words.map((word, i) => chunk(JSON.stringify(word), `,"obfuscation":"${"x".repeat(i % 9)}"`)),
    ],
    [
      chatCompletions,
      words.map((word) => chunk("null").replace("null", `null,"reasoning_content":${JSON.stringify(word)}`)),
    ],
    [messages, [
      '{"type":"message_start","message":{"id":"m","model":"m","usage":{}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      ...words.map((word) =>
        `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${
          JSON.stringify(word)
        }}}`
      ),
    ]],
  ];
  for (const [format, frames] of streams) {
    const decoder = format.decodeStream();
    const out: Part[] = [];
    let parsed = 0;
    JSON.parse = (text: string) => (parsed++, parse(text));
    try {
      for (const data of frames) decoder.push(frame(data), out);
    } finally {
      JSON.parse = parse;
    }
    assertEquals(
      out.flatMap((part) => part.type.endsWith("-delta") && "text" in part ? [part.text] : []),
      words,
    );
    assert(parsed < 6, `${format.name}: ${parsed}`);
  }
});

Deno.test("a broken frame among repeated ones is a failure", () => {
  const decoder = chatCompletions.decodeStream();
  const out: Part[] = [];
  for (const text of ['"a"', '"b"', '"c"']) decoder.push(frame(chunk(text)), out);
  assertThrows(() => decoder.push(frame(chunk('"d"e"')), out), Failure);
});

Deno.test("an event whose JSON goes on in a line that is no data is a failure among events that have it in two lines of data", () => {
  const lines = (text: string, field: string) =>
    `data: {"id":"c",\n${field}"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
  const reader = new AnswerReader(chatCompletions);
  const out: Part[] = [];
  for (const text of ["a", "b", "c", "d"]) {
    assertEquals(reader.push(encoder.encode(lines(text, "data: ")), out), undefined);
  }
  const told = out.flatMap((part) => part.type === "text-delta" ? [part.text] : []);
  assertEquals(told, ["a", "b", "c", "d"]);
  assert(reader.push(encoder.encode(lines("e", "")), out) instanceof Failure);
});
