/** Messages as Claude answers with thinking on. */
import { type Loose, objects, pieces, type Said, textOf } from "./shape.ts";

const USAGE = {
  input_tokens: 424,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 95,
  service_tier: "standard",
};

function stopReason(said: Said): string {
  return said.calls ? "tool_use" : said.cut ? "max_tokens" : "end_turn";
}

function message(turn: number, fields: Loose): Loose {
  return {
    model: "claude-sonnet-4-5-20250929",
    id: `msg_01Script${turn}`,
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...fields,
  };
}

export function whole(said: Said, turn: number): Loose {
  const content: Loose[] = [];
  if (said.reasoning) {
    content.push({ type: "thinking", thinking: said.reasoning.text, signature: said.reasoning.proof });
  }
  if (said.text !== undefined) content.push({ type: "text", text: said.text });
  for (const c of said.calls ?? []) {
    content.push({ type: "tool_use", id: c.id, name: c.name, input: c.input, caller: { type: "direct" } });
  }
  return message(turn, { content, stop_reason: stopReason(said), usage: USAGE });
}

export function frames(said: Said, turn: number): string[] {
  const out: string[] = [];
  const event = (type: string, fields: Loose = {}) => {
    out.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  event("message_start", { message: message(turn, { usage: { ...USAGE, output_tokens: 5 } }) });
  let index = 0;
  const block = (content_block: Loose, deltas: readonly Loose[]) => {
    event("content_block_start", { index, content_block });
    if (index === 0) event("ping");
    for (const delta of deltas) event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
    index++;
  };
  if (said.reasoning) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...pieces(said.reasoning.text).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: said.reasoning.proof },
    ]);
  }
  if (said.text !== undefined) {
    block({ type: "text", text: "" }, pieces(said.text).map((text) => ({ type: "text_delta", text })));
  }
  for (const c of said.calls ?? []) {
    block(
      { type: "tool_use", id: c.id, name: c.name, input: {}, caller: { type: "direct" } },
      ["", ...pieces(JSON.stringify(c.input))].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    );
  }
  if (said.failsWith !== undefined) {
    event("error", { error: { type: "api_error", message: said.failsWith } });
    return out;
  }
  event("message_delta", {
    delta: { stop_reason: stopReason(said), stop_sequence: null },
    usage: { ...USAGE },
  });
  event("message_stop");
  return out;
}

export function proofs(body: Loose): string[] {
  return blocks(body).filter((b) => b.type === "thinking").map((b) => String(b.signature));
}

export function results(body: Loose): string[] {
  return blocks(body).filter((b) => b.type === "tool_result").map((b) => textOf(b.content));
}

function blocks(body: Loose): Loose[] {
  return objects(body.messages).flatMap((m) => objects(m.content));
}
