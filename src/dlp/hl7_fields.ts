/**
 * Fields of messages that have positions and codes instead of names: of patients in HL7 (version 2), such as
 * `PID|1||…||DOE^JANE||19840312|F`, and of insured persons in X12, such as `REF*SY*…~DMG*D8*19840312*F~`.
 */

import type { Span } from "./view.ts";

const SEGMENT = /(?:^|[\r\n"])PID\|([^\r\n"]{1,2000})/g;
/** By position; fields with several values or components are named by their first one. */
const NAMES: Readonly<Record<number, string>> = {
  7: "date of birth",
  13: "phone",
  14: "phone",
  19: "social security number",
  20: "driver license",
};

/** By the code behind a number in the list of a patient's identifiers. */
const IDENTIFIERS: Readonly<Record<string, string>> = {
  MR: "medical record number",
  PI: "patient id",
  PT: "patient id",
  SS: "social security number",
  DL: "driver license",
  PPN: "passport number",
  NH: "nhs number",
  NPI: "npi",
};

/** The identifiers of a patient: `1220467^^^HOSP^MR~536904399^^^SSA^SS`. */
function identifiers(field: string, start: number, add: (name: string, value: Span) => void): void {
  for (const one of field.split("~")) {
    const parts = one.split("^");
    const name = IDENTIFIERS[parts[4] ?? ""];
    if (name !== undefined) add(name, { start, end: start + parts[0].length });
    start += one.length + 1;
  }
}

const X12_SEGMENT = /(?:^|[~\n\r"])(NM1|REF|DMG|PER)\*([^~\n\r"]{1,400})/g;
/** What the code in front of a value says. */
const CODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  NM1: { XX: "npi", 34: "social security number", 24: "ein" },
  REF: { SY: "social security number", EI: "ein" },
  DMG: { D8: "date of birth" },
  PER: { TE: "phone", FX: "fax", CP: "mobile phone" },
};

/** Calls `add` with each value in an X12 message that a code names, and its name. */
export function x12Fields(text: string, add: (name: string, value: Span) => void): void {
  for (const match of text.matchAll(X12_SEGMENT)) {
    let start = match.index + match[0].length - match[2].length;
    let name: string | undefined;
    for (const element of match[2].split("*")) {
      if (name !== undefined) add(name, { start, end: start + element.length });
      name = CODES[match[1]][element];
      start += element.length + 1;
    }
  }
}

/** Calls `add` with each such value of HL7 and its name. */
export function hl7Fields(text: string, add: (name: string, value: Span) => void): void {
  for (const match of text.matchAll(SEGMENT)) {
    let start = match.index + match[0].length - match[1].length;
    match[1].split("|").forEach((field, i) => {
      if (i === 2) identifiers(field, start, add);
      const name = NAMES[i + 1];
      const length = field.search(/[\^~]|$/);
      if (name !== undefined) add(name, { start, end: start + length });
      start += field.length + 1;
    });
  }
}
