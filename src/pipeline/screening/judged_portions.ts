/** Splits the parts of an answer into portions that take some milliseconds to screen. */
import type { Part } from "../../exchange/part.ts";

/** Amount of text and number of parts that are screened before other calls get their turn. */
const PORTION_CHARS = 16_384;
const PORTION_PARTS = 200;
/** A longer text of one part is screened in pieces, as if it had been streamed. */
const LONG_TEXT = 2 * PORTION_CHARS;

/** Whether a batch is more than one portion. */
export function isLarge(batch: readonly Part[]): boolean {
  return batch.length > PORTION_PARTS || !batch.every(isShort);
}

/** The same parts in portions; long texts are split into several parts. */
export function* portions(batch: readonly Part[]): Generator<readonly Part[]> {
  if (!isLarge(batch)) return yield batch;
  let portion: Part[] = [];
  let chars = 0;
  for (const part of batch) {
    for (const piece of isShort(part) ? [part] : piecesOf(part as Delta)) {
      portion.push(piece);
      chars += "text" in piece ? piece.text.length : 0;
      if (chars < PORTION_CHARS && portion.length < PORTION_PARTS) continue;
      yield portion;
      portion = [];
      chars = 0;
    }
  }
  yield portion;
}

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" | "call-delta" }>;

function isShort(part: Part): boolean {
  return !("text" in part) || part.text.length <= LONG_TEXT;
}

function* piecesOf(part: Delta): Generator<Delta> {
  const piece = { ...part };
  // They spell the whole text out, which none of its pieces may.
  if ("logprobs" in piece) delete piece.logprobs;
  for (let at = 0; at < part.text.length;) {
    let end = Math.min(part.text.length, at + PORTION_CHARS);
    // Not between the halves of a surrogate pair.
    if ((part.text.charCodeAt(end) & 0xfc00) === 0xdc00) end--;
    yield { ...piece, text: part.text.slice(at, end) };
    at = end;
  }
}
