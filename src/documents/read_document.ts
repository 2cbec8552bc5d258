/** Reads documents of every kind, including nested ones. */
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { readArchive } from "./archive_text.ts";
import { MOST_BYTES, MOST_DEEP, MOST_TEXT } from "./bounds.ts";
import { textOfFile } from "./data_text.ts";
import { type DocumentKind, documentKind, type DocumentText, writtenKind } from "./kind.ts";
import { readMail } from "./mail_text.ts";
import { markupText } from "./markup_text.ts";
import { rtfText } from "./rtf_text.ts";

const UNREAD: DocumentText = { text: "", whole: false };

/** Throws or resolves with null if it cannot be read. `depth`: the number of documents that contain it. */
export async function readDocument(
  kind: DocumentKind,
  bytes: Uint8Array<ArrayBuffer>,
  depth = 0,
): Promise<DocumentText | null> {
  const inner = (bytes: Uint8Array) => readInner(bytes, depth + 1);
  if (kind === "zip") return await readArchive(bytes, inner);
  if (kind === "gzip") return await inner(gunzipSync(bytes, { maxOutputLength: MOST_BYTES }));
  if (kind === "pdf") {
    const { readPdf } = await import("./pdf_text.ts");
    return await readPdf(bytes, inner);
  }
  const text = textOfFile(bytes)?.text ?? Buffer.from(bytes).toString("latin1");
  return await readWritten(text, inner);
}

async function readInner(bytes: Uint8Array, depth: number): Promise<DocumentText> {
  if (depth > MOST_DEEP) return UNREAD;
  const kind = documentKind(bytes);
  if (kind !== null) {
    return await readDocument(kind, Uint8Array.from(bytes), depth).catch(() => null) ?? UNREAD;
  }
  const text = textOfFile(bytes)?.text;
  if (text === undefined) return { text: "", whole: bytes.length === 0 };
  const shown = await readWritten(text, (bytes) => readInner(bytes, depth + 1));
  return bounded(shown ? `${text}\n${shown.text}` : text, shown?.whole ?? true);
}

async function readWritten(
  text: string,
  inner: (bytes: Uint8Array) => Promise<DocumentText>,
): Promise<DocumentText | null> {
  const kind = writtenKind(text);
  if (kind === null) return null;
  if (kind === "rtf") return bounded(rtfText(text), !/\\(?:pict|objdata)\b/.test(text));
  if (kind === "markup") return bounded(markupText(text), true);
  const { headers, parts } = readMail(text);
  let joined = headers;
  let whole = true;
  for (const { bytes, type } of parts) {
    const part = await inner(bytes);
    whole &&= part.whole;
    // A part may begin with plain text before its markup.
    joined += `\n${part.text}${/html/i.test(type) ? `\n${markupText(part.text)}` : ""}`;
    if (joined.length > MOST_TEXT) break;
  }
  return bounded(joined, whole);
}

function bounded(text: string, whole: boolean): DocumentText {
  return text.length <= MOST_TEXT ? { text, whole } : { text: text.slice(0, MOST_TEXT), whole: false };
}
