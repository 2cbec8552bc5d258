/** Detects whether data is text, and decodes it from its encoding. */
import { Buffer } from "node:buffer";
import { isControl, isUtf8, utf32, utf7, wideText } from "../exchange/readable.ts";

/** Base64 characters that are decoded to detect whether the data is text. */
const HEAD = 1024;
const TEXT_TYPE = /^\s*(?:text\/|application\/(?:json|xml|csv|x-ndjson|yaml|sql|javascript))/i;
const CHARSET = /charset\s*=\s*"?([\w.:-]{2,30})/i;

/** Base64 after the first "+" of a run of its characters: each run is read once, since a "+" is such a character itself. */
const SHIFTED = /(?<![A-Za-z0-9+/])[A-Za-z0-9/]*\+[A-Za-z0-9+/]{3,}-/;

/** Decoded text. */
export interface DataText {
  readonly text: string;
  /** The encoding is not UTF-8: text that is written back as UTF-8 would not be understood. */
  readonly foreign: boolean;
}

/**
 * The text in base64 from `start` on; null: the data is not text. The declared type does not matter if the
 * data decodes to text.
 */
export function textOf(value: string, start: number, type: string): DataText | null {
  const head = Buffer.from(value.slice(start, start + HEAD), "base64");
  if (!holdsText(head, type)) return null;
  return decoded(Buffer.from(start === 0 ? value : value.slice(start), "base64"), type);
}

/** The text of a file; null: it is not text. */
export function textOfFile(bytes: Uint8Array): DataText | null {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return holdsText(all.subarray(0, HEAD), "") ? decoded(all, "") : null;
}

function holdsText(head: Buffer, type: string): boolean {
  return TEXT_TYPE.test(type) || wideText(head) !== null || isText(head);
}

function decoded(all: Buffer, type: string): DataText {
  const wide = wideText(all);
  if (wide !== null) return { text: wide, foreign: true };
  const charset = CHARSET.exec(type)?.[1].toLowerCase();
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    return { text: decodedAs(charset, all), foreign: true };
  }
  const text = isUtf8(all) ? all.toString("utf8") : all.toString("latin1");
  // UTF-7 consists of ASCII characters.
  const shifted = SHIFTED.test(text) ? utf7(text) : text;
  return shifted !== text && /^[\t\n\r\x20-\u04ff\u2000-\u206f]*$/.test(shifted)
    ? { text: shifted, foreign: true }
    : { text, foreign: false };
}

function decodedAs(charset: string, bytes: Buffer): string {
  if (charset === "utf-7") return utf7(bytes.toString("latin1"));
  if (/^utf-?32/.test(charset)) return utf32(bytes, charset.endsWith("be"));
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}

/** Text has nearly no control characters; in compressed or binary data one byte of nine is one. */
function isText(head: Buffer): boolean {
  let controls = 0;
  let high = 0;
  for (const byte of head) {
    if (isControl(byte)) controls++;
    else if (byte > 127) high++;
  }
  if (controls * 40 > head.length && controls > 1) return false;
  // The cut may have split the last character.
  if (!new TextDecoder().decode(head).slice(0, -4).includes("\ufffd")) return true;
  // Latin-1 and similar encodings.
  return controls === 0 && high * 3 < head.length;
}
