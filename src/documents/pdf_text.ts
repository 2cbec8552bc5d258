/** The text of a PDF: pages, fields of forms, notes and links, and the document's own description. */
import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { getDocumentProxy } from "unpdf";
import { MOST_BYTES, MOST_PARTS, MOST_TEXT } from "./bounds.ts";
import type { DocumentText } from "./kind.ts";
import { textOfFile } from "./data_text.ts";

export async function readPdf(bytes: Uint8Array): Promise<DocumentText | null> {
  if (unfoldsTooFar(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) return null;
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  const texts: string[] = [];
  let length = 0;
  let whole = pdf.numPages <= MOST_PARTS;
  const add = (text: string) => {
    length += text.length;
    if (length <= MOST_TEXT) texts.push(text);
    else whole = false;
  };
  for (let n = 1; n <= Math.min(pdf.numPages, MOST_PARTS) && length <= MOST_TEXT; n++) {
    const page = await pdf.getPage(n);
    const { items } = await page.getTextContent();
    let text = "";
    for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    const notes = (await page.getAnnotations()).flatMap(noteTexts);
    // A page without a letter is a picture of one.
    if (text.trim() === "" && notes.length === 0) whole = false;
    add(`${text}\n${notes.map((note) => `${note}\n`).join("")}`);
    page.cleanup();
  }
  const { info } = await pdf.getMetadata();
  for (const value of Object.values(info ?? {})) if (typeof value === "string") add(`${value}\n`);
  for (const { content, filename } of Object.values(await pdf.getAttachments() ?? {}) as Attachment[]) {
    const text = textOfFile(content)?.text;
    if (text === undefined) whole = false;
    add(`${filename}\n${text ?? ""}\n`);
  }
  return { text: texts.join(""), whole };
}

interface Attachment {
  content: Uint8Array;
  filename: string;
}

// deno-lint-ignore no-explicit-any
function noteTexts(note: any): string[] {
  return [note.fieldValue, note.contentsObj?.str, note.titleObj?.str, note.unsafeUrl ?? note.url]
    .flat().filter((text) => typeof text === "string" && text !== "");
}

const STREAM = Buffer.from("stream");

/** Whether the packed parts of a file, unpacked, are more than may be read. */
function unfoldsTooFar(bytes: Buffer): boolean {
  if (
    /\/(?:FlateDecode|LZWDecode|RunLengthDecode|Fl|LZW|RL)\s{0,8}\/(?:FlateDecode|LZWDecode|RunLengthDecode|Fl|LZW|RL)\b/
      .test(bytes.toString("latin1"))
  ) {
    return true;
  }
  let left = MOST_BYTES;
  for (let at = bytes.indexOf(STREAM); at >= 0; at = bytes.indexOf(STREAM, at + STREAM.length)) {
    let start = at + STREAM.length;
    if (bytes[start] === 13) start++;
    if (bytes[start] === 10) start++;
    // The first byte of all that Flate packs with a window of up to 32 KB.
    if ((bytes[start] & 0x0f) !== 8) continue;
    try {
      left -= inflateSync(bytes.subarray(start), { maxOutputLength: left + 1 }).length;
    } catch (error) {
      // Other errors: it is no Flate, or ends early.
      if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return true;
    }
    if (left < 0) return true;
  }
  return false;
}
