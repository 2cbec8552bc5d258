/**
 * UTF-16 of other scripts than Latin in base64. Half of its bytes are the high ones: of an alphabet they are zero and one
 * other, of East Asian letters they are of some ranges. In UTF-8 many of them would be control characters.
 */
import { wideText } from "../exchange/readable.ts";

/** Shorter runs say too little for a value with its name. */
const SHORTEST_WIDE = 32;

/** The text of a run whose bytes are UTF-16 of another script; null: they are none. @param bytesOf reads a run of base64 */
export function wideWords(packed: string, bytesOf: (packed: string) => Uint8Array): string | null {
  if (packed.length < SHORTEST_WIDE) return null;
  const head = bytesOf(packed.slice(0, SHORTEST_WIDE));
  const marked = (head[0] & head[1]) === 0xfe && head[0] !== head[1];
  for (let parity = 0; parity < 2; parity++) {
    if (isWide(head, marked ? parity + 2 : parity)) return wideText(bytesOf(packed));
  }
  return null;
}

/** Whether every second byte, from `first` on, is zero or the high byte of one alphabet, or of East Asian letters beside zeros. */
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
