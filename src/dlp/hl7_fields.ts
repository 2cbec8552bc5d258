/** Fields of patients in HL7 messages (version 2), which have positions instead of names: `PID|1||…||DOE^JANE||19840312|F`. */

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

/** Calls `add` with each such value and its name. */
export function hl7Fields(text: string, add: (name: string, value: Span) => void): void {
  for (const match of text.matchAll(SEGMENT)) {
    let start = match.index + match[0].length - match[1].length;
    match[1].split("|").forEach((field, i) => {
      const name = NAMES[i + 1];
      const length = field.search(/[\^~]|$/);
      if (name !== undefined) add(name, { start, end: start + length });
      start += field.length + 1;
    });
  }
}
