/** Documents, told by how they begin, whatever type is declared, and what is read out of them. */

export type DocumentKind = "pdf" | "zip" | "gzip" | WrittenKind;

/** Text that says more than its characters do: it is scanned as it stands, and as it is shown. */
export type WrittenKind = "rtf" | "mail" | "markup";

/** The kind of document that a text is; null: a plain text. */
export function writtenKind(text: string): WrittenKind | null {
  const head = text.slice(0, 65_536).trimStart();
  if (head.startsWith("{\\rtf")) return "rtf";
  if (/^<(?:!doctype|html|head|body|\?xml|!--|[a-z][\w:.-]*[\s>/])/i.test(head)) return "markup";
  return /^(?:[A-Za-z][\w-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n/.test(head) &&
      /^(?:content-[\w-]+|mime-version|subject|from|received|message-id):/im.test(head)
    ? "mail"
    : null;
}

/** Whether a file is text with marks, which is scanned as it stands and as it is shown. */
export function isWritten(kind: DocumentKind): kind is WrittenKind {
  return kind === "rtf" || kind === "mail" || kind === "markup";
}

/** The kind of document that begins so; null: none of them. */
export function documentKind(head: Uint8Array): DocumentKind | null {
  const [a, b, c, d, e] = head;
  if (a === 0x25 && b === 0x50 && c === 0x44 && d === 0x46 && e === 0x2d) return "pdf";
  if (a === 0x50 && b === 0x4b && (c === 3 && d === 4 || c === 5 && d === 6)) return "zip";
  return a === 0x1f && b === 0x8b && c === 8 ? "gzip" : null;
}

export interface DocumentText {
  readonly text: string;
  /** False: it holds what is no text, such as images or pages without letters, or more than is read. */
  readonly whole: boolean;
}
