/**
 * Where a long text is cut. Folding and decoding work on a whole text at once, so a long one is taken in segments that
 * overlap: a value cut at the end of one stands whole in the next, together with the words before it.
 */

const SEGMENT = 32_768;
const OVERLAP = 2048;

/** How far behind its beginning a segment may begin with a line. */
const LINE_WITHIN = 256;

/** The end of the segment that begins at `start`; `to` is the last there can be. */
export function segmentEnd(text: string, start: number, to: number): number {
  const end = start + SEGMENT;
  if (end + OVERLAP >= to) return to;
  // What is looked for is looked for here alone, and not in all of a text that has none.
  const segment = text.slice(start, end + 1);
  const line = segment.lastIndexOf("\n");
  const cut = line > SEGMENT - 1024 ? line : segment.lastIndexOf(" ");
  // A token may be thousands of units long, but holds no blank.
  const tidy = cut > SEGMENT / 2 ? cut : SEGMENT;
  // A key block is one value of many lines.
  const block = segment.slice(0, tidy).lastIndexOf("-----BEGIN ");
  return start + (block > SEGMENT / 2 && !segment.slice(block, tidy).includes("-----END ") ? block : tidy);
}

/** Where the segment begins that follows one that ends at `end`: with a line, or a line that an escape begins, or a word. */
export function segmentStart(text: string, end: number): number {
  const from = end - OVERLAP;
  const near = text.slice(from, from + OVERLAP / 2);
  const line = near.indexOf("\n");
  if (line >= 0 && line < LINE_WITHIN) return from + line + 1;
  const escaped = near.indexOf("\\n");
  if (escaped >= 0 && escaped < LINE_WITHIN) return from + escaped;
  const start = from + Math.max(0, near.indexOf(" "));
  // Not between the halves of a surrogate pair.
  return (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
}
