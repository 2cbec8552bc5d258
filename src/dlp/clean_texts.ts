/**
 * Remembers which texts a detector found nothing in. A conversation is sent again whole with every turn, and system
 * prompts and tools with every request, so most of what arrives has been looked at before.
 *
 * No text is kept, only 53 bits of a hash that is seeded anew in every process. Texts with findings are not remembered.
 */
import { asciiWords, MOST_AT_ONCE } from "./ascii.ts";
import type { Detector } from "./scan.ts";

/** Hashing is some fifty times cheaper than scanning, but still takes its time of a very long text. */
const LONGEST = 262_144;
/** For a shorter one it is not worth it. */
const SHORTEST = 48;
/** Hashes per detector and generation; the older of two generations is forgotten. */
const KEPT = 20_000;

interface Memory {
  now: Set<number>;
  before: Set<number>;
}

const memories = new WeakMap<Detector, Memory>();
const [SEED_A, SEED_B, ODD_A, ODD_B, ODD_C] = crypto.getRandomValues(new Uint32Array(5));

/** What a text is remembered by; undefined: it is not. */
export function traceOf(text: string): number | undefined {
  const { length } = text;
  if (length < SHORTEST || length > LONGEST) return undefined;
  const [m, n, o] = [ODD_A | 1, ODD_B | 1, ODD_C | 1];
  let a = SEED_A ^ Math.imul(length, n);
  let b = SEED_B + Math.imul(length, m) | 0;
  for (let at = 0; at < length; at += MOST_AT_ONCE) {
    const piece = length <= MOST_AT_ONCE ? text : text.slice(at, at + MOST_AT_ONCE);
    // Four units of ASCII are hashed as one, in a third of the time.
    const words = asciiWords(piece);
    const count = words === null ? piece.length : (piece.length + 3) >> 2;
    for (let i = 0; i < count; i++) {
      // Spread by what nobody knows, so that no two differences are known to cancel each other.
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
 * Whether the detector has looked at a text of this hash lately, and found nothing.
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
 * Notes that the detector found nothing in a text.
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
