/**
 * Finds sensitive values in a text in linear time.
 *
 * A long text is divided into segments, and each is walked in all of its readings (lattice.ts). Findings are
 * in UTF-16 units of the given text; a value found in an encoded run has the span of the run.
 */

import { categoryOf } from "./entities.ts";
import { type Reading, readings, revealed, settle, type TablePlace, tablePlace } from "./lattice.ts";
import { overlaps } from "./overlaps.ts";
import { DEEPEST, longRuns } from "./packed.ts";
import { type Plan, planFor } from "./plan.ts";
import { isTorn } from "./recognizers/randomness.ts";
import type { Category } from "./recognizers/recognizer.ts";
import { type Candidate, scannedView } from "./recognizers/scanned_view.ts";
import { segmentEnd, segmentStart } from "./segments.ts";
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
  /** As `scan`, yielding about every two milliseconds. */
  scanSliced(text: string): Generator<void, Finding[]>;
}

const REPORTED = 0.5;
/** Minimum confidence of a value joined from two lines: most adjacent texts are not one value. */
const JOINED = 0.85;
/** The same for cards, whose ranges, length and check digit are stronger evidence. */
const JOINED_CARD = 0.65;
/** Units of work between clock checks. */
const STRIDE = 1024;
const SLICE_MS = 1.5;

const detectors = new Map<string, Detector>();

/** The detector for a set of types; the same object for equal sets. */
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

/** Length of a long run's beginning and end that is also scanned without decoding, for tokens. */
const EDGE = 512;

function* scanText(plan: Plan, text: string): Generator<void, Finding[]> {
  const found: Candidate[] = [];
  yield* scanWhole(plan, text, 0, found);
  return overlaps(found).map((one) => ({
    category: categoryOf(one.type),
    entityType: one.type,
    start: one.start,
    end: one.end,
    confidence: one.confidence,
  }));
}

/** Long encoded runs are scanned as separate texts, the rest in segments. */
function* scanWhole(plan: Plan, text: string, depth: number, found: Candidate[]): Generator<void, void> {
  let start = 0;
  for (const run of longRuns(text)) {
    yield* scanStretch(plan, text, start, Math.min(run.start + EDGE, run.end), found);
    start = Math.max(run.start, run.end - EDGE);
    if (run.says === null || depth === DEEPEST) continue;
    const inside: Candidate[] = [];
    yield* scanWhole(plan, run.says, depth + 1, inside);
    const surest = new Map<string, number>();
    for (const { type, confidence } of inside) {
      surest.set(type, Math.max(confidence, surest.get(type) ?? 0));
    }
    for (const [type, confidence] of surest) {
      found.push({ type, start: run.start, end: run.end, confidence });
    }
  }
  yield* scanStretch(plan, text, start, text.length, found);
}

function* scanStretch(
  plan: Plan,
  text: string,
  from: number,
  to: number,
  found: Candidate[],
): Generator<void, void> {
  const place = tablePlace();
  for (let start = from, end = from; end < to; start = segmentStart(text, end)) {
    end = segmentEnd(text, start, to);
    const segment = start === 0 && end === text.length ? text : copied(text, start, end);
    for (const one of yield* scanSegment(plan, segment, place)) {
      one.start += start;
      one.end += start;
      found.push(one);
    }
  }
}

/** Copies a piece of text: reading a sliced string takes a third longer in V8. */
function copied(text: string, start: number, end: number): string {
  const middle = (start + end) >> 1;
  return [text.slice(start, middle), text.slice(middle, end)].join("");
}

function* scanSegment(plan: Plan, text: string, place: TablePlace): Generator<void, Candidate[]> {
  let lower: Candidate[] = [];
  let settled: Candidate[] = [];
  for (const reading of readings(text, place)) {
    yield;
    let here = yield* scanReading(plan, reading);
    // A value joined from two lines must not replace a finding within one of them, or a part of it.
    if (reading.joined) {
      const known = [...settled, ...lower];
      here = here.filter((one) =>
        !known.some((other) => cuts(one, other) || addsWords(text, one, other)) && !isMadeOf(text, one, known)
      );
    }
    if (reading.escapes.length > 0) {
      settled = [...settled, ...settle(text, lower, here, reading.escapes)];
      lower = here;
    } else lower.push(...here);
  }
  return [...settled, ...lower];
}

/** Whether one span overlaps another partially. */
function cuts(one: Candidate, other: Candidate): boolean {
  return one.start < other.end && other.start < one.end && (other.start < one.start || other.end > one.end);
}

/** Whether a span is another one with words of the next line, or of the line before. */
function addsWords(text: string, one: Candidate, other: Candidate): boolean {
  if (one.start === other.start && other.end < one.end) return !isTorn(text.slice(other.end, one.end));
  return one.end === other.end && one.start < other.start && !isTorn(text.slice(one.start, other.start));
}

/** Whether a span consists only of other findings and white space. */
function isMadeOf(text: string, one: Candidate, others: readonly Candidate[]): boolean {
  let at = one.start;
  for (const { start, end } of others.filter((o) => o.end > at).sort((a, b) => a.start - b.start)) {
    if (start >= one.end) break;
    if (/\S/.test(text.slice(at, start))) return false;
    at = Math.max(at, end);
  }
  return at >= one.end;
}

/** Walks one reading; returns findings in positions of the original text. */
function* scanReading(plan: Plan, reading: Reading): Generator<void, Candidate[]> {
  const { text } = reading.view;
  const scanned = scannedView(text, plan, reading.view, reading.cells);
  const walk = new Walk(plan, scanned);
  for (let at = 0; at < text.length; at = walk.at) {
    walk.until(at + STRIDE);
    yield;
  }
  reading.hints = walk.hints;
  for (const trigger of plan.views) trigger.scan(scanned);
  const least = (type: string) => !reading.joined ? REPORTED : type === "CREDIT_CARD" ? JOINED_CARD : JOINED;
  const found: Candidate[] = [];
  for (const { type, start, end, confidence } of scanned.candidates) {
    if (confidence < least(type) || !plan.wanted.has(type)) continue;
    const sent = revealed(reading, start, end);
    if (sent) found.push({ type, ...sent, confidence });
  }
  return found;
}
