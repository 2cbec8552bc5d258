/** Fields of messages that only one vendor has: a caller of this format gets them where they were. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { EncodeAnswer } from "../../../src/formats/format.ts";
import { messages } from "../../../src/formats/messages/mod.ts";

const REQUEST = { model: "acme/one", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
const CONTEXT: EncodeAnswer = {
  id: "gen_1",
  created: 1,
  model: () => "acme/one",
  prompt: messages.decodeRequest(REQUEST, { unseal: () => null, headers: () => ({}) }),
  seal: () => "",
};
const MESSAGE = {
  id: "msg_0",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2, cost: 0.5 },
};
const BESIDE = { base_resp: { status_code: 0 }, trace_id: "t", empty: null };

Deno.test("unknown fields of a whole message reach a caller of the format", () => {
  const body = { ...MESSAGE, ...BESIDE, details: { dlp: [], findings_count: 1 }, stop_note: "n" };
  const answer = messages.encodeAnswer(collect(messages.decodeAnswer(body)), CONTEXT);
  assertEquals(answer.base_resp, BESIDE.base_resp);
  assertEquals(answer.trace_id, "t");
  assertEquals(answer.stop_note, "n");
  assertEquals(answer.id, "msg_1");
  assert(!("details" in answer) && !("empty" in answer) && !JSON.stringify(answer.usage).includes("cost"));
});

Deno.test("unknown fields of a streamed message are in the events in which they came", () => {
  const events: Loose[] = [
    { type: "message_start", message: { ...MESSAGE, ...BESIDE, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi", tone: "calm" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null, stop_note: "n" },
      usage: { output_tokens: 2 },
      context_management: { applied_edits: [] },
      timing: { ms: 5 },
    },
    { type: "message_stop" },
  ];
  const decoder = messages.decodeStream();
  const out: Part[] = [];
  for (const event of events) decoder.push({ event: String(event.type), data: JSON.stringify(event) }, out);
  decoder.end(out);
  const encoder = messages.encodeStream(CONTEXT);
  const sse = encoder.encode(out) + encoder.end();
  const read = [...sse.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
  const [start] = read;
  assertEquals(start.message.base_resp, BESIDE.base_resp);
  assertEquals(start.message.trace_id, "t");
  assertEquals(read.find(({ type }) => type === "content_block_start").content_block.tone, "calm");
  const end = read.find(({ type }) => type === "message_delta");
  assertEquals(end.delta.stop_note, "n");
  assertEquals(end.timing, { ms: 5 });
  assertEquals(end.context_management, { applied_edits: [] });
});
