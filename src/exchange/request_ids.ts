/** Request ids. A generation has the id of its request. */
import { Buffer } from "node:buffer";

const HEX_DIGITS = 20;
/**
 * Number of ids whose random digits are generated at once: each call of the runtime costs more than all the
 * rest.
 */
const DRAWN = 128;

const bytes = new Uint8Array(DRAWN * HEX_DIGITS / 2);
let digits = "";
let used = 0;
/** Cache: the time of the last id and its encoding, since several ids are created per millisecond. */
let begun = -1;
let beginning = "";

/**
 * Starts with the time, so that new rows are appended to the ledger's index instead of being spread over all
 * of its pages.
 */
export function generationId(now: number): string {
  if (used === digits.length) {
    crypto.getRandomValues(bytes);
    digits = Buffer.from(bytes.buffer).toString("hex");
    used = 0;
  }
  const random = digits.slice(used, used += HEX_DIGITS);
  if (now !== begun) {
    begun = now;
    beginning = `gen_${now.toString(16).padStart(12, "0")}`;
  }
  return beginning + random;
}
