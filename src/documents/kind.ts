/** Kinds of documents, detected by their first bytes and not by the declared type, and the result of reading one. */

export type DocumentKind = "pdf" | "zip" | "gzip" | WrittenKind;

/** Text formats that are scanned twice: as their source and as rendered text. */
export type WrittenKind = "rtf" | "mail" | "markup";

/** The kind of a text document; null: plain text. */
export function writtenKind(text: string): WrittenKind | null {
  const head = text.slice(0, 65_536).trimStart();
  if (head.startsWith("{\\rtf")) return "rtf";
  if (/^<(?:!doctype|html|head|body|\?xml|!--|[a-z][\w:.-]*[\s>/])/i.test(head)) return "markup";
  return /^(?:[A-Za-z][\w-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n/.test(head) &&
      /^(?:content-[\w-]+|mime-version|subject|from|received|message-id):/im.test(head)
    ? "mail"
    : null;
}

/** Whether a kind is a text format that is scanned as source and as rendered text. */
export function isWritten(kind: DocumentKind): kind is WrittenKind {
  return kind === "rtf" || kind === "mail" || kind === "markup";
}

/** The kind of a document with these first bytes; null: no known kind. */
export function documentKind(head: Uint8Array): DocumentKind | null {
  const [a, b, c, d, e] = head;
  if (a === 0x25 && b === 0x50 && c === 0x44 && d === 0x46 && e === 0x2d) return "pdf";
  if (a === 0x50 && b === 0x4b && (c === 3 && d === 4 || c === 5 && d === 6)) return "zip";
  return a === 0x1f && b === 0x8b && c === 8 ? "gzip" : null;
}

export interface DocumentText {
  readonly text: string;
  /**
   * False: a part was not read, because it is not text (images, pages without letters) or because a limit was
   * exceeded.
   */
  readonly whole: boolean;
}
