/** Limits for the content of a document. A few kilobytes can decompress to gigabytes. */

/** Decompressed bytes of all parts of a document. */
export const MOST_BYTES = 64 * 1_048_576;
/** Length of the text extracted from one document, in UTF-16 units. */
export const MOST_TEXT = 8_000_000;
/** Nesting depth of documents in documents. */
export const MOST_DEEP = 4;
/** Parts of an archive, and pages. */
export const MOST_PARTS = 5000;
