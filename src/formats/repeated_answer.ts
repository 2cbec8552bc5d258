/**
 * Whole answers that differ from one before in nothing but their text and their counts, as most of a provider's do: to parse the JSON of
 * each takes several times as long as to see that it is such an answer.
 *
 * An answer is learnt with the places of what may differ. Later ones must be the same letter by letter between these places, with values of
 * the same kind in them; whatever else an answer says goes to the parser.
 */
import { literalEnd, unescaped } from "./json_literal.ts";

/** What may stand at a place: the text, which is never empty; a count; a string or a whole number that nobody reads. */
export type PlaceKind = "text" | "count" | "word" | "number";

export interface Place {
  kind: PlaceKind;
  /** Names and indices that lead to it. */
  path: readonly string[];
}

/** Says what may differ at the end of a path; null: nothing. */
export type PlaceAt = (path: readonly string[]) => PlaceKind | null;

const QUOTE = 34;
const BACKSLASH = 92;
/** More digits may be rounded. */
const MOST_DIGITS = 15;
/** A longer answer is not kept. */
const MOST_CHARACTERS = 8192;
/** The parser is as quick with a longer answer. */
const MOST_READ = 65_536;
/** Answers that are known at a time. */
const MOST_KNOWN = 4;
const MOST_DEPTH = 16;
/** To learn an answer takes as long as so many that are known save. */
const LEARNING = 16;
const MOST_CREDIT = 8 * LEARNING;
/** Where learning does not pay, one answer in so many is learnt. */
const SELDOM = 256;

/** What an answer like one that is known has at its places. The counts are valid until the next answer is read. */
export interface Found<T> {
  known: T;
  text: string;
  /** In the order of {@link Learnt.counts}. */
  counts: readonly number[];
}

/** @typeParam T what is kept with an answer that was learnt */
export class RepeatedAnswers<T> {
  readonly #placeAt: PlaceAt;
  /** That which was met last comes first. */
  readonly #known: Shape<T>[] = [];
  #credit = MOST_CREDIT;
  #others = 0;

  constructor(placeAt: PlaceAt) {
    this.#placeAt = placeAt;
  }

  /** Null: no answer like it is known. */
  find(answer: string): Found<T> | null {
    if (answer.length > MOST_READ) return null;
    const known = this.#known;
    for (let i = 0; i < known.length; i++) {
      const shape = known[i];
      const text = shape.textOf(answer);
      if (text === null) continue;
      if (i > 0) {
        known[i] = known[0];
        known[0] = shape;
      }
      if (this.#credit < MOST_CREDIT) this.#credit++;
      return { known: shape.known, text, counts: shape.counts };
    }
    return null;
  }

  /**
   * @param answer JSON that was parsed
   * @param keep is told the paths of the counts, in the order in which they will be given
   * @param isRight asked once it is known: whether it is read as it should be
   */
  learn(answer: string, keep: (counts: (readonly string[])[]) => T, isRight: () => boolean): void {
    if (answer.length > MOST_CHARACTERS) return;
    if (this.#credit < LEARNING && ++this.#others % SELDOM !== 0) return;
    this.#credit = Math.max(0, this.#credit - LEARNING);
    const walk = new Walk(answer, this.#placeAt);
    const places = walk.places();
    if (places === null || places.filter(({ kind }) => kind === "text").length !== 1) return;
    const counts = places.filter(({ kind }) => kind === "count").map(({ path }) => path);
    this.#known.unshift(new Shape(answer, places, keep(counts)));
    if (!isRight()) this.#known.shift();
    else if (this.#known.length > MOST_KNOWN) this.#known.pop();
  }
}

interface FoundPlace extends Place {
  from: number;
  to: number;
}

/** A word as it stands in JSON, and a whole number; the number is noted where it is a count. */
const WORD = String.raw`[^"\\\x00-\x1f]*`;
const NUMBER = `0|[1-9]\\d{0,${MOST_DIGITS - 1}}`;

/**
 * What is the same in all answers of one kind. It is told by patterns, which compare several letters at a time; the text, which may be long,
 * is what stands between them.
 */
class Shape<T> {
  readonly counts: number[] = [];
  readonly #before: RegExp;
  readonly #behind: RegExp;
  /** What stands behind the text, up to the next place. */
  readonly #closing: string;

  constructor(answer: string, places: readonly FoundPlace[], readonly known: T) {
    const patterns = ["", ""];
    let at = 0;
    let side = 0;
    let closing = answer.length;
    for (const { from, to, kind } of places) {
      if (side === 1 && closing === answer.length) closing = from;
      patterns[side] += RegExp.escape(answer.slice(at, from));
      at = to;
      if (kind === "text") side = 1;
      else patterns[side] += kind === "word" ? WORD : kind === "count" ? `(${NUMBER})` : `(?:${NUMBER})`;
    }
    this.#before = new RegExp(patterns[0], "y");
    this.#behind = new RegExp(`${patterns[1]}${RegExp.escape(answer.slice(at))}$`, "y");
    const end = places.find(({ kind }) => kind === "text")!.to;
    this.#closing = answer.slice(end, closing);
  }

  /** The text of an answer of this kind, whose counts are noted; null: it is another, or has none. */
  textOf(answer: string): string | null {
    const before = this.#before;
    before.lastIndex = 0;
    const first = before.exec(answer);
    if (first === null) return null;
    const from = before.lastIndex;
    // From the end: to look at each escape of a text costs more than to parse it.
    const to = answer.lastIndexOf(this.#closing);
    if (to <= from) return null;
    // The text of the first of several choices ends before: to parse what is no string costs more than all the rest.
    const quote = answer.indexOf('"', from);
    if (quote !== to && answer.charCodeAt(quote - 1) !== BACKSLASH) return null;
    const behind = this.#behind;
    behind.lastIndex = to;
    const last = behind.exec(answer);
    if (last === null) return null;
    const { counts } = this;
    let counted = 0;
    for (let i = 1; i < first.length; i++) counts[counted++] = Number(first[i]);
    for (let i = 1; i < last.length; i++) counts[counted++] = Number(last[i]);
    // Which is also how to know that it is one string, and that nothing stands in it that may not.
    return unescaped(answer.slice(from, to));
  }
}

/** Walks the text of JSON that is known to be right. */
class Walk {
  readonly #text: string;
  readonly #placeAt: PlaceAt;
  readonly #places: FoundPlace[] = [];
  #at = 0;

  constructor(text: string, placeAt: PlaceAt) {
    this.#text = text;
    this.#placeAt = placeAt;
  }

  /** Null: a name is there twice, or has escapes, or what may differ is no such value. */
  places(): FoundPlace[] | null {
    return this.#value([]) ? this.#places : null;
  }

  #blanks(): void {
    while (this.#text.charCodeAt(this.#at) <= 32) this.#at++;
  }

  /** False: the answer cannot be learnt. */
  #value(path: readonly string[]): boolean {
    if (path.length > MOST_DEPTH) return false;
    this.#blanks();
    const opening = this.#text[this.#at];
    if (opening === "{" || opening === "[") return this.#members(path, opening === "{");
    const from = this.#at;
    const isText = opening === '"';
    if (isText) this.#at = Math.abs(literalEnd(this.#text, from + 1)) + 1;
    else while (/[^,\]}\s]/.test(this.#text.charAt(this.#at))) this.#at++;
    const to = this.#at;
    const kind = this.#placeAt(path);
    // A place that holds something else here is told as it stands.
    if (kind === null || isText !== (kind === "text" || kind === "word")) return true;
    if (!isText && !/^(?:0|[1-9]\d{0,14})$/.test(this.#text.slice(from, to))) return true;
    this.#places.push({ kind, path, from: isText ? from + 1 : from, to: isText ? to - 1 : to });
    return true;
  }

  #members(path: readonly string[], named: boolean): boolean {
    const names = new Set<string>();
    this.#at++;
    for (let index = 0;; index++) {
      this.#blanks();
      const next = this.#text[this.#at];
      if (next === "]" || next === "}") {
        this.#at++;
        return true;
      }
      if (next === ",") {
        this.#at++;
        this.#blanks();
      }
      let name = `${index}`;
      if (named) {
        const from = this.#at + 1;
        const to = literalEnd(this.#text, from);
        if (to < 0 || this.#text.charCodeAt(from - 1) !== QUOTE) return false;
        name = this.#text.slice(from, to);
        if (names.has(name)) return false;
        names.add(name);
        this.#at = to + 1;
        this.#blanks();
        this.#at++;
      }
      if (!this.#value([...path, name])) return false;
    }
  }
}
