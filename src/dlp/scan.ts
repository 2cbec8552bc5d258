/**
 * Finds sensitive values in one text, in time that grows with its length only.
 *
 * A long text is taken in segments. Each is folded to plain text if it is not ASCII, walked once, and walked again
 * where it holds encoded parts or values cut by a line break. Every offset is mapped back, so that findings are in
 * UTF-16 units of the text given; a value found only after decoding has the span of the encoded run.
 */

import { decodings, joinLines } from "./decode.ts";
import { categoryOf } from "./entities.ts";
import { fold, type View } from "./fold.ts";
import { scanAssignment, scanManifest } from "./recognizers/credentials.ts";
import { scanPlaces, scanSpelledEmails } from "./recognizers/contact.ts";
import { ALNUM, CLASS, type Field, type Raw } from "./recognizers/field.ts";
import { ACCOUNTS } from "./recognizers/financial.ts";
import { EUROPE } from "./recognizers/national_eu.ts";
import { WORLD } from "./recognizers/national_other.ts";
import { US_UK } from "./recognizers/national_us_uk.ts";
import { numberTable } from "./recognizers/numbers.ts";
import { scanPersons } from "./recognizers/person.ts";
import { type Plan, Walk } from "./walk.ts";

export interface Finding {
  category: "pii" | "financial" | "national_id" | "secret" | "stop_word" | "regex";
  entityType: string;
  start: number;
  end: number;
  confidence: number;
}

export interface Detector {
  readonly types: ReadonlySet<string>;
  scan(text: string): Finding[];
  /** The same, handing control back at least every two milliseconds or so of work. */
  scanSliced(text: string): Generator<void, Finding[]>;
}

const REPORTED = 0.5;
/** What a value that is put together from two lines must reach: most neighbours on two lines are not one value. */
const JOINED = 0.85;
/** Work between two looks at the clock, in units of text. */
const STRIDE = 1024;
const SLICE_MS = 1.5;
/** Number types beyond which a bare number is too likely to pass one of the checks by chance. */
const FOCUS = 6;

const RULES = [...ACCOUNTS, ...US_UK, ...EUROPE, ...WORLD];
const detectors = new Map<string, Detector>();

/** The detector for a set of types; the same object for the same set. */
export function detector(types: ReadonlySet<string>): Detector {
  const key = [...types].sort().join(" ");
  let known = detectors.get(key);
  if (!known) {
    if (detectors.size > 200) detectors.clear();
    detectors.set(key, known = build(new Set(types)));
  }
  return known;
}

function build(types: ReadonlySet<string>): Detector {
  const rules = RULES.filter((rule) => types.has(rule.type));
  const any = (...names: string[]) => names.some((name) => types.has(name));
  const plan: Plan = {
    types,
    numbers: numberTable(rules),
    focused: new Set(rules.map((rule) => rule.type)).size <= FOCUS,
    secrets: [...types].some((type) => categoryOf(type) === "secret"),
    wants: {
      email: any("EMAIL_ADDRESS"),
      phone: any("PHONE_NUMBER"),
      ip: any("IP_ADDRESS"),
      mac: any("MAC_ADDRESS"),
      iban: any("IBAN_CODE"),
      swift: any("SWIFT_CODE"),
      cvv: any("CVV"),
      crypto: any("CRYPTO"),
      places: any("URL", "DOMAIN_NAME", "STREET_ADDRESS", "POSTAL_CODE"),
      persons: any("PERSON", "DATE_OF_BIRTH", "AGE", "ORGANIZATION", "LOCATION"),
    },
  };
  return {
    types,
    scan(text) {
      const work = scanText(plan, text);
      for (;;) {
        const step = work.next();
        if (step.done) return step.value;
      }
    },
    *scanSliced(text) {
      let until = performance.now() + SLICE_MS;
      const work = scanText(plan, text);
      for (;;) {
        const step = work.next();
        if (step.done) return step.value;
        if (performance.now() < until) continue;
        yield;
        until = performance.now() + SLICE_MS;
      }
    },
  };
}

function* scanText(plan: Plan, text: string): Generator<void, Finding[]> {
  const found: Raw[] = [];
  for (let start = 0, end = 0; end < text.length; start = overlapOf(text, end)) {
    end = segmentEnd(text, start);
    const first = found.length;
    yield* scanSegment(plan, start === 0 && end === text.length ? text : text.slice(start, end), found);
    for (let i = first; i < found.length; i++) {
      found[i].start += start;
      found[i].end += start;
    }
  }
  return settle(found);
}

/**
 * Folding and decoding work on a whole text at once, so a long one is taken in segments that overlap: a value cut at
 * the end of one stands whole in the next, together with the words before it.
 */
const SEGMENT = 32_768;
const OVERLAP = 2048;

function segmentEnd(text: string, start: number): number {
  const end = start + SEGMENT;
  if (end + OVERLAP >= text.length) return text.length;
  const blank = text.lastIndexOf("\n", end);
  const cut = blank > end - 1024 ? blank : text.lastIndexOf(" ", end);
  // A token may be thousands of units long, but holds no blank.
  const tidy = cut > start + SEGMENT / 2 ? cut : end;
  // A key block is one value of many lines.
  const block = text.slice(start, tidy).lastIndexOf("-----BEGIN ");
  return block > SEGMENT / 2 && !text.slice(start + block, tidy).includes("-----END ") ? start + block : tidy;
}

function overlapOf(text: string, end: number): number {
  const back = text.indexOf(" ", end - OVERLAP);
  const start = back > 0 && back < end - OVERLAP / 2 ? back : end - OVERLAP;
  // Not between the halves of a surrogate pair.
  return (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? start - 1 : start;
}

function* scanSegment(plan: Plan, text: string, found: Raw[]): Generator<void, void> {
  const view: View = fold(text) ?? { text };
  yield;
  yield* scanView(plan, view, found, REPORTED);
  const joined = joinLines(view);
  yield;
  if (joined) yield* scanView(plan, joined, found, JOINED);
  // One level of encoding, and one more inside it.
  let layer = decodings(view);
  yield;
  for (let depth = 0; layer && depth < 2; depth++) {
    yield* scanView(plan, layer, found, REPORTED);
    layer = depth === 0 ? decodings(layer) : null;
  }
}

/** Walks one view and adds what it finds, in offsets of the text that was sent. */
function* scanView(plan: Plan, view: View, found: Raw[], least: number): Generator<void, void> {
  const field = fieldOf(plan, view.text);
  const walk = new Walk(plan, field);
  for (let at = 0; at < view.text.length; at = walk.at) {
    walk.until(at + STRIDE);
    yield;
  }
  if (plan.secrets) {
    scanManifest(field);
    if (plan.focused) scanAssignment(field);
  }
  if (plan.wants.email) scanSpelledEmails(field);
  if (plan.wants.places) scanPlaces(field);
  if (plan.wants.persons) scanPersons(field);
  for (const raw of field.found) {
    if (raw.confidence < least || !plan.types.has(raw.type)) continue;
    if (view.fresh) {
      let touches = false;
      for (let i = raw.start; i < raw.end && !touches; i++) {
        touches = view.fresh[i] === 1 || view.fresh[i] === 2 && i > raw.start;
      }
      if (!touches) continue;
    }
    const start = view.from ? view.from[raw.start] : raw.start;
    const end = view.to ? view.to[raw.end - 1] : raw.end;
    found.push({ type: raw.type, start, end, confidence: raw.confidence });
  }
}

function fieldOf(plan: Plan, text: string): Field {
  let first = 0;
  let last = text.length;
  while (first < last && (CLASS[text.charCodeAt(first)] & ALNUM) === 0 && text.charCodeAt(first) < 128) {
    first++;
  }
  while (
    last > first && (CLASS[text.charCodeAt(last - 1)] & ALNUM) === 0 && text.charCodeAt(last - 1) < 128
  ) last--;
  return { text, first, last, focused: plan.focused, wants: plan.types, found: [] };
}

/** One finding for each value: where spans overlap the longest wins, then the surer, then the more specific. */
function settle(found: Raw[]): Finding[] {
  found.sort((a, b) => a.start - b.start);
  const kept: Raw[] = [];
  for (let i = 0; i < found.length;) {
    let end = found[i].end;
    let j = i + 1;
    for (; j < found.length && found[j].start < end; j++) end = Math.max(end, found[j].end);
    if (j === i + 1) kept.push(found[i]);
    else choose(found.slice(i, j), kept);
    i = j;
  }
  return kept.sort((a, b) => a.start - b.start).map((raw) => ({
    category: categoryOf(raw.type),
    entityType: raw.type,
    start: raw.start,
    end: raw.end,
    confidence: raw.confidence,
  }));
}

/** At most this many of a chain of overlapping spans are compared one with another. */
const CHAIN = 400;

function choose(chain: Raw[], kept: Raw[]): void {
  chain.sort((a, b) =>
    (b.end - b.start) - (a.end - a.start) || b.confidence - a.confidence || specificity(b) - specificity(a)
  );
  const taken: Raw[] = [];
  for (const raw of chain.slice(0, CHAIN)) {
    if (!taken.some((other) => other.start < raw.end && raw.start < other.end)) taken.push(raw);
  }
  kept.push(...taken);
}

function specificity(raw: Raw): number {
  return raw.type === "GENERIC_SECRET" ? 0 : raw.type === "API_KEY" || raw.type === "PHONE_NUMBER" ? 1 : 2;
}
