/** Converse as Claude answers at Amazon Bedrock with thinking on: a stream of binary messages. */
import { eventMessage, exceptionMessage } from "../event_stream.ts";
import { type Loose, objects, pieces, type Said, textOf } from "./shape.ts";

const USAGE = {
  inputTokens: 424,
  outputTokens: 95,
  totalTokens: 519,
  cacheReadInputTokens: 0,
  cacheWriteInputTokens: 0,
};
const METRICS = { latencyMs: 1432 };

function stopReason(said: Said): string {
  return said.calls ? "tool_use" : said.cut ? "max_tokens" : "end_turn";
}

function content(said: Said): Loose[] {
  const out: Loose[] = [];
  if (said.reasoning) {
    const { text, proof } = said.reasoning;
    out.push({ reasoningContent: { reasoningText: { text, signature: proof } } });
  }
  if (said.text !== undefined) out.push({ text: said.text });
  for (const c of said.calls ?? []) {
    out.push({ toolUse: { toolUseId: c.id, name: c.name, input: c.input } });
  }
  return out;
}

export function whole(said: Said): Loose {
  return {
    metrics: METRICS,
    output: { message: { role: "assistant", content: content(said) } },
    stopReason: stopReason(said),
    usage: USAGE,
  };
}

export function frames(said: Said): Uint8Array<ArrayBuffer>[] {
  const out: Uint8Array<ArrayBuffer>[] = [];
  const event = (type: string, fields: Loose) =>
    out.push(eventMessage(type, { ...fields, p: "abcdefghijk" }));
  event("messageStart", { role: "assistant" });
  let contentBlockIndex = 0;
  const block = (deltas: readonly Loose[], start?: Loose) => {
    // Only a call's block has a start.
    if (start) event("contentBlockStart", { contentBlockIndex, start });
    for (const delta of deltas) event("contentBlockDelta", { contentBlockIndex, delta });
    event("contentBlockStop", { contentBlockIndex });
    contentBlockIndex++;
  };
  if (said.reasoning) {
    block([
      ...pieces(said.reasoning.text).map((text) => ({ reasoningContent: { text } })),
      { reasoningContent: { signature: said.reasoning.proof } },
    ]);
  }
  if (said.text !== undefined) block(pieces(said.text).map((text) => ({ text })));
  for (const c of said.calls ?? []) {
    block(
      pieces(JSON.stringify(c.input)).map((input) => ({ toolUse: { input } })),
      { toolUse: { toolUseId: c.id, name: c.name } },
    );
  }
  if (said.failsWith !== undefined) {
    out.push(exceptionMessage("modelStreamErrorException", said.failsWith));
    return out;
  }
  event("messageStop", { stopReason: stopReason(said) });
  event("metadata", { usage: USAGE, metrics: METRICS });
  return out;
}

export function proofs(body: Loose): string[] {
  return blocks(body).flatMap(({ reasoningContent }) => {
    const { reasoningText } = (reasoningContent ?? {}) as Loose;
    return reasoningText ? [String((reasoningText as Loose).signature)] : [];
  });
}

export function results(body: Loose): string[] {
  return blocks(body).flatMap(({ toolResult }) => toolResult ? [textOf((toolResult as Loose).content)] : []);
}

function blocks(body: Loose): Loose[] {
  return objects(body.messages).flatMap((m) => objects(m.content));
}
