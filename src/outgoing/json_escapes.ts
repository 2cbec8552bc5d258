/** Printable ASCII that is written as an escape in JSON (`\u0041`). */
import { Buffer } from "node:buffer";

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SPACE = 0x20;
const DELETE = 0x7f;
const ESCAPE_BYTES = 6;

/**
 * The same JSON with these characters themselves; quotes and backslashes stay escaped.
 *
 * By bytes: a regular expression that calls a function for each of millions of escapes takes seconds.
 */
export function withoutEscapes(json: string): string {
  const bytes = Buffer.from(json);
  let to = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at];
    const code = byte === BACKSLASH ? codeAt(bytes, at) : -1;
    if (code >= SPACE && code < DELETE && code !== QUOTE && code !== BACKSLASH) {
      bytes[to++] = code;
      at += ESCAPE_BYTES;
    } else {
      bytes[to++] = byte;
      at++;
      // What follows a backslash is part of its escape.
      if (byte === BACKSLASH && at < bytes.length) bytes[to++] = bytes[at++];
    }
  }
  return bytes.toString("utf8", 0, to);
}

/** The code of `\u00XX`; negative: another escape. */
function codeAt(bytes: Buffer, at: number): number {
  const isUnicode = bytes[at + 1] === 0x75 && bytes[at + 2] === 0x30 && bytes[at + 3] === 0x30;
  if (!isUnicode) return -1;
  const high = hex(bytes[at + 4]);
  const low = hex(bytes[at + 5]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** The value of a hexadecimal digit; negative: it is none. */
function hex(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
