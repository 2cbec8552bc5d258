/**
 * Placeholders of masked values: `<EMAIL_ADDRESS_1>`, numbered per type by first occurrence of each distinct
 * value. Numbers that occur in the request are skipped, so that every placeholder is unique.
 */
import { foldValue } from "./exact_words.ts";

export interface Placeholders {
  of(type: string, category: string, value: string): string;
  /** Excludes the numbers of placeholders that these texts contain. */
  avoid(texts: Iterable<string>): void;
  /** Placeholders in use, or contained in a text. */
  readonly taken: Set<string>;
  /** The value of each placeholder, as first written. */
  readonly originals: ReadonlyMap<string, string>;
}

/** Maximum length of a type name in a placeholder. */
const LONGEST_NAME = 40;
const WRITTEN = /<[A-Z][A-Z0-9_]*_\d{1,9}>/g;
/** The name of a placeholder, and with escapes of Markdown in it. */
const NAME = "[A-Z](?:[A-Z0-9]|\\\\{0,2}_)*\\\\{0,2}_\\d{1,9}";
/** Spellings of a placeholder: as it is, and escaped as in JSON, Markdown, markup and URLs. In any case. */
const SPELLINGS =
  `(?:<|\\\\u003c)(${NAME})(?:>|\\\\u003e)|\\\\<(${NAME})\\\\>|&lt;(${NAME})&gt;|%3c(${NAME})%3e`;
const SPELLED = new RegExp(SPELLINGS, "gi");
const SPELLED_HERE = new RegExp(SPELLINGS, "iy");

/**
 * @param texts all texts of the request
 * @param taken placeholders of others, to which these are added: no placeholder of one is a placeholder of the other
 */
export function placeholders(texts: Iterable<string>, taken = new Set<string>()): Placeholders {
  const avoid = (texts: Iterable<string>) => {
    for (const text of texts) {
      for (const match of text.matchAll(SPELLED)) taken.add(placeholderIn(match));
    }
  };
  avoid(texts);
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const originals = new Map<string, string>();
  return {
    originals,
    taken,
    avoid,
    of(type, category, value) {
      const written = `${type} ${value}`;
      const before = known.get(written);
      if (before !== undefined) return before;
      const name = nameOf(type);
      // Type names contain no line break.
      const key = `${name}\n${sameness(type, category, value)}`;
      let placeholder = known.get(key);
      if (placeholder === undefined) {
        let n = counts.get(name) ?? 0;
        do placeholder = `<${name}_${++n}>`; while (taken.has(placeholder));
        taken.add(placeholder);
        counts.set(name, n);
        known.set(key, placeholder);
        originals.set(placeholder, unmasked(value, originals));
      }
      known.set(written, placeholder);
      return placeholder;
    },
  };
}

/** Maximum length of a placeholder. */
const LONGEST = LONGEST_NAME + 16;

/** Whether a span is within a placeholder that represents a value. */
export function isWithinPlaceholder(
  text: string,
  start: number,
  end: number,
  originals: ReadonlyMap<string, string>,
): boolean {
  if (originals.size === 0 || end - start > LONGEST) return false;
  // Searched in the vicinity: with many spans in a long text, searching the whole text would take quadratic
  // time.
  const from = Math.max(0, start - LONGEST);
  const near = text.slice(from, end + LONGEST);
  const open = near.lastIndexOf("<", start - from);
  const close = near.indexOf(">", start - from);
  return open >= 0 && close + 1 >= end - from && originals.has(near.slice(open, close + 1));
}

/** The text with the names in known placeholders overwritten, so that they are no context for the text beside them. Same length. */
export function unnamed(text: string, originals: ReadonlyMap<string, string>): string {
  if (originals.size === 0 || !text.includes("<")) return text;
  return text.replace(
    WRITTEN,
    (written) => originals.has(written) ? `<${"x".repeat(written.length - 2)}>` : written,
  );
}

/** A text with placeholders replaced by their values. */
export function unmasked(text: string, originals: ReadonlyMap<string, string>): string {
  if (originals.size === 0 || !text.includes("<")) return text;
  return text.replace(WRITTEN, (written) => originals.get(written) ?? written);
}

/** The placeholder that a match of {@link SPELLED} means. */
function placeholderIn(match: RegExpMatchArray): string {
  const name = match[1] ?? match[2] ?? match[3] ?? match[4];
  return `<${name.replaceAll("\\", "").toUpperCase()}>`;
}

/** A placeholder in one of its spellings: its length, and its value escaped as the spelling requires. */
export interface Spelled {
  readonly length: number;
  readonly value: string;
}

/** The known placeholder at a position; null: there is none. */
export function spelledAt(
  text: string,
  at: number,
  originals: ReadonlyMap<string, string>,
): Spelled | null {
  SPELLED_HERE.lastIndex = at;
  const match = SPELLED_HERE.exec(text);
  const value = match === null ? undefined : valueOf(match, originals);
  return value === undefined ? null : { length: match![0].length, value };
}

function valueOf(match: RegExpMatchArray, originals: ReadonlyMap<string, string>): string | undefined {
  const value = originals.get(placeholderIn(match));
  if (value === undefined) return undefined;
  if (match[3] !== undefined) return value.replace(/[&<>]/g, (sign) => ENTITIES[sign]);
  return match[4] === undefined ? value : encodeURIComponent(value.toWellFormed());
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A text of the model with placeholders in all spellings replaced by their values. */
export function respelled(text: string, originals: ReadonlyMap<string, string>): string {
  if (originals.size === 0 || !/[<&%\\]/.test(text)) return text;
  return text.replace(
    SPELLED,
    (written, ...groups) => valueOf([written, ...groups.slice(0, 4)], originals) ?? written,
  );
}

function nameOf(type: string): string {
  const name = type.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^[^A-Z]+|_+$/g, "").slice(
    0,
    LONGEST_NAME,
  );
  return name === "" ? "VALUE" : name;
}

/** Types outside of finance and national ids whose values are equal regardless of grouping. */
const GROUPED = new Set(["PHONE_NUMBER", "MAC_ADDRESS", "IMEI", "ICCID", "VIN"]);
/** Case-sensitive types. */
const AS_WRITTEN = new Set(["CRYPTO", "URL"]);

/**
 * The canonical form of a value, equal for different spellings. Separators count where they are significant,
 * as in dates, addresses and matches of custom patterns: 1/11/1980 and 11/1/1980 are different dates.
 */
function sameness(type: string, category: string, value: string): string {
  if (category === "secret" || category === "regex" || AS_WRITTEN.has(type)) return value;
  const folded = foldValue(value);
  return category === "financial" || category === "national_id" || GROUPED.has(type)
    ? folded.replace(/[^\p{L}\p{N}]/gu, "")
    : folded;
}
