/**
 * Finds sensitive values in one text: one walk over it, with every recognizer started only where it can succeed.
 *
 * The walk reads each unit's class from a table and splits the text into runs of letters, digits, `_` and `-`. A run
 * with a digit may be a number or a token, a long run a token, a few words name what follows them; `@`, `:` and `=`
 * start the rest. Texts that are not plain ASCII are folded first, encoded parts are decoded and walked again, and
 * every offset is mapped back, so that findings are in UTF-16 units of the text given.
 */

import { decodings, joinLines } from "./decode.ts";
import { categoryOf } from "./entities.ts";
import { fold, type View } from "./fold.ts";
import {
  scanAssignment,
  scanAuthorization,
  scanJwt,
  scanKeyBlock,
  scanManifest,
  scanNamedValue,
  scanPassword,
  scanShaped,
  scanUserinfo,
  scanUserOption,
  scanVendor,
} from "./recognizers/credentials.ts";
import { scanEmail, scanPhone, scanPlaces, scanSpelledEmails } from "./recognizers/contact.ts";
import { ALNUM, CLASS, DIGIT, type Field, JOIN, LOWER, type Raw, SIGN } from "./recognizers/field.ts";
import { ACCOUNTS, scanCrypto, scanCvv, scanIban, scanSwift } from "./recognizers/financial.ts";
import { EUROPE } from "./recognizers/national_eu.ts";
import { WORLD } from "./recognizers/national_other.ts";
import { US_UK } from "./recognizers/national_us_uk.ts";
import { scanColons, scanIpv4, scanMac } from "./recognizers/network.ts";
import { type NumberTable, numberTable, scanNumbers } from "./recognizers/numbers.ts";
import { scanPersons } from "./recognizers/person.ts";

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
const STRIDE = 4096;
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

interface Plan {
  types: ReadonlySet<string>;
  numbers: NumberTable;
  focused: boolean;
  secrets: boolean;
  wants: Record<
    "email" | "phone" | "ip" | "mac" | "iban" | "swift" | "cvv" | "crypto" | "places" | "persons",
    boolean
  >;
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
  const tidy = cut > end - 1024 ? cut : end;
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

/** One walk over a text, in strides. */
class Walk {
  at = 0;
  #numbersDone = 0;
  #phoneDone = 0;
  #colonsDone = 0;
  #valueDone = 0;
  #valueSeen = 0;
  #keyDone = 0;

  constructor(readonly plan: Plan, readonly field: Field) {}

  until(limit: number): void {
    const text = this.field.text;
    const length = text.length;
    let p = this.at;
    while (p < limit && p < length) {
      let kind = CLASS[text.charCodeAt(p)];
      if ((kind & (ALNUM | JOIN)) === 0) {
        if (kind === SIGN) this.#sign(p, text.charCodeAt(p));
        p++;
        continue;
      }
      const start = p++;
      for (; p < length; p++) {
        const next = CLASS[text.charCodeAt(p)];
        if ((next & (ALNUM | JOIN)) === 0) break;
        kind |= next;
      }
      if ((kind & DIGIT) !== 0 || p - start > 5) this.#run(start, p, kind);
      else if (p - start <= 3 || text.charCodeAt(p) === 46) this.#word(start, p);
    }
    this.at = p;
  }

  /** Short words that name what follows, or begin a token with dots in it. */
  #word(start: number, end: number): void {
    const text = this.field.text;
    const c = text.charCodeAt(start) | 32;
    if (c === 99 && end - start === 3 && this.plan.wants.cvv) scanCvv(this.field, start);
    if (!this.plan.secrets) return;
    if (text.charCodeAt(end) === 46) scanVendor(this.field, start);
    else if (c === 112 && /^pwd$/i.test(text.slice(start, end))) scanPassword(this.field, start);
    else if (c === 45 && end - start === 2 && text.charCodeAt(start + 1) === 117) {
      scanUserOption(this.field, start);
    }
  }

  #sign(at: number, c: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (c === 64) {
      if (plan.wants.email) scanEmail(field, at);
    } else if (c === 58) {
      if (plan.secrets && text.charCodeAt(at + 1) === 47 && text.charCodeAt(at + 2) === 47) {
        scanUserinfo(field, at);
      } else if ((plan.wants.ip || plan.wants.mac) && at >= this.#colonsDone) {
        this.#colonsDone = scanColons(field, at);
      }
    }
  }

  #run(start: number, end: number, kind: number): void {
    const { plan, field } = this;
    const text = field.text;
    const length = end - start;
    if (length > 20000) return this.#long(start, end);
    if ((kind & DIGIT) !== 0) this.#digits(start, end);
    if (plan.wants.swift && (length === 8 || length === 11) && (kind & (LOWER | JOIN)) === 0) {
      scanSwift(field, start, end);
    }
    if (plan.wants.cvv && length >= 4 && length <= 12 && /^[csv]/i.test(text[start])) scanCvv(field, start);
    if (plan.wants.mac && (length === 4 || length === 17 || length === 23)) scanMac(field, start, end);
    if (plan.secrets) this.#secrets(start, end, kind);
  }

  /** An endless run holds data; its beginning may still be a key. */
  #long(start: number, end: number): void {
    if (this.plan.secrets) {
      scanVendor(this.field, start);
      scanJwt(this.field, start);
    }
    this.#numbersDone = end;
  }

  #digits(start: number, end: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (plan.numbers.rules > 0 && start >= this.#numbersDone) {
      this.#numbersDone = scanNumbers(field, plan.numbers, start, end);
    }
    // Each part of the run between joins may begin a value of its own.
    for (let p = start; p < end; p++) {
      if ((CLASS[text.charCodeAt(p)] & JOIN) !== 0) continue;
      let q = p + 1;
      while (q < end && (CLASS[text.charCodeAt(q)] & JOIN) === 0) q++;
      this.#part(p, q);
      p = q;
    }
  }

  #part(start: number, end: number): void {
    const { plan, field } = this;
    const text = field.text;
    if (CLASS[text.charCodeAt(start)] === DIGIT) {
      if (plan.wants.phone && start >= this.#phoneDone) {
        this.#phoneDone = Math.max(start, scanPhone(field, start));
      }
      if (plan.wants.ip && text.charCodeAt(end) === 46 && end - start <= 3) scanIpv4(field, start);
    } else if (plan.wants.iban && end - start >= 4 && CLASS[text.charCodeAt(start + 2)] === DIGIT) {
      scanIban(field, start);
    }
    if (plan.wants.crypto && end - start >= 25) scanCrypto(field, start, end);
  }

  #secrets(start: number, end: number, kind: number): void {
    const { field } = this;
    const text = field.text;
    const c = text.charCodeAt(start) | 32;
    if (
      text.charCodeAt(start) === 45 && end - start >= 10 && start >= this.#keyDone &&
      text.startsWith("-----BEGIN ", start)
    ) {
      this.#keyDone = scanKeyBlock(field, start);
      return;
    }
    if (start < this.#keyDone) return;
    this.#passwordWord(start, end);
    if (c === 98 || c === 116 || c === 97) scanAuthorization(field, start);
    if (start < this.#valueDone) return;
    if (c === 45 && text.startsWith("--user", start)) scanUserOption(field, start);
    if (end - start >= 5 && scanShaped(field, start, end)) return;
    for (let p = start, n = 0; p < end && n < 8; p++) {
      const prev = CLASS[text.charCodeAt(p - 1)];
      if (p > start && (prev & JOIN) === 0 || (CLASS[text.charCodeAt(p)] & ALNUM) === 0) continue;
      n++;
      if (scanVendor(field, p)) return;
      if (text.charCodeAt(p) === 101 && text.charCodeAt(p + 1) === 121 && scanJwt(field, p)) return;
    }
    if ((kind & DIGIT) !== 0 && (end - start >= 8 || isOpen(text.charCodeAt(end))) || end - start >= 16) {
      const before = text.charCodeAt(start - 1);
      if (start < this.#valueSeen && (before === 43 || before === 47 || before === 126)) return;
      const value = scanNamedValue(field, start);
      this.#valueSeen = Math.abs(value);
      if (value > 0) this.#valueDone = value;
    }
  }

  /** A password word may end an identifier: `DB_PASSWORD=`, `userPassword:`. */
  #passwordWord(start: number, end: number): void {
    const text = this.field.text;
    const last = text.charCodeAt(end - 1) | 32;
    if (last !== 100 && last !== 101 && last !== 115 && last !== 116 && (last < 48 || last > 57)) return;
    const tail = /(?:pass(?:word|wd|phrase|code)|pwd|(?<=[_-])pass|secret|passwort|kennwort)\d{0,2}$/i.exec(
      text.slice(Math.max(start, end - 14), end),
    );
    if (tail) scanPassword(this.field, end - tail[0].length);
  }
}

/** + . / = ~ after a run: the value may go on. */
function isOpen(c: number): boolean {
  return c === 43 || c === 46 || c === 47 || c === 61 || c === 126;
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
