/** Texts of ASCII alone, as bytes: to copy a text so takes a tenth of what a pattern takes to look at each of its units. */

const encoder = new TextEncoder();
/** The longest text that is copied at once. */
export const MOST_AT_ONCE = 16_384;
const bytes = new Uint8Array(MOST_AT_ONCE);
const words = new Uint32Array(bytes.buffer);

/**
 * The bytes of a text, in an array that the next call fills anew and that may hold more behind them; null: the text has
 * other characters, or is longer than the array.
 */
export function asciiBytes(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length > bytes.length || looksForeign(text)) return null;
  const { read, written } = encoder.encodeInto(text, bytes);
  return read === text.length && written === read ? bytes : null;
}

/** Whether one of a few units is past ASCII: of a text in another alphabet most are, and to copy it only to see that takes long. */
function looksForeign(text: string): boolean {
  const step = (text.length >> 3) + 1;
  for (let i = 0; i < text.length; i += step) if (text.charCodeAt(i) > 127) return true;
  return false;
}

/** The same, four bytes a word, with zeros behind the last one. */
export function asciiWords(text: string): Uint32Array<ArrayBuffer> | null {
  if (asciiBytes(text) === null) return null;
  const rest = text.length & 3;
  if (rest !== 0) bytes.fill(0, text.length, text.length + 4 - rest);
  return words;
}

/** Units that are copied one by one in less time than it takes to call the encoder. */
const FEW = 32;

/**
 * The units of a text of any length, those past 127 as 128, with a zero behind the last one. Into the array, or a longer one
 * where it is too short.
 */
export function copyUnits(text: string, into: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { length } = text;
  const units = length < into.length ? into : new Uint8Array(2 * length);
  units[length] = 0;
  if (length > FEW && !looksForeign(text)) {
    const { read, written } = encoder.encodeInto(text, units.subarray(0, length));
    if (read === length && written === length) return units;
  }
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    units[i] = unit < 128 ? unit : 128;
  }
  return units;
}
