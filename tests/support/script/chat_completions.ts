/** Chat-completions as OpenRouter speaks it for Claude: reasoning twice, in `reasoning` and in `reasoning_details`. */
import { type Loose, objects, pieces, type Said, textOf } from "./shape.ts";

const USAGE = {
  prompt_tokens: 43,
  completion_tokens: 36,
  total_tokens: 79,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 12, image_tokens: 0 },
};

function detail(fields: Loose): Loose {
  return { type: "reasoning.text", ...fields, format: "anthropic-claude-v1", index: 0 };
}

function finishReason(said: Said): string {
  return said.calls ? "tool_calls" : said.cut ? "length" : "stop";
}

export function whole(said: Said, turn: number): Loose {
  const message: Loose = { role: "assistant", content: said.text ?? null, refusal: null };
  if (said.reasoning) {
    message.reasoning = said.reasoning.text;
    message.reasoning_details = [detail({ text: said.reasoning.text, signature: said.reasoning.proof })];
  }
  if (said.calls) {
    message.tool_calls = said.calls.map((c, index) => ({
      index,
      id: c.id,
      type: "function",
      function: { name: c.name, arguments: JSON.stringify(c.input) },
    }));
  }
  return {
    id: `gen-1765226419-${turn}`,
    object: "chat.completion",
    created: 1765226419,
    model: "vendor/model-1",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(said) }],
    usage: USAGE,
  };
}

export function frames(said: Said, turn: number): string[] {
  const out: string[] = [": OPENROUTER PROCESSING\n\n"];
  const chunk = (delta: Loose, finish_reason: string | null = null, more: Loose = {}) => {
    out.push(
      `data: ${
        JSON.stringify({
          id: `gen-1765226419-${turn}`,
          object: "chat.completion.chunk",
          created: 1765226419,
          model: "vendor/model-1",
          choices: [{ index: 0, delta, finish_reason, logprobs: null }],
          ...more,
        })
      }\n\n`,
    );
  };
  chunk({ role: "assistant", content: "" });
  if (said.reasoning) {
    for (const text of pieces(said.reasoning.text)) {
      chunk({ content: "", reasoning: text, reasoning_details: [detail({ text })] });
    }
    chunk({ content: "", reasoning: null, reasoning_details: [detail({ signature: said.reasoning.proof })] });
  }
  for (const text of pieces(said.text ?? "")) chunk({ content: text });
  said.calls?.forEach((c, index) => {
    chunk({ tool_calls: [{ index, id: c.id, type: "function", function: { name: c.name, arguments: "" } }] });
    for (const piece of pieces(JSON.stringify(c.input))) {
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  if (said.failsWith !== undefined) {
    out.push(
      `data: ${JSON.stringify({ error: { message: said.failsWith, type: "server_error", code: 500 } })}\n\n`,
    );
    return out;
  }
  chunk({}, finishReason(said));
  chunk({ content: "" }, null, { usage: USAGE });
  out.push("data: [DONE]\n\n");
  return out;
}

export function proofs(body: Loose): string[] {
  return objects(body.messages).flatMap((m) => objects(m.reasoning_details).map((d) => String(d.signature)));
}

export function results(body: Loose): string[] {
  return objects(body.messages).filter((m) => m.role === "tool").map((m) => textOf(m.content));
}
