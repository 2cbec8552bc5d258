/** AWS's binary event stream against AWS's own library: whole, cut at every byte, and with everything wrong that can be. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import type { Part } from "../../src/exchange/part.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { EventStreamReader } from "../../src/formats/wire/aws_event_stream.ts";
import type { Frame } from "../../src/formats/format.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { AnswerReader } from "../../src/pipeline/generation/answer_reader.ts";
import { AWS_EVENT_STREAM, BEDROCK_CHUNKS, type Framing } from "../../src/providers/apis/framing.ts";
import {
  binaryOf,
  chunkMessage,
  chunksOf,
  codec,
  errorMessage,
  eventMessage,
  exceptionMessage,
  joined,
} from "../support/event_stream.ts";
import { read, scenarios } from "../support/scenarios.ts";
import { assertLegal } from "./gemini/legal_parts.ts";

function framesOf(pieces: readonly Uint8Array[], limit?: number): Frame[] {
  const reader = new EventStreamReader(limit);
  const frames: Frame[] = [];
  for (const piece of pieces) reader.push(piece, frames);
  reader.end();
  return frames;
}

const HEADER = fc.oneof(
  fc.record({ type: fc.constant("string" as const), value: fc.string({ unit: "grapheme", maxLength: 50 }) }),
  fc.record({ type: fc.constant("boolean" as const), value: fc.boolean() }),
  fc.record({ type: fc.constant("byte" as const), value: fc.integer({ min: -128, max: 127 }) }),
  fc.record({ type: fc.constant("short" as const), value: fc.integer({ min: -32768, max: 32767 }) }),
  fc.record({ type: fc.constant("integer" as const), value: fc.integer() }),
  fc.record({ type: fc.constant("binary" as const), value: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({ type: fc.constant("timestamp" as const), value: fc.date({ noInvalidDate: true }) }),
  fc.record({ type: fc.constant("uuid" as const), value: fc.uuid() }),
);

Deno.test("EventStreamReader reads what AWS's library writes, wherever it is cut", () => {
  const one = fc.record({
    event: fc.string({ minLength: 1, maxLength: 30 }),
    headers: fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), HEADER, { maxKeys: 6 }),
    data: fc.string({ unit: "grapheme", maxLength: 400 }),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 5 }), fc.integer({ min: 1, max: 700 }), (list, size) => {
      const all = joined(list.map(({ event, headers, data }) =>
        new Uint8Array(codec.encode({
          headers: {
            ...headers as Record<string, never>,
            ":event-type": { type: "string", value: event },
            ":message-type": { type: "string", value: "event" },
          },
          body: new TextEncoder().encode(data),
        }))
      ));
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < all.length; at += size) pieces.push(all.slice(at, at + size));
      assertEquals(framesOf(pieces), list.map(({ event, data }) => ({ event, data })));
    }),
    { numRuns: 200 },
  );
});

/** Parts of a stream, and how it ended. */
function parts(format: keyof typeof PROVIDER_FORMATS, framing: Framing, pieces: readonly Uint8Array[]) {
  const reader = new AnswerReader(PROVIDER_FORMATS[format], framing);
  const out: Part[] = [];
  let failure: Failure | undefined;
  for (const piece of pieces) failure ??= reader.push(piece, out);
  failure ??= reader.end(out);
  return { parts: out, failure };
}

const STREAMS = scenarios().flatMap((scenario) => {
  const own = read(scenario, "converse.sse");
  const claude = read(scenario, "messages.sse");
  return [
    ...(own === null ? [] : [[scenario, "converse", AWS_EVENT_STREAM, binaryOf(own)] as const]),
    ...(claude === null ? [] : [[scenario, "messages", BEDROCK_CHUNKS, chunksOf(claude)] as const]),
  ];
});

for (const [scenario, format, framing, all] of STREAMS) {
  Deno.test(`${scenario}: ${format} in a binary stream gives the same parts wherever it is cut`, () => {
    const whole = parts(format, framing, [all]);
    assertEquals(whole.failure, undefined);
    assertLegal(whole.parts);
    const wanted = JSON.stringify(whole.parts);
    for (let at = 1; at < all.length; at++) {
      const split = parts(format, framing, [all.subarray(0, at), all.subarray(at)]);
      assertEquals(JSON.stringify(split.parts), wanted, `at ${at}`);
    }
    const bytes = parts(format, framing, [...all].map((byte) => Uint8Array.of(byte)));
    assertEquals(JSON.stringify(bytes.parts), wanted, "byte by byte");
  });

  Deno.test(`${scenario}: ${format} in a binary stream that ends early, or has a wrong byte, is a failure`, () => {
    const whole = parts(format, framing, [all]).parts;
    // Behind `messageStop` comes only what was used.
    const needed = format === "messages" ? all.length : all.length - lastMessage(all);
    for (let at = 0; at < needed; at++) {
      const cut = parts(format, framing, [all.subarray(0, at)]);
      assert(cut.failure, `whole after ${at} of ${all.length} bytes`);
      if (cut.parts.length > 0) assertLegal(cut.parts, { whole: false });
    }
    for (let at = 0; at < all.length; at++) {
      const wrong = all.slice();
      wrong[at] ^= 1 << (at % 8);
      const found = parts(format, framing, [wrong]);
      assertEquals(found.failure?.code, "provider_unavailable", `a wrong byte ${at}`);
      // Whatever was told before it is of the answer.
      assertEquals(found.parts, whole.slice(0, found.parts.length), `byte ${at}`);
    }
  });
}

function lastMessage(all: Uint8Array): number {
  const view = new DataView(all.buffer);
  let at = 0;
  for (;;) {
    const length = view.getUint32(at);
    if (at + length === all.length) return length;
    at += length;
  }
}

/** A message whose sums are right and whose lengths are the test's. */
function lying(total: number, headers: number, rest: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(12 + rest.length + 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, total);
  view.setUint32(4, headers);
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  bytes.set(rest, 12);
  view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, bytes.length - 4)));
  return bytes;
}

const LIES: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ["a total below the least", lying(8, 0), /headers|length/],
  ["a total of nothing", lying(0, 0), /headers|length/],
  ["headers longer than the message", lying(32, 17, new Uint8Array(16)), /headers/],
  ["headers over the limit", lying(200_000, 140_000), /headers/],
  ["a total of four gigabytes", lying(0xffffffff, 0), /over \d+ bytes/],
  ["a header that is cut off", lying(20, 4, Uint8Array.of(200, 97, 7, 0)), /cut off/],
  ["a header's value beyond the headers", lying(22, 6, Uint8Array.of(1, 97, 7, 255, 255, 65)), /cut off/],
  ["a header of an unknown type", lying(19, 3, Uint8Array.of(1, 97, 99)), /unknown type/],
];

for (const [lie, bytes, said] of LIES) {
  Deno.test(`EventStreamReader refuses ${lie}, in one piece and byte by byte`, () => {
    for (const pieces of [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))]) {
      const error = assertThrows(() => framesOf([eventMessage("a", "{}"), ...pieces]), Failure);
      assert(said.test(error.message), error.message);
      assertEquals(error.code, "provider_unavailable");
    }
  });
}

Deno.test("EventStreamReader keeps no more than came, whatever length a message says", () => {
  const reader = new EventStreamReader();
  const huge = lying(31 * 1024 * 1024, 0);
  const before = Deno.memoryUsage().external;
  reader.push(huge.subarray(0, 12), []);
  for (let i = 0; i < 100; i++) reader.push(new Uint8Array(1), []);
  assert(Deno.memoryUsage().external - before < 8 * 1024 * 1024);
  assertThrows(() => reader.end(), Failure, "ends inside a message");
});

Deno.test("EventStreamReader refuses an endless prelude, a message over its limit and bytes behind the last message", () => {
  assertThrows(() => framesOf([new Uint8Array(100_000)]), Failure, "wrong checksum");
  assertThrows(() => framesOf([eventMessage("a", "x".repeat(2000))], 1000), Failure, "over 1000 bytes");
  assertThrows(() => framesOf([eventMessage("a", "{}"), Uint8Array.of(0)]), Failure, "ends inside a message");
  assertThrows(
    () => framesOf([eventMessage("a", "{}"), Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9)]),
    Failure,
  );
  assertEquals(framesOf([]), []);
});

Deno.test("an exception within the stream is a failure by its meaning, behind the parts that came", () => {
  const begun = joined([
    eventMessage("messageStart", { role: "assistant" }),
    eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hel" } }),
  ]);
  const cases = [
    [
      exceptionMessage("throttlingException", "Too many tokens, please wait before trying again."),
      "provider_rate_limited",
    ],
    [
      exceptionMessage("modelStreamErrorException", "The system encountered an error."),
      "provider_unavailable",
    ],
    ...([
      [400, "provider_bad_request"],
      [413, "provider_payload_too_large"],
      [429, "provider_rate_limited"],
      [
        403,
        "provider_unavailable",
      ],
      [500, "provider_unavailable"],
      [529, "provider_model_down"],
    ] as const).map(([originalStatusCode, code]) =>
      [
        exceptionMessage("modelStreamErrorException", "The system encountered an error.", {
          originalStatusCode,
          originalMessage: "The model's server answered with an error.",
        }),
        code,
      ] as const
    ),
    [exceptionMessage("internalServerException", "Try your request again."), "provider_unavailable"],
    [
      exceptionMessage("serviceUnavailableException", "Bedrock is unable to process your request."),
      "provider_model_down",
    ],
    [
      exceptionMessage("modelTimeoutException", "Model has timed out in processing the request."),
      "provider_timeout",
    ],
    [
      exceptionMessage("validationException", "Input is too long for requested model."),
      "provider_payload_too_large",
    ],
    [exceptionMessage("validationException", "The format of a field is wrong."), "provider_bad_request"],
    [errorMessage("InternalError", "An internal server error occurred"), "provider_unavailable"],
  ] as const;
  for (const [message, code] of cases) {
    for (const pieces of [[joined([begun, message])], [begun, message]]) {
      const found = parts("converse", AWS_EVENT_STREAM, pieces);
      assertEquals(found.failure?.code, code, found.failure?.message);
      assertEquals(found.parts.map((p) => p.type), ["start", "text-start", "text-delta"]);
    }
    const start = chunkMessage({ type: "message_start", message: { id: "m", usage: {} } });
    assertEquals(parts("messages", BEDROCK_CHUNKS, [start, message]).failure?.code, code);
  }
});

Deno.test("a chunk that holds no event is a failure, and those before it are told", () => {
  const start = chunkMessage({ type: "message_start", message: { id: "m", usage: {} } });
  for (const payload of [{}, { bytes: 5 }, "no JSON", { bytes: btoa("no JSON") }]) {
    const found = parts("messages", BEDROCK_CHUNKS, [joined([start, eventMessage("chunk", payload)])]);
    assertEquals([found.parts.length, found.failure?.code], [1, "provider_unavailable"]);
  }
});

Deno.test("numbers beyond 2^53 in a call's arguments keep their digits in every mode", () => {
  const digits = "123456789012345678901234567890";
  const streamed = parts("converse", AWS_EVENT_STREAM, [joined([
    eventMessage("messageStart", { role: "assistant" }),
    eventMessage("contentBlockStart", {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: "t", name: "f" } },
    }),
    eventMessage("contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { toolUse: { input: `{"n":${digits}}` } },
    }),
    eventMessage("contentBlockStop", { contentBlockIndex: 0 }),
    eventMessage("messageStop", { stopReason: "tool_use" }),
  ])]).parts;
  const text = (list: readonly Part[]) =>
    list.flatMap((p) => p.type === "call-delta" ? [p.text] : []).join("");
  assertEquals(text(streamed), `{"n":${digits}}`);
});
