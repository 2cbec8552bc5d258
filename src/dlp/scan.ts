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
import { type Plan, planFor } from "./plan.ts";
import type { Category } from "./recognizers/recognizer.ts";
import { type Candidate, scannedView } from "./recognizers/scanned_view.ts";
import { Walk } from "./walk.ts";

export interface Finding {
  category: Category | "stop_word" | "regex";
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
  const plan = planFor(types);
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
  const found: Candidate[] = [];
  for (let start = 0, end = 0; end < text.length; start = overlapOf(text, end)) {
    end = segmentEnd(text, start);
    const first = found.length;
    yield* scanSegment(plan, start === 0 && end === text.length ? text : text.slice(start, end), found);
    for (let i = first; i < found.length; i++) {
      found[i].start += start;
      found[i].end += start;
    }
  }
  return resolveOverlaps(found);
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

function* scanSegment(plan: Plan, text: string, found: Candidate[]): Generator<void, void> {
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
function* scanView(plan: Plan, view: View, found: Candidate[], least: number): Generator<void, void> {
  const scanned = scannedView(view.text, plan);
  const walk = new Walk(plan, scanned);
  for (let at = 0; at < view.text.length; at = walk.at) {
    walk.until(at + STRIDE);
    yield;
  }
  for (const trigger of plan.views) trigger.scan(scanned);
  for (const raw of scanned.candidates) {
    if (raw.confidence < least || !plan.wanted.has(raw.type)) continue;
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

/** One finding for each value: where spans overlap the longest wins, then the surer, then the more specific. */
function resolveOverlaps(found: Candidate[]): Finding[] {
  found.sort((a, b) => a.start - b.start);
  const kept: Candidate[] = [];
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

function choose(chain: Candidate[], kept: Candidate[]): void {
  chain.sort((a, b) =>
    (b.end - b.start) - (a.end - a.start) || b.confidence - a.confidence || specificity(b) - specificity(a)
  );
  const taken: Candidate[] = [];
  for (const raw of chain.slice(0, CHAIN)) {
    if (!taken.some((other) => other.start < raw.end && raw.start < other.end)) taken.push(raw);
  }
  kept.push(...taken);
}

function specificity(raw: Candidate): number {
  return raw.type === "GENERIC_SECRET" ? 0 : raw.type === "API_KEY" || raw.type === "PHONE_NUMBER" ? 1 : 2;
}
