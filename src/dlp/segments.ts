/**
 * Where a long text is cut. Folding and decoding work on a whole text at once, so a long one is taken in segments that
 * overlap: a value cut at the end of one stands whole in the next, together with the words before it.
 */

const SEGMENT = 32_768;
const OVERLAP = 2048;

/** The end of the segment that begins at `start`; `to` is the last there can be. */
export function segmentEnd(text: string, start: number, to: number): number {
  const end = start + SEGMENT;
  if (end + OVERLAP >= to) return to;
  const line = text.lastIndexOf("\n", end);
  const cut = line > end - 1024 ? line : text.lastIndexOf(" ", end);
  // A token may be thousands of units long, but holds no blank.
  const tidy = cut > start + SEGMENT / 2 ? cut : end;
  // A key block is one value of many lines.
  const block = text.slice(start, tidy).lastIndexOf("-----BEGIN ");
  return block > SEGMENT / 2 && !text.slice(start + block, tidy).includes("-----END ") ? start + block : tidy;
}

/** Where the segment begins that follows one that ends at `end`: with a line, or a line that an escape begins, or a word. */
export function segmentStart(text: string, end: number): number {
  const from = end - OVERLAP;
  const line = text.indexOf("\n", from);
  if (line >= 0 && line < from + 256) return line + 1;
  const escaped = text.indexOf("\\n", from);
  if (escaped >= 0 && escaped < from + 256) return escaped;
  const word = text.indexOf(" ", from);
  const start = word > 0 && word < from + OVERLAP / 2 ? word : from;
  // Not between the halves of a surrogate pair.
  return (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
}
