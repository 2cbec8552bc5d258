/**
 * Scans the leaves of a request one by one, and their joined parts, with all rules of a check.
 *
 * Implemented as generators that yield every few milliseconds.
 */
import type { Leaf, PartGroup } from "../formats/leaves/mod.ts";
import { isKnownClean, rememberClean, traceOf } from "./clean_texts.ts";
import { bordersOf, joined, piecesOf, REACH, spacedWindowsOf, windowsOf } from "./joined_parts.ts";
import { categoryOf } from "./entities.ts";
import { DECODED_AT_ONCE, unescapedInSlices } from "./json_text.ts";
import type { ModelFinding } from "./model/entities_of_pieces.ts";
import { isTorn } from "./recognizers/randomness.ts";
import { BOUNDS, readings, revealed } from "./lattice.ts";
import { textsWithin } from "./packed.ts";
import type { PatternResult } from "./patterns.ts";
import { type Check, type Mode, modeOf, type RuleSource, stricter } from "./policy.ts";
import type { Finding } from "./scan.ts";
import type { StopWordFinder } from "./stop_words.ts";
import type { View } from "./view.ts";

/** A finding as reported to the caller. */
export interface Reported {
  category: Finding["category"];
  entity_type: string;
  /** Null: outside of the messages. */
  message_index: number | null;
  location: string;
  /** UTF-16 units of the field as sent. */
  start: number;
  end: number;
  confidence: number;
}

/** A finding with the data needed to mask it. */
export interface Found {
  leaf: Leaf;
  /** Position in the leaf's text. */
  start: number;
  end: number;
  /** Position in the field as sent. */
  reported: Reported;
  mode: Mode;
  value: string;
  /** The pieces of the same finding in later parts. */
  rest: { leaf: Leaf; start: number; end: number }[];
}

/** Units of text between clock checks. */
const STRIDE = 4096;
const SLICE_MS = 2;
/** Longer texts are scanned in slices. */
const LONG = 8192;

/** Evaluating a finding costs as much as scanning this many units of text. */
const JUDGING = 64;
/** Maximum findings in one text: evaluating, reporting and masking more would take longer than the scan. */
const MOST_FOUND = 50_000;

/** Length of a question that is included when its reply is scanned. */
const QUESTION = 120;

/** Measures the duration of the work without the pauses between slices. */
export class SliceClock {
  #left: number;
  #since = performance.now();
  #work = 0;

  constructor(budgetMs: number) {
    this.#left = budgetMs;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  /** Ends the work: everything not scanned so far counts as not scanned. */
  exhaust(): void {
    this.#left = 0;
  }

  /** Adds work, and returns whether it is time to yield. */
  due(units: number): boolean {
    this.#work += units;
    if (this.#work < STRIDE) return false;
    this.#work = 0;
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Yields. */
  *rest(): Generator<void, void> {
    this.#left -= performance.now() - this.#since;
    yield;
    this.#since = performance.now();
  }
}

export class Scan {
  constructor(
    readonly check: Check,
    readonly clock: SliceClock,
    readonly patterns: PatternResult | undefined,
    readonly entities?: ReadonlyMap<string, readonly ModelFinding[]> | null,
    /** A text as the detectors read it; of the same length. Absent: as it is. */
    readonly read: (text: string) => string = (text) => text,
  ) {}

  /** Where each leaf has findings of its own. */
  readonly #known = new Map<Leaf, { start: number; end: number }[]>();

  /** Adds the findings of one leaf. */
  *leaf(leaf: Leaf, found: Found[]): Generator<void, void> {
    const view = yield* viewOf(leaf, this.clock);
    const counts = countsOf(leaf, found);
    for (const raw of yield* this.text(view?.text ?? leaf.text)) {
      if (counts !== null && isReported(raw, counts)) continue;
      const start = view ? view.from![raw.start] : raw.start;
      const end = view ? view.to![raw.end - 1] : raw.end;
      if (leaf.group !== null) this.#note(leaf, start, end);
      found.push({
        leaf,
        start,
        end,
        mode: raw.mode,
        value: raw.value,
        rest: [],
        reported: reportedOf(
          raw,
          leaf.message,
          leaf.location,
          leaf.run?.start ?? start,
          leaf.run?.end ?? end,
        ),
      });
    }
  }

  /** Adds findings of a short leaf that is named by the preceding question: "Your card's CVV?", "737". */
  *reply(leaf: Leaf, question: Leaf, found: Found[]): Generator<void, void> {
    const asked = `${question.text.slice(-QUESTION)}\n`;
    for (const raw of yield* this.text(asked + leaf.text)) {
      const start = raw.start - asked.length;
      const end = raw.end - asked.length;
      if (start < 0 || found.some((one) => one.leaf === leaf && one.start < end && start < one.end)) continue;
      const reported = reportedOf(raw, leaf.message, leaf.location, start, end);
      found.push({ leaf, start, end, mode: raw.mode, value: raw.value, rest: [], reported });
    }
  }

  /** Adds values that are split over the parts of a group: findings in the joined text that cross a border. */
  *group(group: PartGroup, found: Found[]): Generator<void, void> {
    const text = joined(group);
    const borders = bordersOf(group);
    const known = new Set<string>();
    const add = (raw: Judged, start: number, end: number) => {
      const pieces = piecesOf(group, borders, start, end);
      const key = `${start} ${end} ${raw.entityType}`;
      if (pieces.length < 2 || known.has(key) || this.#addsWords(pieces)) return;
      known.add(key);
      found.push({
        ...pieces[0],
        rest: pieces.slice(1),
        mode: raw.mode,
        value: raw.value,
        reported: reportedOf(raw, pieces[0].leaf.message, group.location, start, end),
      });
    };
    for (const window of windowsOf(borders, text.length)) {
      for (const raw of yield* this.text(text.slice(window.start, window.end), window.start, text)) {
        add(raw, raw.start + window.start, raw.end + window.start);
      }
    }
    for (const window of spacedWindowsOf(text, borders)) {
      if (this.clock.spent) return;
      for (const raw of yield* this.text(window.text)) {
        add(raw, window.sent(raw.start), window.sent(raw.end));
      }
    }
  }

  #note(leaf: Leaf, start: number, end: number): void {
    const known = this.#known.get(leaf);
    if (known) known.push({ start, end });
    else this.#known.set(leaf, [{ start, end }]);
  }

  /** Whether the pieces of a value are a finding of the first or the last part, and words of the others. */
  #addsWords(pieces: readonly Found["rest"][number][]): boolean {
    const isKnown = (piece: Found["rest"][number]) =>
      this.#known.get(piece.leaf)?.some(({ start, end }) => start === piece.start && end === piece.end);
    const said = (rest: readonly Found["rest"][number][]) =>
      rest.map(({ leaf, start, end }) => leaf.text.slice(start, end)).join("");
    return isKnown(pieces[0]) === true && !isTorn(said(pieces.slice(1))) ||
      isKnown(pieces[pieces.length - 1]) === true && !isTorn(said(pieces.slice(0, -1)));
  }

  /** @param whole the text of which this is a window, starting at `at` */
  *text(text: string, at = 0, whole = text): Generator<void, Judged[]> {
    const { check, clock } = this;
    const judged = new Judgement(check, text);
    text = this.read(text);
    const trace = traceOf(text);
    for (const detector of check.detectors) {
      if (trace !== undefined && isKnownClean(detector, trace)) continue;
      const raws = text.length <= LONG ? detector.scan(text) : yield* this.paced(detector.scanSliced(text));
      for (const raw of raws) {
        if (judged.all.length >= MOST_FOUND) clock.exhaust();
        if (clock.spent) break;
        judged.add({ kind: "type", type: raw.entityType }, raw);
        if (clock.due(JUDGING)) yield* clock.rest();
      }
      if (raws.length === 0 && trace !== undefined && !clock.spent) rememberClean(detector, trace);
      if (clock.due(text.length)) yield* clock.rest();
    }
    if (check.finder) yield* this.stopWords(check.finder, text, judged);
    for (const { type, start, end, confidence } of this.entities?.get(whole) ?? []) {
      if (start < at || end > at + text.length) continue;
      const raw = {
        category: categoryOf(type),
        entityType: type,
        start: start - at,
        end: end - at,
        confidence,
      };
      if (!judged.covers(raw)) judged.add({ kind: "type", type }, raw);
    }
    for (const { pattern, start, end } of this.patterns?.matches.get(whole) ?? []) {
      if (start < at || end > at + text.length) continue;
      const raw: Finding = {
        category: "regex",
        entityType: check.patterns[pattern].rule.name,
        start: start - at,
        end: end - at,
        confidence: 1,
      };
      judged.add({ kind: "regex", index: pattern }, raw);
    }
    return judged.all;
  }

  *stopWords(finder: StopWordFinder, whole: string, judged: Judgement): Generator<void, void> {
    for (const { text, at: from, run } of textsWithin(whole)) {
      for (let at = 0; at < text.length && !this.clock.spent; at += LONG - REACH) {
        const segment = text.slice(at, at + LONG);
        for (const reading of readings(segment)) {
          if (reading.joined || reading.cells) continue;
          // The finder folds the text itself.
          const read = reading.level === 0 ? segment : reading.view.text;
          for (const match of yield* this.paced(finder.findSliced(read))) {
            const sent = reading.level === 0 ? match : revealed(reading, match.start, match.end, BOUNDS);
            if (!sent) continue;
            judged.add({ kind: "stop_word", index: match.word }, {
              category: "stop_word",
              entityType: "STOP_WORD",
              start: run?.start ?? from + at + sent.start,
              end: run?.end ?? from + at + sent.end,
              confidence: match.confidence,
            });
          }
        }
        if (this.clock.due(STRIDE)) yield* this.clock.rest();
        if (at + LONG >= text.length) break;
      }
    }
  }

  /** Reduces the frequency of yields. Ends without findings when the budget is exhausted. */
  *paced<T>(work: Generator<void, T[]>): Generator<void, T[]> {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      if (this.clock.due(STRIDE)) yield* this.clock.rest();
      if (this.clock.spent) return [];
    }
  }
}

interface Judged extends Finding {
  mode: Mode;
  value: string;
}

/** Findings of one text that are not excluded by an allowlist, without duplicates. */
class Judgement {
  readonly all: Judged[] = [];
  readonly #known = new Map<string, Judged>();

  constructor(readonly check: Check, readonly text: string) {}

  /** Whether a finding of the same type contains this one. */
  covers({ entityType, start, end }: Finding): boolean {
    return this.all.some((one) => one.entityType === entityType && one.start <= start && end <= one.end);
  }

  add(source: RuleSource, raw: Finding): void {
    const value = this.text.slice(raw.start, raw.end);
    const mode = modeOf(this.check, source, value);
    if (mode === null) return;
    const key = `${raw.start} ${raw.end} ${raw.entityType}`;
    const same = this.#known.get(key);
    if (same) {
      same.mode = stricter(same.mode, mode);
      same.confidence = Math.max(same.confidence, raw.confidence);
      return;
    }
    const one = { ...raw, mode, value };
    this.#known.set(key, one);
    this.all.push(one);
  }
}

/** The number of findings of each value in the text of which this leaf is another reading; null: none. */
function countsOf(leaf: Leaf, found: readonly Found[]): Map<string, number> | null {
  if (leaf.document === undefined) return null;
  const counts = new Map<string, number>();
  for (const one of found) {
    if (one.leaf.holder !== leaf.holder || one.leaf.key !== leaf.key) continue;
    const key = `${one.reported.entity_type} ${one.value}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Whether it was found as often before; remaining ones can be masked in only one of the readings. */
function isReported({ entityType, value }: Judged, counts: Map<string, number>): boolean {
  const key = `${entityType} ${value}`;
  const left = counts.get(key) ?? 0;
  if (left > 0) counts.set(key, left - 1);
  return left > 0;
}

function reportedOf(
  raw: Finding,
  message: number | null,
  location: string,
  start: number,
  end: number,
): Reported {
  return {
    category: raw.category,
    entity_type: raw.entityType,
    message_index: message,
    location,
    start,
    end,
    confidence: raw.confidence,
  };
}

/** The leaf's text with escapes decoded, if it has any. */
export function* viewOf(leaf: Leaf, clock: SliceClock): Generator<void, View | null> {
  if (leaf.kind !== "json") return null;
  const work = unescapedInSlices(leaf.text);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.due(DECODED_AT_ONCE)) yield* clock.rest();
  }
}
