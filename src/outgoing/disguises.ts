/**
 * Detects secrets in a text in a form that is not searched for directly: escaped, spaced out, reversed, or
 * within an encoding.
 */
import { Buffer } from "node:buffer";

/** Maximum length of a message; longer ones are truncated before. */
const LONGEST = 100_000;
/** Shorter values are words that may occur in any text. */
const LEAST = 8;
/** Runs that may be an encoding of a secret. */
const BASE64 = /[\w+/-]{11,}/g;
const HEX = /(?:[\da-f]{2}[\s:,]?){8,}/gi;

const ESCAPES = /%([\da-f]{2})|\\u00([\da-f]{2})|\\x([\da-f]{2})|&#x([\da-f]{1,6});|&#(\d{1,7});/gi;

/** Whether a text contains one of the secrets in any form: escaped, encoded, or with characters in between. */
export function disguises(text: string, secrets: readonly string[]): boolean {
  if (secrets.length === 0 || text === "") return false;
  const wanted = secrets.map(bare).filter((secret) => secret.length >= LEAST);
  const holds = (reading: string) => {
    const read = bare(reading);
    return wanted.some((secret) => read.includes(secret));
  };
  const plain = text.slice(0, LONGEST).replace(ESCAPES, (_, ...groups) => {
    const [percent, json, x, hex, decimal] = groups;
    const code = decimal === undefined ? parseInt(percent ?? json ?? x ?? hex, 16) : Number(decimal);
    return code < 256 ? String.fromCharCode(code) : "";
  });
  if (holds(plain) || holds([...plain].reverse().join(""))) return true;
  for (const [run] of plain.matchAll(BASE64)) {
    for (let from = 0; from < 4; from++) {
      if (holds(Buffer.from(run.slice(from), "base64url").toString("latin1"))) return true;
    }
  }
  for (const [run] of plain.matchAll(HEX)) {
    if (holds(Buffer.from(run.replace(/[\s:,]/g, ""), "hex").toString("latin1"))) return true;
  }
  return false;
}

/** Only letters and digits, in lower case. */
function bare(text: string): string {
  return text.toLowerCase().replace(/[^a-z\d]/g, "");
}
