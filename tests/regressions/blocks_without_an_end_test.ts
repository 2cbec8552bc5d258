/**
 * A server of the messages API that sends no `content_block_stop`: everything behind its first block waited for the end of
 * the answer, and the signature of thinking came after the call that needs it.
 */
import { assertEquals } from "@std/assert";
import { decodeStream } from "../../src/formats/messages/decode_stream.ts";
import type { Part } from "../../src/exchange/part.ts";

const EVENTS = [
  {
    type: "message_start",
    message: { id: "m", model: "m", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm" } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "SIG" } },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "I look." } },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "t1", name: "look", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"a":' } },
  {
    type: "content_block_start",
    index: 3,
    content_block: { type: "tool_use", id: "t2", name: "look", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "1}" } },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

Deno.test("a text or reasoning of the messages API ends where the next block starts, a call does not", () => {
  const parts: Part[] = [];
  const decoder = decodeStream();
  for (const event of EVENTS) decoder.push({ event: event.type, data: JSON.stringify(event) }, parts);
  decoder.end(parts);
  assertEquals(parts.map((part) => "block" in part ? `${part.type} ${part.block}` : part.type), [
    "start",
    "reasoning-start 0",
    "reasoning-delta 0",
    "reasoning-end 0",
    "text-start 1",
    "text-delta 1",
    "text-end 1",
    "call-start 2",
    "call-delta 2",
    "call-start 3",
    "call-delta 2",
    "call-end 2",
    "call-end 3",
    "usage",
    "finish",
  ]);
});

Deno.test("an event of the messages API without an index belongs to the block that started last", () => {
  const parts: Part[] = [];
  const decoder = decodeStream();
  const calls = [{ index: 0 }, { index: "1" }].map(({ index }, i) => [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${i}`, name: "look", input: {} },
    },
    {
      type: "content_block_delta",
      ...(i === 1 && { index: 1 }),
      delta: { type: "input_json_delta", partial_json: "{}" },
    },
    { type: "content_block_stop" },
  ]);
  for (const event of [EVENTS[0], ...calls.flat(), ...EVENTS.slice(-2)]) {
    decoder.push({ event: event.type, data: JSON.stringify(event) }, parts);
  }
  decoder.end(parts);
  assertEquals(parts.map((part) => "block" in part ? `${part.type} ${part.block}` : part.type), [
    "start",
    "call-start 0",
    "call-delta 0",
    "call-end 0",
    "call-start 1",
    "call-delta 1",
    "call-end 1",
    "usage",
    "finish",
  ]);
});
