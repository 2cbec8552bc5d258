/** Decodes bytes in common text encodings; null if they are not text. */

import { Buffer } from "node:buffer";

const utf8 = new TextDecoder();

/** Whether the bytes are UTF-8, without the cost of an exception. */
export function isUtf8(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const b = bytes[i];
    if (b < 128) continue;
    const more = b >= 0xf0 && b < 0xf5 ? 3 : b >= 0xe0 ? 2 : b >= 0xc2 ? 1 : 0;
    if (more === 0 || b >= 0xf5 || i + more >= bytes.length) return false;
    for (let k = 0; k < more; k++) if ((bytes[++i] & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** Whether a byte is a control character that does not occur in text. */
export function isControl(byte: number): boolean {
  return byte < 9 || byte === 127 || (byte > 13 && byte < 32 && byte !== 27);
}

/** One control character in this many is tolerated. */
const CONTROLS = 20;

/** Decodes UTF-8, or UTF-16 where every second byte is zero. */
export function readable(bytes: Uint8Array): string | null {
  const wide = wideText(bytes);
  if (wide !== null) return wide;
  let odd = 0;
  let high = 0;
  for (const b of bytes) {
    if (b > 127) high++;
    else if (isControl(b)) odd++;
  }
  if (odd * CONTROLS > bytes.length || high * 2 > bytes.length && bytes.length < 24) return null;
  return high > 0 && !isUtf8(bytes) ? null : utf8.decode(bytes);
}

/**
 * Decodes text with two or four bytes per character, detected by its byte order mark or the positions of zero
 * bytes.
 */
export function wideText(bytes: Uint8Array): string | null {
  const n = bytes.length;
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe && !(c === 0 && d === 0)) return utf16(bytes.subarray(2), false);
  if (a === 0xfe && b === 0xff) return utf16(bytes.subarray(2), true);
  if (a === 0xff && b === 0xfe || a === 0 && b === 0 && c === 0xfe && d === 0xff) {
    return utf32(bytes.subarray(4), a === 0);
  }
  if (n < 8) return null;
  // Most characters of most texts are below U+0100, so their high bytes are zero.
  let even = 0;
  let odd = 0;
  const seen = Math.min(n, 512) & ~3;
  for (let i = 0; i < seen; i += 2) {
    if (bytes[i] === 0) even++;
    if (bytes[i + 1] === 0) odd++;
  }
  const half = seen / 2;
  if (even + odd > half * 1.2) {
    const low = bytes[0] !== 0;
    return (low ? odd === half : odd <= half) && even + odd >= half * 1.4 ? utf32(bytes, !low) : null;
  }
  if (odd > half * 0.7 && even < half * 0.1) return utf16(bytes, false);
  if (even > half * 0.7 && odd < half * 0.1) return utf16(bytes, true);
  // The text has words of another script beside digits or Latin letters: everything else must be such words.
  if (Math.min(odd, even) > half * 0.1) return null;
  const bigEndian = even > odd;
  if (Math.max(odd, even) < half * 0.3 && !isOneScript(bytes.subarray(0, seen), bigEndian)) return null;
  return WRITTEN.test(utf16(bytes.subarray(0, seen), bigEndian)) ? utf16(bytes, bigEndian) : null;
}

/** Whether all high bytes of UTF-16 are zero or one value of an alphabet, and some are zero: spaces, digits. */
function isOneScript(bytes: Uint8Array, bigEndian: boolean): boolean {
  let script = 0;
  let zeros = 0;
  for (let i = bigEndian ? 0 : 1; i < bytes.length; i += 2) {
    const high = bytes[i];
    if (high === 0) zeros++;
    else if (high > LAST_ALPHABET || script !== 0 && high !== script) return false;
    else script = high;
  }
  return zeros * 20 > bytes.length / 2;
}

/** High byte of the last alphabet before the symbols. */
const LAST_ALPHABET = 0x1f;

/** Letters with marks, digits, punctuation and spaces; a surrogate may have been cut off. */
const WRITTEN = /^[\p{L}\p{M}\p{N}\p{P}\p{Zs}\p{Sm}\p{Sc}\t\r\n\ud800-\udfff]*$/u;

function utf16(bytes: Uint8Array, bigEndian: boolean): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return (bigEndian ? even.swap16() : even).toString("utf16le");
}

/** Decodes UTF-32; invalid code points become U+FFFD. */
export function utf32(bytes: Uint8Array, bigEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points: number[] = [];
  let text = "";
  // In chunks: decoding one character at a time takes about ten times as long.
  for (let i = 0; i + 4 <= bytes.length; i += 4) {
    const point = view.getUint32(i, !bigEndian);
    points.push(point > 0x10ffff ? 0xfffd : point);
    if (points.length < MOST_ARGUMENTS) continue;
    text += String.fromCodePoint(...points);
    points.length = 0;
  }
  return text + String.fromCodePoint(...points);
}

/** More arguments could overflow the stack. */
export const MOST_ARGUMENTS = 4096;

const SHIFTED = /\+([A-Za-z0-9+/]*)-?/g;

/** Decodes UTF-7: base64 of UTF-16 between `+` and `-`, otherwise ASCII. */
export function utf7(text: string): string {
  return text.replace(
    SHIFTED,
    (_, run: string) => run === "" ? "+" : utf16(Buffer.from(run, "base64"), true),
  );
}
