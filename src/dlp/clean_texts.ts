/**
 * Remembers texts in which a detector found nothing. Every turn contains the whole conversation, and every
 * request the same system prompts and tools, so most text has been scanned before.
 *
 * No text is stored, only 53 bits of a hash with a random seed per process. Texts with findings are not
 * remembered.
 */
import { asciiWords, MOST_AT_ONCE } from "./ascii.ts";
import type { Detector } from "./scan.ts";

/** Maximum length: hashing is about fifty times cheaper than scanning, but not free for very long texts. */
const LONGEST = 262_144;
/** Minimum length for which it is worthwhile. */
const SHORTEST = 48;
/** Hashes per detector and generation; there are two generations. */
const KEPT = 20_000;

interface Memory {
  now: Set<number>;
  before: Set<number>;
}

const memories = new WeakMap<Detector, Memory>();
const [SEED_A, SEED_B, ODD_A, ODD_B, ODD_C] = crypto.getRandomValues(new Uint32Array(5));

/** The hash by which a text is remembered; undefined: it is not. */
export function traceOf(text: string): number | undefined {
  const { length } = text;
  if (length < SHORTEST || length > LONGEST) return undefined;
  const [m, n, o] = [ODD_A | 1, ODD_B | 1, ODD_C | 1];
  let a = SEED_A ^ Math.imul(length, n);
  let b = SEED_B + Math.imul(length, m) | 0;
  for (let at = 0; at < length; at += MOST_AT_ONCE) {
    const piece = length <= MOST_AT_ONCE ? text : text.slice(at, at + MOST_AT_ONCE);
    // Four ASCII units are hashed as one word, in a third of the time.
    const words = asciiWords(piece);
    const count = words === null ? piece.length : (piece.length + 3) >> 2;
    for (let i = 0; i < count; i++) {
      // Multiplied by random values, so that no pair of differences is known to cancel out.
      let unit = Math.imul(words === null ? piece.charCodeAt(i) : words[i], o);
      unit ^= unit >>> 16;
      a = Math.imul(a ^ unit, m);
      a ^= a >>> 15;
      b = Math.imul(b + unit, n);
      b ^= b >>> 13;
    }
  }
  return (a >>> 0) * 0x200000 + (b >>> 11);
}

/**
 * Whether the detector has recently scanned a text with this hash and found nothing.
 *
 * @param trace hash of the text
 */
export function isKnownClean(detector: Detector, trace: number): boolean {
  const memory = memories.get(detector);
  if (!memory) return false;
  if (memory.now.has(trace)) return true;
  if (!memory.before.has(trace)) return false;
  remember(memory, trace);
  return true;
}

/**
 * Records that the detector found nothing in a text.
 *
 * @param trace hash of the text
 */
export function rememberClean(detector: Detector, trace: number): void {
  let memory = memories.get(detector);
  if (!memory) memories.set(detector, memory = { now: new Set(), before: new Set() });
  remember(memory, trace);
}

function remember(memory: Memory, trace: number): void {
  if (memory.now.size >= KEPT) {
    memory.before = memory.now;
    memory.now = new Set();
  }
  memory.now.add(trace);
}
