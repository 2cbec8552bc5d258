/** Decodes bytes that are written one by one: hex dumps with offsets, and lists of hexadecimal or decimal numbers. */
import { Buffer } from "node:buffer";
import { readable } from "../exchange/readable.ts";
import type { Span, Spot } from "./view.ts";

/** Pairs of hexadecimal digits with separators, as in program code. */
const BYTES = /(?<![0-9A-Za-z])(?:0x)?[0-9a-f]{2}(?:[ ,:;-]{1,2}(?:0x)?[0-9a-f]{2}){5,}(?![0-9A-Za-z])/gi;
/** Bytes as decimal numbers, as JSON has them of a buffer. */
const DECIMALS = /(?<![\w.,-])\d{2,3}(?: ?, ?\d{2,3}){8,}(?![\w.-])/g;
/** The same, separated by one or two blanks, as shells and Perl print them. */
const SPACED_DECIMALS = /(?<![\w.,-]|\d {1,2})\d{2,3}(?: {1,2}\d{2,3}){8,}(?![\w.,-]| {1,2}\d)/g;
/** A line of a hex dump: offset, bytes in groups, and possibly text. */
const DUMP_LINE = /^[ \t]*(?:0x)?[0-9a-f]{4,16}:? {1,3}((?:[0-9a-f]{2,8}(?: {1,2}|$|\r))+)/i;

/** Minimum length of runs of hexadecimal digits and separators that are examined. */
const FEWEST_OF_DUMP = 16;
/** Characters of such a run. */
const OF_DUMP = new Uint8Array(65536);
for (const c of "0123456789abcdefABCDEFxX ,:;-") OF_DUMP[c.charCodeAt(0)] = 1;
const THREE_BYTES = /[0-9a-f]{2,8}[ ,:;-]{1,2}(?:0x)?[0-9a-f]{2,8}[ ,:;-]{1,2}(?:0x)?[0-9a-f]{2}/i;

/** Runs of byte lists. Samples units at intervals, since words end such a run quickly. */
function* dumpRuns(text: string): Generator<Span> {
  for (let p = FEWEST_OF_DUMP - 1; p < text.length;) {
    let q = p;
    const stop = p - FEWEST_OF_DUMP;
    while (q > stop && OF_DUMP[text.charCodeAt(q)] === 1) q--;
    if (q > stop) {
      p = q + FEWEST_OF_DUMP;
      continue;
    }
    while (p < text.length && OF_DUMP[text.charCodeAt(p)] === 1) p++;
    yield { start: stop + 1, end: p };
    p += FEWEST_OF_DUMP;
  }
}

/** Adds the hex dumps and byte lists of a text that decode to readable text. */
export function hexDumps(text: string, spots: Spot[]): void {
  let dumped = 0;
  for (const { start, end } of dumpRuns(text)) {
    if (end <= dumped || !THREE_BYTES.test(text.slice(start, end))) continue;
    const dump = dumpAt(text, text.lastIndexOf("\n", start) + 1);
    if (dump) {
      dumped = dump.end;
      if (dump.says !== null) spots.push({ ...dump, says: dump.says });
    } else listed(text, start, end, spots);
  }
}

/** Byte lists in a run. */
function listed(text: string, start: number, end: number, spots: Spot[]): void {
  const from = Math.max(0, start - 1);
  const run = text.slice(from, end + 1);
  let done = from;
  for (const match of run.matchAll(run.includes(",") ? DECIMALS : SPACED_DECIMALS)) {
    const spaced = !match[0].includes(",");
    const bytes = match[0].split(spaced ? / +/ : ",").map(Number);
    if (!bytes.every((byte) => byte > 31 && byte < 127 || byte === 10 || byte === 13)) continue;
    const says = Buffer.from(bytes).toString("latin1");
    // Pairs of digits may be hexadecimal: of text, they are no letters and digits in decimal.
    if (spaced && says.replace(/[^A-Za-z0-9]/g, "").length < 0.7 * says.length) continue;
    const said = from + match.index;
    done = said + match[0].length;
    spots.push({ start: said, end: done, says });
    if (match[0].length === run.trim().length) return;
  }
  for (const match of run.matchAll(BYTES)) {
    const says = readable(Buffer.from(match[0].replace(/0x|[ ,:;-]/gi, ""), "hex"));
    if (says === null || from + match.index < done) continue;
    spots.push({ start: from + match.index, end: from + match.index + match[0].length, says });
  }
}

/** The lines of a hex dump as one run; null: none. */
function dumpAt(text: string, start: number): (Span & { says: string | null }) | null {
  let hex = "";
  let end = start;
  for (let at = start; at < text.length;) {
    const next = text.indexOf("\n", at);
    const stop = next < 0 ? text.length : next;
    const match = stop - at < 200 ? DUMP_LINE.exec(text.slice(at, stop)) : null;
    if (!match) break;
    // The text column may start with something that looks like bytes.
    hex += match[1].replace(/\s/g, "").slice(0, 32);
    end = stop;
    at = stop + 1;
  }
  if (hex === "") return null;
  return { start, end, says: hex.length >= 12 ? readable(Buffer.from(hex, "hex")) : null };
}
