/** How far hidden thinking is: callers who ask for it (`thinking-token-count` of `anthropic-beta`) get it while it comes. */
import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { answering, encodeWhole } from "./support.ts";

const thought = (thinking: string, estimated_tokens: number | null) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "thinking_delta", thinking, estimated_tokens },
});

const start = (index: number, content_block: Loose) => ({
  type: "content_block_start",
  index,
  content_block,
});
const stop = (index: number) => ({ type: "content_block_stop", index });

const ESTIMATES = [thought("", 50), thought("", null), thought("", 50), thought("", 100)];

const EVENTS = [
  { type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 1, output_tokens: 1 } } },
  start(0, { type: "thinking", thinking: "", signature: "" }),
  ...ESTIMATES,
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "SIG" } },
  stop(0),
  start(1, { type: "text", text: "" }),
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hi" } },
  stop(1),
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 210 } },
  { type: "message_stop" },
];

function parts(): Part[] {
  const decoder = messages.decodeStream();
  const out: Part[] = [];
  for (const event of EVENTS) decoder.push({ event: event.type, data: JSON.stringify(event) }, out);
  decoder.end(out);
  return out;
}

/** The data of a caller's stream. */
function eventsOf(caller: "messages" | "chat_completions" | "responses"): Loose[] {
  const encoder = CALLER_FORMATS[caller].encodeStream(answering());
  const text = parts().map((part) => encoder.encode([part])).join("") + encoder.end();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data));
}

Deno.test("messages: estimates of hidden thinking reach callers of the format, each as it came", () => {
  const events = eventsOf("messages");
  const deltas = events.filter(({ type, index }) => type === "content_block_delta" && index === 0);
  assertEquals(deltas, [
    ...ESTIMATES.filter(({ delta }) => delta.estimated_tokens !== null),
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "SIG" } },
  ]);
  assertEquals(events.filter(({ type }) => type === "content_block_start").length, 2);
});

Deno.test("messages: estimates of hidden thinking are no text of it", () => {
  const [thinking] = encodeWhole(parts()).content as Loose[];
  assertEquals(thinking, { type: "thinking", thinking: "", signature: "SIG" });
  const [reasoning] = collect(parts()).choices[0].blocks;
  assertEquals(reasoning.type === "reasoning" && reasoning.sections, []);
  const types = eventsOf("responses").map(({ type }) => String(type)).filter((type) =>
    type.includes("reasoning")
  );
  assertEquals(types, []);
  const said = eventsOf("chat_completions").flatMap(({ choices }) => choices as Loose[]).map(({ delta }) =>
    delta
  );
  assertEquals(said.filter((delta) => "reasoning_content" in (delta as Loose)), []);
});
