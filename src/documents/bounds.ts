/** What a document may unfold to. A few kilobytes can say that they are gigabytes. */

/** Bytes of all that a document holds, unpacked. */
export const MOST_BYTES = 64 * 1_048_576;
/** Units of text that are taken out of one document. */
export const MOST_TEXT = 8_000_000;
/** Documents in documents. */
export const MOST_DEEP = 4;
/** Parts of an archive, and pages. */
export const MOST_PARTS = 5000;
