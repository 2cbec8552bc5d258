/**
 * Serializes a large value to JSON bytes in slices.
 *
 * Each piece of text is encoded at once: if the pieces were collected, they would survive garbage collections
 * of the young generation, which would copy them each time, and would be copied once more when joined.
 */
import { wellFormed } from "./json.ts";
import { jsonPieces, sizeUpTo } from "./json_pieces.ts";

/** Pieces, or bytes, written per slice. */
const PIECES = 32;
const BYTES = 1 << 20;
/** Approximate maximum of the initial buffer, which grows for larger values. */
const MOST_FIRST = 1 << 22;

const encoder = new TextEncoder();

/** UTF-8, with lone surrogates replaced. */
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
