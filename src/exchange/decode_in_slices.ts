/**
 * Decodes large bytes in slices. For each invalid byte the decoder takes some 20 ns, a second for an answer of
 * 64 MB that is no text at all.
 */

/** Bytes decoded per slice. */
const PIECE = 1 << 20;

/** As `new TextDecoder().decode()`: invalid bytes become U+FFFD, and a byte order mark is removed. */
export function* decodedInSlices(bytes: Uint8Array): Generator<void, string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += decoder.decode(bytes.subarray(at, at + PIECE), { stream: true });
    yield;
  }
  return text + decoder.decode();
}
