/**
 * Decodes complete answers that differ from an earlier one only in text and counts, as most answers of a
 * provider do: parsing each takes several times as long as detecting this.
 *
 * An answer is remembered with the positions of variable values. Later ones must be identical between these
 * positions, and have values of the same type there; all other answers are parsed.
 */
import { literalEnd, unescaped } from "./json_literal.ts";

/** Kinds of variable values: the text, never empty; a count; a string or integer that is not used. */
export type PlaceKind = "text" | "count" | "word" | "number";

export interface Place {
  kind: PlaceKind;
  /** Path of names and indices. */
  path: readonly string[];
}

/** Which values may vary, by path; null: must be identical. */
export type PlaceAt = (path: readonly string[]) => PlaceKind | null;

const QUOTE = 34;
const BACKSLASH = 92;
/** Numbers with more digits may be rounded. */
const MOST_DIGITS = 15;
/** Maximum length of remembered answers. */
const MOST_CHARACTERS = 8192;
/** For longer answers parsing is equally fast. */
const MOST_READ = 65_536;
/** Maximum number of remembered answers. */
const MOST_KNOWN = 4;
const MOST_DEPTH = 16;
/** Remembering an answer costs as much as this many matches save. */
const LEARNING = 16;
const MOST_CREDIT = 8 * LEARNING;
/** If it does not pay off, only one in this many answers is remembered. */
const SELDOM = 256;

/** The variable values of a matching answer. The counts are valid until the next answer is read. */
export interface Found<T> {
  known: T;
  text: string;
  /** In the order of {@link Learnt.counts}. */
  counts: readonly number[];
}

/** @typeParam T data kept with a remembered answer */
export class RepeatedAnswers<T> {
  readonly #placeAt: PlaceAt;
  /** Most recently matched first. */
  readonly #known: Shape<T>[] = [];
  #credit = MOST_CREDIT;
  #others = 0;

  constructor(placeAt: PlaceAt) {
    this.#placeAt = placeAt;
  }

  /** Null: no match. */
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
   * @param keep receives the paths of the counts, in order
   * @param isRight verifies that reading the remembered answer gives the right result
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

/** Patterns of an unused string, and of an integer, which is captured if it is a count. */
const WORD = String.raw`[^"\\\x00-\x1f]*`;
const NUMBER = `0|[1-9]\\d{0,${MOST_DIGITS - 1}}`;

/**
 * The constant parts of similar answers. Matched by regular expressions, which compare several characters at
 * a time; the text, which may be long, is what stands between them.
 */
class Shape<T> {
  readonly counts: number[] = [];
  readonly #before: RegExp;
  readonly #behind: RegExp;
  /** The text after the variable text, up to the next variable value. */
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

  /** The text of a matching answer, whose counts are stored; null: no match, or no text. */
  textOf(answer: string): string | null {
    const before = this.#before;
    before.lastIndex = 0;
    const first = before.exec(answer);
    if (first === null) return null;
    const from = before.lastIndex;
    // Searched from the end: scanning the escapes in a text would cost more than parsing it.
    const to = answer.lastIndexOf(this.#closing);
    if (to <= from) return null;
    // With several choices the first text ends earlier; detecting this by parsing would cost more than all
    // the rest.
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
    // JSON.parse also verifies that it is a single valid string.
    return unescaped(answer.slice(from, to));
  }
}

/** Walks JSON text that is known to be valid. */
class Walk {
  readonly #text: string;
  readonly #placeAt: PlaceAt;
  readonly #places: FoundPlace[] = [];
  #at = 0;

  constructor(text: string, placeAt: PlaceAt) {
    this.#text = text;
    this.#placeAt = placeAt;
  }

  /** Null: a duplicate or escaped name, or a variable value of another type. */
  places(): FoundPlace[] | null {
    return this.#value([]) ? this.#places : null;
  }

  #blanks(): void {
    while (this.#text.charCodeAt(this.#at) <= 32) this.#at++;
  }

  /** False: the answer cannot be remembered. */
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
    // A value of another type is treated as constant.
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
