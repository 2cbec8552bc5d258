/** Parts of answers in short, and the content that they make in this format. */
import { assertEquals } from "@std/assert";
import { type Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { answering, checkStream, encodeParts, encodeWhole, fold } from "./support.ts";

export const START = { type: "start", model: "m" } satisfies Part;
export const DIRECT = { type: "direct" };
export const FINISH: Part = { type: "finish", choice: 0, reason: "stop" };
export const text = (block: number, ...pieces: string[]): Part[] => [
  { type: "text-start", block, choice: 0 },
  ...pieces.map((piece): Part => ({ type: "text-delta", block, text: piece })),
  { type: "text-end", block },
];
export const call = (block: number, id = `call_${block}`, ...pieces: string[]): Part[] => [
  { type: "call-start", block, choice: 0, id, name: "f", kind: "function" },
  ...pieces.map((piece): Part => ({ type: "call-delta", block, text: piece })),
  { type: "call-end", block },
];

/** The content of these parts, the same by stream and whole; the stream is legal. */
export function content(...parts: Part[]): Loose[] {
  const all = [START, ...parts, FINISH];
  const stream = encodeParts(all);
  checkStream(stream);
  assertEquals(paired(fold(stream)), encodeWhole(all));
  assertEquals(encodeParts(all, answering(), 100), stream);
  return fold(stream).content as Loose[];
}

/** A message with each search's result right behind its query: a stream shows results as they come. */
export function paired(message: Loose): Loose {
  const blocks = message.content as Loose[];
  const content = blocks.flatMap((block) => {
    if (block.type === "web_search_tool_result") return [];
    return [block, ...blocks.filter((b) => block.type === "server_tool_use" && b.tool_use_id === block.id)];
  });
  return { ...message, content };
}
