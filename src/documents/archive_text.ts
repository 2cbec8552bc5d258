/**
 * The text of an archive: files of office programs (DOCX, XLSX, PPTX, OpenDocument, EPUB), or any files in a ZIP. Parts that
 * are neither text nor a document are named as not read: images, sound, programs, archives in archives.
 */
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { textOfFile } from "./data_text.ts";
import { MOST_BYTES, MOST_TEXT } from "./bounds.ts";
import { partsOf } from "./archive.ts";
import type { DocumentText } from "./kind.ts";
import { type SharedStrings, sharedStrings, sheetText } from "./sheet_text.ts";
import { markupText } from "./markup_text.ts";

/** Parts that say how a document looks, not what it says. */
const LOOKS =
  /^(?:\[Content_Types\]\.xml$|mimetype$|META-INF\/(?!.*\.(?:txt|mf)$)|(?:word|xl|ppt)\/(?:theme|styles|fontTable|settings|webSettings|_rels\/.*theme)|ppt\/(?:slideLayouts|slideMasters|notesMasters|tableStyles|viewProps|presProps)|docProps\/thumbnail|Thumbnails\/|styles\.xml$|settings\.xml$|.*\.(?:ttf|otf|woff2?|odttf|css)$)/i;
const MARKUP = /\.(?:xml|rels|x?html?|opf|ncx|svg|vml)$/i;

export function readArchive(bytes: Uint8Array): DocumentText {
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
    else {
      const text = textOfFile(part)?.text;
      if (text === undefined) whole &&= part.length === 0;
      else add(`${MARKUP.test(name) ? markupText(text) : text}\n`);
    }
    // The name of a part may hold a value as well as the part itself.
    if (!MARKUP.test(name)) add(`${name}\n`);
  }
  // Cells refer to strings in a part that may stand behind them.
  for (const sheet of sheets) add(sheetText(decoded(sheet), strings));
  return { text: texts.join(""), whole };
}

export function readGzip(bytes: Uint8Array): DocumentText | null {
  const text = textOfFile(gunzipSync(bytes, { maxOutputLength: MOST_BYTES }))?.text;
  return text === undefined ? null : { text: text.slice(0, MOST_TEXT), whole: text.length <= MOST_TEXT };
}

function decoded(bytes: Uint8Array): string {
  return textOfFile(bytes)?.text ?? Buffer.from(bytes).toString("latin1");
}
