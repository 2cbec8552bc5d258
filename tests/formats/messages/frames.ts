/** Frames of a provider's stream. */
import type { Loose } from "../../../src/exchange/json.ts";
import type { Frame } from "../../../src/formats/format.ts";

export const frame = (value: Loose): Frame => ({ event: String(value.type), data: JSON.stringify(value) });
export const started = (id = "msg_a", usage: Loose = { input_tokens: 5, output_tokens: 1 }) =>
  frame({ type: "message_start", message: { id, model: "m", content: [], usage } });
export const opened = (index: number, content_block: Loose) =>
  frame({ type: "content_block_start", index, content_block });
export const delta = (index: number, fields: Loose) =>
  frame({ type: "content_block_delta", index, delta: fields });
export const closed = (index: number) => frame({ type: "content_block_stop", index });
export const ending = (usage?: Loose, fields: Loose = {}) =>
  frame({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null, ...fields }, usage });
export const stopped = frame({ type: "message_stop" });
export const textFrames = (index: number, text: string) => [
  opened(index, { type: "text", text: "" }),
  delta(index, { type: "text_delta", text }),
  closed(index),
];
