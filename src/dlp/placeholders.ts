/**
 * Placeholders of masked values: `<EMAIL_ADDRESS_1>`, one number per distinct value, counted per type by first
 * appearance. A number that the request itself writes is skipped, so that no placeholder means two things.
 */
import { foldValue } from "./exact_words.ts";

export interface Placeholders {
  of(type: string, category: string, value: string): string;
  /** What each placeholder stands for, as it was first written. */
  readonly originals: ReadonlyMap<string, string>;
}

/** The longest type name that a placeholder takes over. */
const LONGEST_NAME = 40;
const WRITTEN = /<[A-Z][A-Z0-9_]*_\d{1,9}>/g;

/** @param texts all texts of the request */
export function placeholders(texts: Iterable<string>): Placeholders {
  const taken = new Set<string>();
  for (const text of texts) {
    if (!text.includes("<")) continue;
    for (const [written] of text.matchAll(WRITTEN)) taken.add(written);
  }
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const originals = new Map<string, string>();
  return {
    originals,
    of(type, category, value) {
      const written = `${type} ${value}`;
      const before = known.get(written);
      if (before !== undefined) return before;
      const name = nameOf(type);
      // No type's own name has a line break in it.
      const key = `${name}\n${sameness(type, category, value)}`;
      let placeholder = known.get(key);
      if (placeholder === undefined) {
        let n = counts.get(name) ?? 0;
        do placeholder = `<${name}_${++n}>`; while (taken.has(placeholder));
        counts.set(name, n);
        known.set(key, placeholder);
        originals.set(placeholder, unmasked(value, originals));
      }
      known.set(written, placeholder);
      return placeholder;
    },
  };
}

/** The longest that one is: a name, a number, and what is around them. */
const LONGEST = LONGEST_NAME + 16;

/** Whether a span of a text lies in a placeholder that stands for something. */
export function isWithinPlaceholder(
  text: string,
  start: number,
  end: number,
  originals: ReadonlyMap<string, string>,
): boolean {
  if (originals.size === 0 || end - start > LONGEST) return false;
  // Looked for near by: of many spans in a long text each would search it to its end.
  const from = Math.max(0, start - LONGEST);
  const near = text.slice(from, end + LONGEST);
  const open = near.lastIndexOf("<", start - from);
  const close = near.indexOf(">", start - from);
  return open >= 0 && close + 1 >= end - from && originals.has(near.slice(open, close + 1));
}

/** A text with its placeholders turned back. */
export function unmasked(text: string, originals: ReadonlyMap<string, string>): string {
  if (originals.size === 0 || !text.includes("<")) return text;
  return text.replace(WRITTEN, (written) => originals.get(written) ?? written);
}

function nameOf(type: string): string {
  const name = type.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^[^A-Z]+|_+$/g, "").slice(
    0,
    LONGEST_NAME,
  );
  return name === "" ? "VALUE" : name;
}

/** Types outside of finances and of national numbers whose values are the same, however their digits are grouped. */
const GROUPED = new Set(["PHONE_NUMBER", "MAC_ADDRESS", "IMEI", "ICCID", "VIN"]);
/** Types whose capitals and small letters are different. */
const AS_WRITTEN = new Set(["CRYPTO", "URL"]);

/**
 * What two spellings of one value have in common. Where signs part what they stand between, as in days, addresses and what
 * a caller's pattern matches, they count: 1/11/1980 is another day than 11/1/1980.
 */
function sameness(type: string, category: string, value: string): string {
  if (category === "secret" || category === "regex" || AS_WRITTEN.has(type)) return value;
  const folded = foldValue(value);
  return category === "financial" || category === "national_id" || GROUPED.has(type)
    ? folded.replace(/[^\p{L}\p{N}]/gu, "")
    : folded;
}
