/**
 * A large value as the bytes of its JSON, handing control back every couple of milliseconds.
 *
 * Each piece of text is turned to bytes at once. Kept until all are there, the pieces would outlive collections of the young
 * generation, each of which copies them, and be copied once more to be one text.
 */
import { wellFormed } from "./json.ts";
import { jsonPieces, sizeUpTo } from "./json_pieces.ts";

/** Pieces, or bytes, that are written before others have their turn. */
const PIECES = 32;
const BYTES = 1 << 20;
/** About the most memory that is set aside at first: for a larger value it grows. */
const MOST_FIRST = 1 << 22;

const encoder = new TextEncoder();

/** UTF-8, without halves of surrogate pairs. */
export function* jsonBytes(value: unknown): Generator<void, Uint8Array<ArrayBuffer>> {
  const expected = sizeUpTo(value, MOST_FIRST);
  let bytes = new Uint8Array(expected + (expected >> 4));
  let at = 0;
  let pieces = 0;
  let until = BYTES;
  for (const piece of jsonPieces(value)) {
    let text = wellFormed(piece);
    for (;;) {
      const { read, written } = encoder.encodeInto(text, bytes.subarray(at));
      at += written;
      if (read === text.length) break;
      text = text.slice(read);
      const larger = new Uint8Array(2 * bytes.length + text.length);
      larger.set(bytes.subarray(0, at));
      bytes = larger;
    }
    if (++pieces < PIECES && at < until) continue;
    yield;
    pieces = 0;
    until = at + BYTES;
  }
  yield;
  return bytes.subarray(0, at);
}
