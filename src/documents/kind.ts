/** Documents, told by how they begin, whatever type is declared, and what is read out of them. */

export type DocumentKind = "pdf" | "zip" | "gzip";

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
