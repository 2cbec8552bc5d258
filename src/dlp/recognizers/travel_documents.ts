/**
 * Machine-readable zones of passports, identity cards and visas. Source: ICAO Doc 9303; check digits with
 * weights 7, 3, 1 over digits, letters (A is 10) and fillers.
 */

import type { Recognizer } from "./recognizer.ts";
import { report, type ScannedView } from "./scanned_view.ts";

/** Line lengths: cards with three lines, cards with two, passports. */
const LENGTHS = new Set([30, 36, 44]);

function isOfZone(unit: number): boolean {
  return unit === 60 || unit >= 65 && unit <= 90 || unit >= 48 && unit <= 57;
}

function adds(line: string, from: number, to: number): boolean {
  let sum = 0;
  for (let i = from; i < to; i++) {
    const c = line.charCodeAt(i);
    sum += (c === 60 ? 0 : c < 58 ? c - 48 : c - 55) * [7, 3, 1][(i - from) % 3];
  }
  return line[to] === String(sum % 10);
}

/** The line with document number, date of birth and expiry, each with a check digit. */
function isNumberLine(line: string): boolean {
  return line.length >= 36 && adds(line, 0, 9) && adds(line, 13, 19) && adds(line, 21, 27);
}

/** The lines around a filler; returns their end. */
function scanZone(view: ScannedView, at: number): number {
  const { text } = view;
  let start = at;
  while (start > 0 && at - start < 44 && isOfZone(text.charCodeAt(start - 1))) start--;
  const first = lineAt(text, start);
  if (!LENGTHS.has(first.length)) return start + Math.max(1, first.length);
  const lines = [first];
  let end = start + first.length;
  while (lines.length < 3) {
    const gap = /^(?:\r?\n|\\n| )[ \t]{0,4}/.exec(text.slice(end, end + 8))?.[0].length ?? 0;
    const next = gap > 0 ? lineAt(text, end + gap) : "";
    if (next.length !== first.length) break;
    lines.push(next);
    end += gap + next.length;
  }
  const numbered = first.length === 30
    ? lines.length === 3 && adds(lines[0], 5, 14) && adds(lines[1], 0, 6) && adds(lines[1], 8, 14)
    : lines.slice(0, 2).some(isNumberLine);
  const named = /^[PVIAC][A-Z<][A-Z]{3}[A-Z<]+$/.test(first) && /[A-Z]<<[A-Z<]+$/.test(first);
  if (numbered) report(view, "TRAVEL_DOCUMENT", start, end, 0.95);
  else if (named) report(view, "TRAVEL_DOCUMENT", start, start + first.length, 0.8);
  return end;
}

function lineAt(text: string, start: number): string {
  let end = start;
  while (end - start < 45 && isOfZone(text.charCodeAt(end))) end++;
  return text.slice(start, end);
}

export const TRAVEL_DOCUMENTS: readonly Recognizer[] = [
  {
    type: "TRAVEL_DOCUMENT",
    group: "NATIONAL_ID",
    aliases: ["MRZ", "PASSPORT_MRZ", "MACHINE_READABLE_ZONE"],
    triggers: [{ on: "sign", signs: "<", scan: scanZone }],
    samples: {
      found: [
        "«P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10»",
        "«I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<»",
        "zone «L898902C36UTO7408122F1204159ZE184226B<<<<<10»",
      ],
      clean: ["L898902C37UTO7408122F1204159ZE184226B<<<<<10", "<DIV><P>A</P></DIV>", "cout << A << B;"],
    },
  },
];
