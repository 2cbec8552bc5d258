/**
 * Scans every text leaf of a request, decides, and masks.
 *
 * Work is done in a generator that hands control back every couple of milliseconds, so that whoever drives it can let
 * others run; for a short request it ends before it first does. What could not be looked at, for want of time or because
 * it is no text, is said in the verdict and never passed off as clean. Findings carry positions, never values.
 */
import { type Group, type Leaf, type Reading, replaceLeaf } from "../formats/leaves.ts";
import { isKnownClean, rememberClean, traceOf } from "./clean_texts.ts";
import type { View } from "./fold.ts";
import { replaceInJson, type Replacement, replaceSpans, unescaped } from "./json_text.ts";
import type { PatternResult } from "./patterns.ts";
import { type Placeholders, placeholders } from "./placeholders.ts";
import { type Check, type Mode, modeOf, type Source, stricter } from "./policy.ts";
import type { Finding } from "./scan.ts";

/** A finding as the caller is told of it. */
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

export interface Unscanned {
  message_index: number | null;
  location: string;
}

export interface Verdict {
  /** `pass`: as it is. `mask`: the body was changed. `block`: it must not leave. */
  action: "pass" | "mask" | "block";
  /** Findings in the report scope. */
  findings: Reported[];
  /** All findings, also those outside the scope. */
  count: number;
  /** Whether a finding that blocks is in the report scope. */
  blockedInScope: boolean;
  unscanned: Unscanned[];
  /** The budget ran out before everything was looked at. */
  exhausted: boolean;
  /** What each placeholder stands for. */
  originals: ReadonlyMap<string, string>;
}

export interface ScreenOptions {
  /** Milliseconds of work in all. */
  budgetMs: number;
  /** What the check's patterns match in the texts that {@link textsOf} gives. */
  patterns?: PatternResult;
}

/** A finding with what is needed to mask it. */
interface Found {
  leaf: Leaf;
  /** In the leaf's text. */
  start: number;
  end: number;
  /** In the field as sent. */
  reported: Reported;
  mode: Mode;
  value: string;
  /** Pieces of the same finding in the parts that follow. */
  rest: { leaf: Leaf; start: number; end: number }[];
}

/** Units of text between two looks at the clock. */
const STRIDE = 4096;
const SLICE_MS = 2;
/** A text longer than this is scanned in slices of its own. */
const LONG = 8192;
/** How far around the border of two parts a value may reach. */
const REACH = 512;
/** Masking one finding costs as much as so many units of text. */
const FINDING = 128;
/** Rounds of masking after which a text that still is not clean is given up. */
const ROUNDS = 3;

/** The texts that patterns are to be run over. */
export function textsOf(reading: Reading, check: Check): string[] {
  const texts = new Set<string>();
  for (const leaf of scannedLeaves(reading, check)) texts.add(viewOf(leaf)?.text ?? leaf.text);
  for (const group of groupsOf(reading)) texts.add(joined(group));
  return [...texts];
}

export function* screenBody(
  reading: Reading,
  check: Check,
  options: ScreenOptions,
): Generator<void, Verdict> {
  const clock = new Clock(options.budgetMs);
  const scan = new Scan(check, clock, options.patterns);
  const unscanned: Unscanned[] = [];
  let endless = false;
  for (const leaf of reading.leaves) {
    if (leaf.kind !== "media" && leaf.kind !== "endless") continue;
    endless ||= leaf.kind === "endless";
    unscanned.push({ message_index: leaf.message, location: leaf.location });
  }
  const found: Found[] = [];
  for (const leaf of scannedLeaves(reading, check)) {
    yield* scan.leaf(leaf, found);
    if (clock.spent) break;
  }
  for (const group of groupsOf(reading)) {
    if (clock.spent) break;
    if (isScanned(group.leaves[0], reading, check)) yield* scan.group(group, found);
  }
  const exhausted = clock.spent || endless || (check.patterns.length > 0 && !options.patterns?.whole);
  const strictest = found.reduce<Mode>((mode, f) => stricter(mode, f.mode), "alert");
  const refused = (exhausted && check.mode !== "alert") ||
    (unscanned.length > 0 && check.unscannable === "block" && check.mode === "block");
  let action: Verdict["action"] = refused || strictest === "block" ? "block" : "pass";
  let masked: Masked | null = null;
  if (action === "pass" && strictest === "mask") {
    masked = yield* maskAll(reading, check, found, clock);
    action = masked ? "mask" : "block";
  }
  return {
    action,
    count: found.length,
    unscanned,
    exhausted,
    originals: masked?.originals ?? new Map(),
    ...report(found, reading, check, action === "block"),
  };
}

/** A text by itself as a reading of one leaf: a query for a search. */
export function readText(text: string): { reading: Reading; holder: { text?: unknown } } {
  const holder = { text };
  const leaf: Leaf = {
    message: null,
    location: "query",
    kind: "text",
    text,
    fixed: false,
    group: null,
    holder,
    key: "text",
  };
  return { reading: { leaves: [leaf], senders: [] }, holder };
}

/** How long the work has taken, without the pauses between its slices. */
class Clock {
  #left: number;
  #since = performance.now();
  #work = 0;

  constructor(budgetMs: number) {
    this.#left = budgetMs;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  /** Whether it is time to hand control back, after so much more work. */
  due(units: number): boolean {
    this.#work += units;
    if (this.#work < STRIDE) return false;
    this.#work = 0;
    return performance.now() - this.#since >= SLICE_MS;
  }

  /** Hands control back. */
  *rest(): Generator<void, void> {
    this.#left -= performance.now() - this.#since;
    yield;
    this.#since = performance.now();
  }
}

class Scan {
  constructor(
    readonly check: Check,
    readonly clock: Clock,
    readonly patterns: PatternResult | undefined,
  ) {}

  /** Adds what is found in one leaf. */
  *leaf(leaf: Leaf, found: Found[]): Generator<void, void> {
    const view = viewOf(leaf);
    for (const raw of yield* this.text(view?.text ?? leaf.text)) {
      const start = view ? view.from![raw.start] : raw.start;
      const end = view ? view.to![raw.end - 1] : raw.end;
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

  /** Adds values that are split over the parts of a group: those of the joined text that cross a border of parts. */
  *group(group: Group, found: Found[]): Generator<void, void> {
    const text = joined(group);
    const borders = bordersOf(group);
    for (const window of windowsOf(borders, text.length)) {
      for (const raw of yield* this.text(text.slice(window.start, window.end), window.start, text)) {
        const start = raw.start + window.start;
        const end = raw.end + window.start;
        const pieces = piecesOf(group, borders, start, end);
        if (pieces.length < 2) continue;
        found.push({
          ...pieces[0],
          rest: pieces.slice(1),
          mode: raw.mode,
          value: raw.value,
          reported: reportedOf(raw, pieces[0].leaf.message, group.location, start, end),
        });
      }
    }
  }

  /** @param whole the text that this one is a window of, from `at` on */
  *text(text: string, at = 0, whole = text): Generator<void, Judged[]> {
    const { check, clock } = this;
    const judged = new Judgement(check, text);
    const trace = traceOf(text);
    for (const detector of check.detectors) {
      if (trace !== undefined && isKnownClean(detector, trace)) continue;
      const raws = text.length <= LONG ? detector.scan(text) : yield* this.paced(detector.scanSliced(text));
      for (const raw of raws) judged.add({ kind: "type", type: raw.entityType }, raw);
      if (raws.length === 0 && trace !== undefined && !clock.spent) rememberClean(detector, trace);
      if (clock.due(text.length)) yield* clock.rest();
    }
    if (check.finder) {
      for (let start = 0; start < text.length && !clock.spent; start += LONG - REACH) {
        for (const match of yield* this.paced(check.finder.findSliced(text.slice(start, start + LONG)))) {
          const raw: Finding = {
            category: "stop_word",
            entityType: "STOP_WORD",
            start: start + match.start,
            end: start + match.end,
            confidence: match.confidence,
          };
          judged.add({ kind: "stop_word", index: match.word }, raw);
        }
        if (clock.due(LONG * 4)) yield* clock.rest();
        if (start + LONG >= text.length) break;
      }
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

  /** Work that hands control back more often than is needed. Ends with nothing when the budget is spent. */
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

/** The findings of one text that no allowlist lifts, each once. */
class Judgement {
  readonly all: Judged[] = [];
  readonly #known = new Map<string, Judged>();

  constructor(readonly check: Check, readonly text: string) {}

  add(source: Source, raw: Finding): void {
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

/** The leaf's text as it is meant, where that is another than the text as written. */
function viewOf(leaf: Leaf): View | null {
  return leaf.kind === "json" ? unescaped(leaf.text) : null;
}

function isScanned(leaf: Leaf, reading: Reading, check: Check): boolean {
  if (leaf.kind === "media" || leaf.kind === "endless") return false;
  if (check.injected.size === 0 || leaf.message === null) return true;
  const name = reading.senders[leaf.message]?.name;
  return name === undefined || !check.injected.has(name);
}

function scannedLeaves(reading: Reading, check: Check): Leaf[] {
  return reading.leaves.filter((leaf) => isScanned(leaf, reading, check));
}

function groupsOf(reading: Reading): Group[] {
  const groups: Group[] = [];
  let last: Group | null = null;
  for (const { group } of reading.leaves) {
    if (group === null || group === last || group.leaves.length < 2) continue;
    if (!groups.includes(group)) groups.push(group);
    last = group;
  }
  return groups;
}

function joined(group: Group): string {
  return group.leaves.map((leaf) => leaf.text).join("");
}

function bordersOf(group: Group): number[] {
  const borders: number[] = [];
  let at = 0;
  for (const leaf of group.leaves) borders.push(at += leaf.text.length);
  borders.pop();
  return borders;
}

function windowsOf(borders: readonly number[], length: number): { start: number; end: number }[] {
  const windows: { start: number; end: number }[] = [];
  for (const at of borders) {
    const start = Math.max(0, at - REACH);
    const end = Math.min(length, at + REACH);
    const last = windows.at(-1);
    if (last && start <= last.end) last.end = end;
    else windows.push({ start, end });
  }
  return windows;
}

/** The pieces of a span of the joined text; `borders` are where one part ends and the next begins. */
function piecesOf(
  group: Group,
  borders: readonly number[],
  start: number,
  end: number,
): { leaf: Leaf; start: number; end: number }[] {
  const pieces: { leaf: Leaf; start: number; end: number }[] = [];
  for (let i = partAt(borders, start); i < group.leaves.length; i++) {
    const at = i === 0 ? 0 : borders[i - 1];
    if (at >= end) break;
    const leaf = group.leaves[i];
    const from = Math.max(start, at);
    const to = Math.min(end, at + leaf.text.length);
    if (from < to) pieces.push({ leaf, start: from - at, end: to - at });
  }
  return pieces;
}

/** The part that a unit of the joined text is in. */
function partAt(borders: readonly number[], at: number): number {
  let low = 0;
  let high = borders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (borders[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Report {
  findings: Reported[];
  blockedInScope: boolean;
}

function report(found: readonly Found[], reading: Reading, check: Check, blocked: boolean): Report {
  const { senders } = reading;
  const only = check.scope === "all"
    ? null
    : check.scope === "last_message"
    ? senders.length - 1
    : senders.findLastIndex((sender) => sender.role === "user");
  const inScope = found.filter(({ reported }) => only === null || reported.message_index === only);
  return {
    findings: inScope.map(({ reported }) => reported).sort((a, b) =>
      (a.message_index ?? -1) - (b.message_index ?? -1) || a.start - b.start
    ),
    blockedInScope: blocked && inScope.some(({ mode }) => mode !== "alert"),
  };
}

interface Masked {
  originals: ReadonlyMap<string, string>;
}

/** Masks what is to be masked until nothing is found any more. Null: it cannot be done. */
function* maskAll(
  reading: Reading,
  check: Check,
  found: readonly Found[],
  clock: Clock,
): Generator<void, Masked | null> {
  const names = placeholders(reading.leaves.map((leaf) => leaf.text));
  let todo = found.filter(({ mode }) => mode === "mask");
  let leaves = reading.leaves;
  for (let round = 0; todo.length > 0; round++) {
    if (round === ROUNDS) return null;
    const changed = yield* maskOnce(leaves, todo, names, clock);
    if (!changed) return null;
    leaves = leaves.map((leaf) => changed.get(leaf) ?? leaf);
    const again: Found[] = [];
    // Patterns were matched before masking; their matches are masked, and the text is another now.
    const scan = new Scan({ ...check, patterns: [] }, clock, undefined);
    for (const leaf of changed.values()) yield* scan.leaf(leaf, again);
    for (const group of new Set([...changed.keys()].map((leaf) => leaf.group))) {
      if (group === null || group.leaves.length < 2) continue;
      group.leaves.forEach((leaf, i) => group.leaves[i] = changed.get(leaf) ?? leaf);
      yield* scan.group(group, again);
    }
    if (clock.spent) return null;
    if (
      again.some(({ mode, leaf, start, end }) => mode === "block" && !isPlaceholder(leaf, start, end, names))
    ) {
      return null;
    }
    todo = again.filter(({ mode, leaf, start, end }) =>
      mode === "mask" && !isPlaceholder(leaf, start, end, names)
    );
  }
  return { originals: names.originals };
}

/** Whether a span lies in a placeholder that was put there. */
function isPlaceholder(leaf: Leaf, start: number, end: number, names: Placeholders): boolean {
  const open = leaf.text.lastIndexOf("<", start);
  const close = leaf.text.indexOf(">", start);
  return open >= 0 && close + 1 >= end && names.originals.has(leaf.text.slice(open, close + 1));
}

/** A run of a leaf that is to be masked. `found` is null for what is left of a value in the parts after its first. */
interface Span {
  start: number;
  end: number;
  found: Found | null;
}

/** Replaces every finding, and answers which leaf became which. Null: one cannot be replaced. */
function* maskOnce(
  leaves: readonly Leaf[],
  found: readonly Found[],
  names: Placeholders,
  clock: Clock,
): Generator<void, Map<Leaf, Leaf> | null> {
  const spans = new Map<Leaf, Span[]>();
  const add = (leaf: Leaf, span: Span) => {
    const list = spans.get(leaf);
    if (list) list.push(span);
    else spans.set(leaf, [span]);
  };
  for (const one of found) {
    add(one.leaf, { start: one.start, end: one.end, found: one });
    for (const { leaf, start, end } of one.rest) add(leaf, { start, end, found: null });
  }
  const changed = new Map<Leaf, Leaf>();
  for (const leaf of leaves) {
    const list = spans.get(leaf);
    if (list === undefined) continue;
    if (leaf.fixed) return null;
    const replacements: Replacement[] = [];
    for (const { start, end, found } of mergeSpans(list)) {
      replacements.push({ start, end, by: found === null ? "" : nameOf(found, leaf, start, end, names) });
      if (clock.due(FINDING)) yield* clock.rest();
    }
    const replace = leaf.kind === "json" ? replaceInJson : replaceSpans;
    const text = replace(leaf.text, replacements);
    if (text === null) return null;
    replaceLeaf(leaf, text);
    changed.set(leaf, { ...leaf, text });
    if (clock.due(text.length)) yield* clock.rest();
  }
  return changed;
}

function nameOf(found: Found, leaf: Leaf, start: number, end: number, names: Placeholders): string {
  const { entity_type, category } = found.reported;
  // A run that grew by what overlaps it stands for all of that.
  const grown = found.rest.length === 0 && (start < found.start || end > found.end);
  return names.of(entity_type, category, grown ? leaf.text.slice(start, end) : found.value);
}

/** Spans that overlap become one, under the name of the longest. */
function mergeSpans(list: Span[]): Span[] {
  const length = ({ found }: Span) => found === null ? 0 : found.end - found.start;
  list.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of list) {
    const last = merged.at(-1);
    if (last && span.start < last.end) {
      last.end = Math.max(last.end, span.end);
      if (length(span) > length(last)) last.found = span.found;
    } else merged.push({ ...span });
  }
  return merged;
}
