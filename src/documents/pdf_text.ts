/** Extracts the text of a PDF: pages, form fields, annotations, links, and the document's metadata. */
import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { getDocumentProxy } from "unpdf";
import { MOST_BYTES, MOST_PARTS, MOST_TEXT } from "./bounds.ts";
import { textOfFile } from "./data_text.ts";
import type { DocumentText } from "./kind.ts";

/**
 * Null: it decompresses to more than the limit.
 * @param inner reads an attached file
 */
export async function readPdf(
  bytes: Uint8Array,
  inner: (bytes: Uint8Array) => Promise<DocumentText>,
): Promise<DocumentText | null> {
  const named = new NamedTexts();
  if (exceedsLimit(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), named)) return null;
  // The library transfers the bytes, so they are searched before.
  const attaches = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("/EmbeddedFile");
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  const texts: string[] = [];
  let length = 0;
  let whole = pdf.numPages <= MOST_PARTS && named.whole;
  const add = (text: string) => {
    length += text.length;
    if (length <= MOST_TEXT) texts.push(text);
    else whole = false;
  };
  for (let n = 1; n <= Math.min(pdf.numPages, MOST_PARTS) && length <= MOST_TEXT; n++) {
    const page = await pdf.getPage(n);
    const { items } = await page.getTextContent();
    let text = "";
    let height = 0;
    for (const item of items) {
      if (!("str" in item)) continue;
      // The library writes a blank for a gap of any width: a wide one parts two columns.
      text += item.str === " " && item.height === 0 && item.width > height * WIDE_GAP ? "\t" : item.str;
      if (item.hasEOL) text += "\n";
      if (item.height > 0) height = item.height;
    }
    const annotations = await page.getAnnotations();
    const notes = annotations.flatMap(noteTexts);
    // The appearance of a stamp is drawn, and is not part of the page's text.
    if (annotations.some(({ subtype, hasAppearance }) => hasAppearance && DRAWN.test(subtype))) whole = false;
    // A page without letters is an image.
    if (text.trim() === "" && notes.length === 0) whole = false;
    add(`${text}\n${notes.map((note) => `${note}\n`).join("")}`);
    page.cleanup();
  }
  const { info, metadata } = await pdf.getMetadata();
  const described = [
    info,
    [...metadata ?? []],
    await pdf.getOutline(),
    await pdf.getPageLabels(),
    await pdf.getJSActions(),
  ];
  for (const text of new Set(stringsOf(described))) add(`${text}\n`);
  for (const text of named.texts) add(`${text}\n`);
  const attached = Object.values(await pdf.getAttachments() ?? {}) as Attachment[];
  for (const { content, filename } of attached) {
    const read = await inner(content);
    whole &&= read.whole;
    add(`${filename}\n${read.text}\n`);
  }
  // The file has attachments that the library does not list.
  if (attached.length === 0 && attaches) whole = false;
  return { text: texts.join(""), whole };
}

/** In heights of letters: words are less than half of it apart. */
const WIDE_GAP = 0.9;

interface Attachment {
  content: Uint8Array;
  filename: string;
}

const DRAWN = /^(?:Stamp|Ink|FileAttachment|Watermark|Screen|RichMedia|3D)$/;

// deno-lint-ignore no-explicit-any
function noteTexts(note: any): string[] {
  const {
    fieldValue,
    defaultFieldValue,
    alternativeText,
    options,
    contentsObj,
    titleObj,
    richText,
    textContent,
  } = note;
  return [
    fieldValue,
    defaultFieldValue,
    alternativeText,
    contentsObj?.str,
    titleObj?.str,
    richText?.str,
    note.unsafeUrl ?? note.url,
    textContent?.join("\n"),
    ...stringsOf(options),
  ].flat().filter((text) => typeof text === "string" && text !== "");
}

/** All strings in an object that the library returns. */
function stringsOf(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (typeof value !== "object" || value === null || depth > 20 || ArrayBuffer.isView(value)) return [];
  return Object.values(value).flatMap((one) => stringsOf(one, depth + 1));
}

/** A name in the file's objects, followed by a string. */
const NAMED =
  /\/[A-Za-z]{1,40}\s{0,4}(?:\(((?:\\[\s\S]|[^\\()]){5,4000})\)|<((?:[0-9A-Fa-f]{2}\s?){5,4000})>)/g;

/** Strings that follow a name, whether or not the library reads that name. */
class NamedTexts {
  readonly texts = new Set<string>();
  /** False: there are more than the limit. */
  whole = true;

  addFrom(content: string): void {
    for (const [, written, hex] of content.matchAll(NAMED)) {
      const bytes = hex === undefined
        ? Buffer.from(
          written.replace(/\\(?:([0-7]{1,3})|\r?\n|(.))/g, (_, octal, sign) =>
            octal ? String.fromCharCode(parseInt(octal, 8) & 255) : sign ?? ""),
          "latin1",
        )
        : Buffer.from(hex.replace(/\s/g, ""), "hex");
      const text = textOfFile(bytes)?.text ?? "";
      if (this.texts.size < MOST_PARTS) this.texts.add(text);
      else if (!this.texts.has(text)) this.whole = false;
    }
  }
}

const STREAM = Buffer.from("stream");

/**
 * Whether the compressed streams of a file exceed the limit after decompression. Collects the named strings
 * in them.
 */
function exceedsLimit(bytes: Buffer, named: NamedTexts): boolean {
  const written = bytes.toString("latin1");
  if (
    /\/(?:FlateDecode|LZWDecode|RunLengthDecode|Fl|LZW|RL)\s{0,8}\/(?:FlateDecode|LZWDecode|RunLengthDecode|Fl|LZW|RL)\b/
      .test(written)
  ) {
    return true;
  }
  named.addFrom(written);
  let left = MOST_BYTES;
  for (let at = bytes.indexOf(STREAM); at >= 0; at = bytes.indexOf(STREAM, at + STREAM.length)) {
    let start = at + STREAM.length;
    if (bytes[start] === 13) start++;
    if (bytes[start] === 10) start++;
    // The first byte of every zlib stream with a window of up to 32 KB.
    if ((bytes[start] & 0x0f) !== 8) continue;
    try {
      const unpacked = inflateSync(bytes.subarray(start), { maxOutputLength: left + 1 });
      left -= unpacked.length;
      if (left >= 0 && unpacked.length < MOST_TEXT) named.addFrom(unpacked.toString("latin1"));
    } catch (error) {
      // Other errors: it is no zlib stream, or it is incomplete.
      if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return true;
    }
    if (left < 0) return true;
  }
  return false;
}
