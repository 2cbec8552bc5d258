/**
 * Large batches of parts in portions that take a caller's format a few milliseconds each: a provider may send megabytes of text, or
 * tens of thousands of parts, as one.
 */
import type { Part } from "../exchange/part.ts";
import { LARGE } from "../timing/slices.ts";

const CHARS = 1 << 18;
const PARTS = 2000;

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

function isLarge(part: Part): part is Delta {
  return (part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "call-delta") &&
    part.text.length > LARGE;
}

export function isLargeBatch(batch: readonly Part[]): boolean {
  return batch.length > PARTS || batch.some(isLarge);
}

/** The same parts, but for large texts, which become several deltas. */
export function* portionsOf(batch: readonly Part[]): Generator<readonly Part[]> {
  let portion: Part[] = [];
  for (const part of batch) {
    if (!isLarge(part)) {
      portion.push(part);
      if (portion.length < PARTS) continue;
      yield portion;
      portion = [];
      continue;
    }
    if (portion.length > 0) yield portion;
    portion = [];
    for (const piece of piecesOf(part)) yield [piece];
  }
  if (portion.length > 0) yield portion;
}

function* piecesOf(part: Delta): Generator<Delta> {
  const { text } = part;
  let piece = part;
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + CHARS);
    // Not between the halves of a surrogate pair.
    if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end--;
    yield { ...piece, text: text.slice(at, end) };
    at = end;
    if (!("logprobs" in piece)) continue;
    piece = { ...piece };
    delete piece.logprobs;
  }
}
