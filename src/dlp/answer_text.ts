/**
 * One text of an answer while it is streamed: which part may be passed on, and the replacements of findings.
 *
 * Positions are relative to the beginning of the text. Everything before `cleared` has been screened and may
 * be passed on; the rest may be the beginning of a value. Each scan uses a window that starts earlier, so
 * that the name of a value is included.
 */
import type { AnswerRules } from "./answer_rules.ts";
import { type Replacement, unescaped } from "./json_text.ts";
import { type JsonPlace, placeAfter, replacementsFor } from "./mask_json_piece.ts";
import { isPlainWord, LONGEST_OPEN, openFrom } from "./open_value.ts";
import { END_OF_BLOCK } from "./recognizers/secrets/key_block.ts";
import type { Finding } from "./scan.ts";

/** Units of context before the scanned text. */
const CONTEXT = 512;
/** Context around the border of two blocks in which a value across the border is searched. */
const BORDER_REACH = 96;
/** Maximum length of a window without white space. */
const LONGEST_WINDOW = 4096;
/** An incomplete escape at the end of JSON text. */
const CUT_ESCAPE = /(?<!\\)(?:\\\\)*(\\(?:u[\da-f]{0,3})?)$/i;
const JSON_OPENING = /^\s*(?:\{\s*"|\[\s*[{["\d])/;
const LONGEST_OPENING = 64;
const GOES_ON = /^(?:\\(?:u[\da-f]{4}|[^u])|[^\s"'<>,;{}[\]\\])+/i;
const LONGEST_END = 84;

/**
 * What to release: `open`: what cannot be the beginning of a value; `plain`: also a plain last word; `late`
 * and `all`: everything. After `late`, a value that was cut continues to be masked.
 */
export type Clearing = "open" | "plain" | "late" | "all";

export class AnswerText {
  cleared = 0;
  /** Positions where replacements change the length, and the total change up to each. */
  readonly #shifts: { at: number; by: number }[] = [];
  readonly location: string;
  readonly #begin: number;
  /** Text that starts like JSON is treated as JSON, so that structured output stays valid. */
  #json: boolean;
  /** The retained text, from `#base` on. */
  #text = "";
  #base: number;
  /** Replacements in the retained text, in positions of the whole text. */
  #spans: Replacement[] = [];
  /** The state of the JSON tokenizer at `cleared`. */
  #place: JsonPlace = "outside";
  /** A finding ended at the end of the text: text that continues it belongs to it. */
  #endless: "run" | "block" | null = null;
  /** Position up to which the text was rendered. */
  #rendered: number;
  /** Starts of blocks within the text. */
  #borders: number[] = [];
  /** The window starts within a run that was longer than the window. */
  #cut = false;

  /** @param at position of its first unit */
  constructor(location: string, json: boolean, at = 0) {
    this.location = location;
    this.#json = json;
    this.#begin =
      this.#base =
      this.cleared =
      this.#rendered =
        at;
  }

  get length(): number {
    return this.#base + this.#text.length;
  }

  get held(): number {
    return this.length - this.cleared;
  }

  append(more: string): void {
    this.#text += more;
    if (this.#json || this.#base !== this.#begin || this.#text.length - more.length > LONGEST_OPENING) return;
    this.#json = JSON_OPENING.test(this.#text);
    // Only the opening of JSON can have been released so far.
    if (this.#json) this.#place = placeAfter(this.#text, 0, this.cleared - this.#base, "outside");
  }

  /** Another block of the answer continues the text. */
  border(): void {
    if (this.length > this.#base && this.#borders.at(-1) !== this.length) this.#borders.push(this.length);
  }

  /** Scans new text, advances `cleared`, and returns new findings. */
  advance(rules: AnswerRules, how: Clearing): Finding[] | Promise<Finding[]> {
    this.#swallow();
    if (this.held === 0) return [];
    const text = how === "all" || !this.#json
      ? this.#text
      : this.#text.replace(CUT_ESCAPE, (all, cut) => all.slice(0, -cut.length));
    const from = this.cleared - this.#base;
    let open = text.length;
    if (how === "open" || how === "plain") {
      open = openFrom(text, from, this.#base === 0 && !this.#json, rules.openings);
      if (how === "plain" && isPlainWord(text.slice(open))) open = text.length;
    }
    // Nothing new can be released, and nothing is too long.
    const tooLong = text.length - from > LONGEST_OPEN;
    if (open <= from && !tooLong) return [];
    const judged = this.#json ? rules.judgeJson(text, from) : rules.judge(text, from);
    const found = this.#borders.length === 0 ? judged : this.#joined(judged, text, rules);
    return found instanceof Promise
      ? found.then((found) => this.#accept(found, rules, text.length, open, how))
      : this.#accept(found, rules, text.length, open, how);
  }

  /**
   * Includes values that are split by the border of two blocks between groups of digits, where it acts as a
   * separator, and values that it separates from a word: a refusal and a text are displayed separately.
   */
  async #joined(
    judged: Finding[] | Promise<Finding[]>,
    text: string,
    rules: AnswerRules,
  ): Promise<Finding[]> {
    const found = await judged;
    for (const border of this.#borders) {
      const at = border - this.#base;
      if (at < 1 || !/^[\p{L}\p{N}_]{2}$/u.test(text.slice(at - 1, at + 1))) continue;
      const start = Math.max(0, at - BORDER_REACH);
      const spaced = `${text.slice(start, at)} ${text.slice(at, at + BORDER_REACH)}`;
      for (const one of await rules.judge(spaced)) {
        const back = (place: number) => place + start - (place + start > at ? 1 : 0);
        const apart = { ...one, start: back(one.start), end: back(one.end) };
        if (found.some(({ start, end }) => start < apart.end && apart.start < end)) continue;
        found.push(apart);
      }
    }
    return found.sort((a, b) => a.start - b.start);
  }

  #accept(found: Finding[], rules: AnswerRules, end: number, open: number, how: Clearing): Finding[] {
    const from = this.cleared - this.#base;
    const whole = how === "all" || how === "late";
    const mine = found.filter((one) => one.end > from && !(this.#cut && one.start === 0));
    if (!whole) {
      for (const one of mine) if (one.end > open && one.start < open) open = one.start;
      if (end - Math.max(open, from) > LONGEST_OPEN || open < from) open = end;
    }
    const fresh = mine.filter((one) => one.start < open);
    const pieces: Replacement[] = [];
    let done = from;
    let place = this.#place;
    for (const one of fresh) {
      const start = Math.max(one.start, done);
      const by = rules.placeholders.of(one.entityType, one.category, this.#meant(one));
      place = placeAfter(this.#text, done, start, place);
      const piece = { start, end: one.end, by };
      if (this.#json) replacementsFor(this.#text, piece, place, pieces);
      else pieces.push(piece);
      place = placeAfter(this.#text, start, one.end, place);
      done = one.end;
      open = Math.max(open, done);
    }
    this.#place = placeAfter(this.#text, done, open, place);
    this.cleared = this.#base + open;
    for (const { start, end, by } of pieces) this.#replace(start + this.#base, end + this.#base, by);
    const last = fresh.at(-1);
    if (last?.end === end && how !== "all") {
      const isBlock = last.entityType === "PRIVATE_KEY";
      if (!isBlock) this.#endless = "run";
      else if (!END_OF_BLOCK.test(this.#text.slice(last.start, last.end))) this.#endless = "block";
    }
    return fresh.map((one) => ({ ...one, start: one.start + this.#base, end: one.end + this.#base }));
  }

  /** A value without the escapes with which it is written. */
  #meant({ start, end }: Finding): string {
    const value = this.#text.slice(start, end);
    return this.#json ? unescaped(value)?.text ?? value : value;
  }

  #replace(start: number, end: number, by: string): void {
    this.#spans.push({ start, end, by });
    this.#shifts.push({ at: end, by: (this.#shifts.at(-1)?.by ?? 0) + by.length - (end - start) });
  }

  /** Removes text that continues a value which has been replaced. */
  #swallow(): void {
    if (this.#endless === null) return;
    const from = this.cleared - this.#base;
    if (from === this.#text.length) return;
    const run = this.#endless === "run"
      ? runLength(this.#text, from)
      : blockLength(this.#text, from, this.#json);
    if (run > 0) {
      this.#replace(this.cleared, this.cleared + run, "");
      this.#place = placeAfter(this.#text, from, from + run, this.#place);
      this.cleared += run;
    }
    const rest = this.#text.slice(from + run);
    if (rest !== "" && !(this.#json && CUT_ESCAPE.test(rest) && rest.length < 6)) this.#endless = null;
  }

  /** The output for a range before `cleared`. Ranges must be requested in order, each once. */
  render(start: number, end: number): string {
    let said = "";
    let at = start;
    for (const span of this.#spans) {
      if (span.end <= at) continue;
      if (span.start >= end) break;
      said += this.#text.slice(at - this.#base, Math.max(at, span.start) - this.#base);
      if (span.start >= start) said += span.by;
      at = Math.min(end, span.end);
    }
    this.#rendered = end;
    return said + this.#text.slice(at - this.#base, Math.max(at, end) - this.#base);
  }

  /** Marks text up to a position as sent unchanged. */
  markSent(end: number): void {
    this.#rendered = end;
  }

  /** Whether a range contains only white space, which need not be sent separately. */
  isBlank(start: number, end: number): boolean {
    return /^\s*$/.test(this.#text.slice(start - this.#base, end - this.#base));
  }

  /** The change in length before a position. */
  shiftAt(at: number): number {
    return this.#shifts.findLast((shift) => shift.at <= at)?.by ?? 0;
  }

  /** Whether anything after a position was replaced. */
  isChangedSince(at: number): boolean {
    return (this.#shifts.at(-1)?.at ?? -1) > at;
  }

  /** Whether a range is unchanged. */
  isIntact(start: number, end: number): boolean {
    return !this.#spans.some((span) => span.start < end && span.end > start);
  }

  /** Releases text that is needed neither for the next scan nor for rendering. */
  forget(): void {
    const keep = Math.min(this.cleared, this.#rendered) - CONTEXT;
    if (keep - this.#base < CONTEXT) return;
    let at = keep - this.#base;
    const least = Math.max(0, at - LONGEST_WINDOW);
    while (at > least && !/[\s"]/.test(this.#text[at - 1])) at--;
    if (at === 0) return;
    // A view with decoded escapes must not start within one.
    this.#cut = !/[\s"]/.test(this.#text[at - 1]);
    this.#text = this.#text.slice(at);
    this.#base += at;
    this.#spans = this.#spans.filter((span) => span.end > this.#base);
    this.#borders = this.#borders.filter((border) => border > this.#base);
  }
}

/** Length of the continuation of a value. */
function runLength(text: string, from: number): number {
  return GOES_ON.exec(text.slice(from))?.[0].length ?? 0;
}

/**
 * Length of the continuation of a key block: up to its end marker, which may have begun before, or the end of
 * its string.
 */
function blockLength(text: string, from: number, json: boolean): number {
  const back = Math.max(0, from - LONGEST_END);
  const end = END_OF_BLOCK.exec(text.slice(back));
  if (end) return Math.max(0, back + end.index + end[0].length - from);
  const quote = json ? /(?<!\\)(?:\\\\)*"/.exec(text.slice(from)) : null;
  return quote ? quote.index : text.length - from;
}
