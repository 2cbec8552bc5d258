/**
 * Divides a long text into overlapping segments, since folding and decoding process a whole text at once: a
 * value cut at the end of one segment is complete in the next, with the words before it.
 */

const SEGMENT = 32_768;
const OVERLAP = 2048;

/** Range in which a segment's start is moved to the start of a line. */
const LINE_WITHIN = 256;

/** The end of a segment that starts at `start`; `to` is the upper limit. */
export function segmentEnd(text: string, start: number, to: number): number {
  const end = start + SEGMENT;
  if (end + OVERLAP >= to) return to;
  // Searches are limited to this segment, not the rest of the text.
  const segment = text.slice(start, end + 1);
  const line = segment.lastIndexOf("\n");
  const cut = line > SEGMENT - 1024 ? line : segment.lastIndexOf(" ");
  // A token may be thousands of units long, but contains no white space.
  const tidy = cut > SEGMENT / 2 ? cut : SEGMENT;
  // A key block is a single value of many lines.
  const block = segment.slice(0, tidy).lastIndexOf("-----BEGIN ");
  return start + (block > SEGMENT / 2 && !segment.slice(block, tidy).includes("-----END ") ? block : tidy);
}

/** Start of the segment after one that ends at `end`: at a line, an escaped line break, or a word. */
export function segmentStart(text: string, end: number): number {
  const from = end - OVERLAP;
  const near = text.slice(from, from + OVERLAP / 2);
  const line = near.indexOf("\n");
  if (line >= 0 && line < LINE_WITHIN) return from + line + 1;
  const escaped = near.indexOf("\\n");
  if (escaped >= 0 && escaped < LINE_WITHIN) return from + escaped;
  const start = from + Math.max(0, near.indexOf(" "));
  // Not between surrogates.
  return (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
}
