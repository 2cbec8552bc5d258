/**
 * Detects UTF-16 text of non-Latin scripts in base64. Half of its bytes are high bytes: for an alphabet these
 * are zero and one other value, for East Asian scripts they are in certain ranges. As UTF-8, many would be
 * control characters.
 */
import { wideText } from "../exchange/readable.ts";

/** Shorter runs cannot contain a value with its name. */
const SHORTEST_WIDE = 32;

/**
 * The text of a run whose bytes are UTF-16 of a non-Latin script; null: they are not.
 * @param bytesOf decodes base64
 */
export function wideWords(packed: string, bytesOf: (packed: string) => Uint8Array): string | null {
  if (packed.length < SHORTEST_WIDE) return null;
  const head = bytesOf(packed.slice(0, SHORTEST_WIDE));
  const marked = (head[0] & head[1]) === 0xfe && head[0] !== head[1];
  for (let parity = 0; parity < 2; parity++) {
    if (isWide(head, marked ? parity + 2 : parity)) return wideText(bytesOf(packed));
  }
  return null;
}

/**
 * Whether every second byte, from `first` on, is zero or the high byte of one alphabet, or of East Asian
 * characters and zeros.
 */
function isWide(head: Uint8Array, first: number): boolean {
  let script = 0;
  let zeros = 0;
  let alphabet = true;
  let eastern = true;
  for (let i = first; i < head.length; i += 2) {
    const high = head[i];
    if (high === 0) {
      zeros++;
      continue;
    }
    alphabet &&= high < 0x20 && (script === 0 || high === script);
    eastern &&= high >= 0x30 && high < 0xa0 || high >= 0xac && high < 0xd8 || high === 0xff;
    if (!alphabet && !eastern) return false;
    script = high;
  }
  return alphabet || zeros >= 3;
}
