/** Ids of requests. One that makes a generation has the same id as that. */
import { Buffer } from "node:buffer";

const HEX_DIGITS = 20;
/** Ids whose random digits are drawn at once: each draw goes through the runtime, which costs more than all the rest. */
const DRAWN = 128;

const bytes = new Uint8Array(DRAWN * HEX_DIGITS / 2);
let digits = "";
let used = 0;
/** The time of the last id, and what it made of its beginning: busy gateways make many in a millisecond. */
let begun = -1;
let beginning = "";

/** Begins with the time, so that the ledger's index grows at its end: anywhere else each row would touch a page of its own. */
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
