/**
 * Finds sensitive values in one text, in time that grows with its length only.
 *
 * A long text is taken in segments, and each is walked in every reading that it has (lattice.ts). Findings are in UTF-16
 * units of the text given; a value found only in an encoded run has the span of the run.
 */

import { categoryOf } from "./entities.ts";
import { type Reading, readings, revealed, settle, type TablePlace } from "./lattice.ts";
import { overlaps } from "./overlaps.ts";
import { longRuns } from "./packed.ts";
import { type Plan, planFor } from "./plan.ts";
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
  /** The same, handing control back at least every two milliseconds or so of work. */
  scanSliced(text: string): Generator<void, Finding[]>;
}

const REPORTED = 0.5;
/** What a value that is put together from two lines must reach: most neighbours on two lines are not one value. */
const JOINED = 0.85;
/** A card's ranges, length and check digit say more than those of other numbers. */
const JOINED_CARD = 0.65;
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

/** A text inside a run inside a run is read no further. */
const DEEPEST = 2;
/** What is walked of a long run as it stands: it may begin or end with a token. */
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

/** Long encoded runs are read as texts of their own, what stands around them in segments. */
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
  const place: TablePlace = { open: null };
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

/** A piece of a text with units of its own: those of a slice are read through the text, which takes a third longer. */
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
    // What two lines make together must not take the place of what each of them holds, nor of a part of it.
    if (reading.joined) {
      const known = [...settled, ...lower];
      here = here.filter((one) => !known.some((other) => cuts(one, other)) && !isMadeOf(text, one, known));
    }
    if (reading.escapes.length > 0) {
      settled = [...settled, ...settle(lower, here, reading.escapes)];
      lower = here;
    } else lower.push(...here);
  }
  return [...settled, ...lower];
}

/** Whether one span covers another in part only. */
function cuts(one: Candidate, other: Candidate): boolean {
  return one.start < other.end && other.start < one.end && (other.start < one.start || other.end > one.end);
}

/** Whether a span is nothing but other ones with blanks between them. */
function isMadeOf(text: string, one: Candidate, others: readonly Candidate[]): boolean {
  let at = one.start;
  for (const { start, end } of others.filter((o) => o.end > at).sort((a, b) => a.start - b.start)) {
    if (start >= one.end) break;
    if (/\S/.test(text.slice(at, start))) return false;
    at = Math.max(at, end);
  }
  return at >= one.end;
}

/** Walks one reading; what it finds is in the text that was sent. */
function* scanReading(plan: Plan, reading: Reading): Generator<void, Candidate[]> {
  const { text } = reading.view;
  const scanned = scannedView(text, plan);
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
