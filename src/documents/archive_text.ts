/**
 * Extracts the text of an archive: office documents (DOCX, XLSX, PPTX, OpenDocument, EPUB), or any files in a
 * ZIP. If it has parts that are neither text nor a document (images, sound, programs), the text is marked as
 * incomplete.
 */
import { Buffer } from "node:buffer";
import { textOfFile } from "./data_text.ts";
import { MOST_TEXT } from "./bounds.ts";
import { commentOf, partsOf } from "./archive.ts";
import type { DocumentText } from "./kind.ts";
import { type SharedStrings, sharedStrings, sheetText } from "./sheet_text.ts";
import { markupText } from "./markup_text.ts";

/** Parts that define the appearance of a document, and have no content. */
const LOOKS =
  /^(?:\[Content_Types\]\.xml$|mimetype$|META-INF\/(?!.*\.(?:txt|mf)$)|(?:word|xl|ppt)\/(?:theme|fontTable|_rels\/.*theme)|docProps\/thumbnail|Thumbnails\/|.*\.(?:ttf|otf|woff2?|odttf)$)/i;
/** XML parts of office documents, whose own names carry no information. */
const OFFICE =
  /^(?:(?:word|xl|ppt|docProps|_rels|META-INF)\/[\w./-]*|(?:content|styles|settings|meta))\.(?:xml|rels|vml)$/i;

/**
 * Reads a ZIP archive.
 * @param inner reads a document inside it
 */
export async function readArchive(
  bytes: Uint8Array,
  inner: (bytes: Uint8Array) => Promise<DocumentText>,
): Promise<DocumentText> {
  const texts: string[] = [];
  let length = 0;
  let whole = true;
  let strings: SharedStrings = [];
  const sheets: Uint8Array[] = [];
  const add = (text: string) => {
    if (text === "" || length >= MOST_TEXT) return;
    texts.push(text.length > MOST_TEXT - length ? text.slice(0, MOST_TEXT - length) : text);
    if (text.length > MOST_TEXT - length) whole = false;
    length += text.length;
  };
  for (const { name, bytes: part } of partsOf(bytes, (name) => !LOOKS.test(name))) {
    if (name === "xl/sharedStrings.xml") strings = sharedStrings(decoded(part));
    else if (/^xl\/(?:work|chart|dialog)sheets\/[^/]+\.xml$/.test(name)) sheets.push(part);
    else if (OFFICE.test(name)) add(`${markupText(decoded(part))}\n`);
    else {
      const read = await inner(part);
      whole &&= read.whole;
      add(`${read.text}\n`);
    }
    // The name of a part may contain a sensitive value too.
    if (!OFFICE.test(name)) add(`${name}\n`);
    if (length >= MOST_TEXT) return { text: texts.join(""), whole: false };
  }
  // Cells refer to shared strings in a part that may come after the sheets.
  const used = new Set<string>();
  for (const sheet of sheets) add(sheetText(decoded(sheet), strings, used));
  add(strings.filter((string) => !used.has(string)).join("\n"));
  add(commentOf(bytes));
  return { text: texts.join(""), whole };
}

function decoded(bytes: Uint8Array): string {
  return textOfFile(bytes)?.text ?? Buffer.from(bytes).toString("latin1");
}
