/**
 * Fast parser of the response headers of one server. Consecutive responses of a server usually have the same header fields in the same
 * order, and most fields are never read. If a response has the same field names as an earlier one, its values are only checked for
 * invalid characters, and decoded when they are read. Two header layouts are cached, because streams and whole answers differ.
 */
import { Buffer } from "node:buffer";
import { BodyFraming } from "../transport/body_framing.ts";
import { headEnd, headText, valueIn } from "../transport/head.ts";
import { type Head, parseHead } from "./http1_wire.ts";

/** After this many consecutive cache misses, no more layouts are cached. */
const MOST_OTHERS = 8;
/** A longer header section is not cached. */
const MOST_CHARACTERS = 4096;
/** Most digits of a `content-length`. */
const MOST_DIGITS = 9;

const TAB = 9;
const CR = 13;
const SPACE = 32;
const ZERO = 48;
const DELETE = 127;

/** Fields that determine the framing of the body and the reuse of the connection: their values must equal the cached ones. */
const DECISIVE: ReadonlySet<string> = new Set(["connection", "transfer-encoding"]);
const LENGTH = "content-length";

export class AnswerHeads {
  #known: KnownHead | null = null;
  /** The layout used before `#known`. */
  #other: KnownHead | null = null;
  /** Consecutive responses with another layout. */
  #others = 0;
  /** Offset of the end of the last header section. */
  end = 0;

  /**
   * The headers that begin at `from`; null while they are incomplete. Throws {@link WireError}.
   *
   * @param looked offset up to which the end has been searched for already
   */
  next(bytes: Buffer, from: number, looked: number, to: number): Head | null {
    // Only once for each response, not again for each read that brings a part of it.
    if (looked === from && this.#known !== null) {
      const known = this.#known.at(bytes, from, to) ?? this.#otherAt(bytes, from, to);
      if (known !== null) {
        this.end = this.#known.end;
        this.#others = 0;
        return known;
      }
    }
    const end = headEnd(bytes, looked, to);
    if (end === 0) return null;
    this.end = end;
    const text = headText(bytes, from, end);
    const head = parseHead(text, true);
    const learnt = ++this.#others < MOST_OTHERS ? KnownHead.of(text, head) : null;
    if (learnt !== null) {
      this.#other = this.#known;
      this.#known = learnt;
    }
    return head;
  }

  #otherAt(bytes: Buffer, from: number, to: number): Head | null {
    const found = this.#other?.at(bytes, from, to) ?? null;
    if (found !== null) [this.#known, this.#other] = [this.#other, this.#known];
    return found;
  }
}

/** Values of the header fields, by the index of their names. */
class KnownFields {
  readonly #names: ReadonlyMap<string, readonly number[]>;
  readonly #text: string;
  /** Start and end offset of each value. */
  readonly #places: readonly number[];

  constructor(names: ReadonlyMap<string, readonly number[]>, text: string, places: readonly number[]) {
    this.#names = names;
    this.#text = text;
    this.#places = places;
  }

  get(name: string): string | undefined {
    const at = this.#names.get(name);
    if (at === undefined) return undefined;
    return at.length === 1 ? this.#value(at[0]) : at.map((i) => this.#value(i)).join(", ");
  }

  #value(i: number): string {
    return valueIn(this.#text, this.#places[2 * i], this.#places[2 * i + 1]);
  }
}

class KnownHead {
  /** The bytes before each value. */
  readonly #before: readonly Uint8Array[];
  /** Required values; null: any value is accepted. */
  readonly #fixed: readonly (Uint8Array | null)[];
  readonly #end: Uint8Array;
  readonly #names: ReadonlyMap<string, readonly number[]>;
  /** Index of `content-length`; negative: there is none. */
  readonly #length: number;
  readonly #head: Head;
  readonly #minor: number;
  /** End offset of the header section that was matched last. */
  end = 0;

  private constructor(lines: Lines, head: Head, minor: number) {
    this.#before = lines.before.map((text) => Buffer.from(text, "latin1"));
    this.#fixed = lines.fixed.map((value) => value === null ? null : Buffer.from(value, "latin1"));
    this.#end = Buffer.from(lines.end, "latin1");
    this.#names = lines.names;
    this.#length = lines.length;
    this.#head = head;
    this.#minor = minor;
  }

  /**
   * @returns null: this layout cannot be cached
   *
   * @param text the bytes of `head` as Latin-1
   */
  static of(text: string, head: Head): KnownHead | null {
    if (text.length > MOST_CHARACTERS || head.status < 200) return null;
    const lines = linesOf(text);
    return lines && new KnownHead(lines, head, text.startsWith("HTTP/1.1") ? 1 : 0);
  }

  /** The headers at this offset, if they have this layout and are complete; else null. */
  at(bytes: Buffer, from: number, to: number): Head | null {
    const before = this.#before;
    const places: number[] = [];
    let length = 0;
    let at = from;
    for (let i = 0; i < before.length; i++) {
      at = behind(before[i], bytes, at, to);
      if (at < 0) return null;
      const start = at;
      const fixed = this.#fixed[i];
      if (fixed !== null) {
        at = behind(fixed, bytes, at, to);
        if (at < 0) return null;
      } else if (i === this.#length) {
        for (; at < to; at++) {
          const digit = bytes[at] - ZERO;
          if (digit < 0 || digit > 9) break;
          length = length * 10 + digit;
        }
        const count = at - start;
        if (count === 0 || count > MOST_DIGITS || (count > 1 && bytes[start] === ZERO)) return null;
      } else {
        for (; at < to; at++) {
          const byte = bytes[at];
          if (byte === CR) break;
          if ((byte < SPACE && byte !== TAB) || byte === DELETE) return null;
        }
      }
      places.push(start - from, at - from);
    }
    at = behind(this.#end, bytes, at, to);
    if (at < 0) return null;
    this.end = at;
    const { status, keepAlive } = this.#head;
    const headers = new KnownFields(this.#names, bytes.toString("latin1", from, at), places);
    const body = this.#length >= 0 && status !== 204 && status !== 304
      ? BodyFraming.ofLength(length)
      : BodyFraming.ofAnswer(status, (name) => headers.get(name), this.#minor);
    return { status, headers, body, keepAlive };
  }
}

interface Lines {
  before: string[];
  fixed: (string | null)[];
  end: string;
  names: Map<string, number[]>;
  length: number;
}

/** @returns null: the layout cannot be cached. @param text a complete header section */
function linesOf(text: string): Lines | null {
  const before: string[] = [];
  const fixed: (string | null)[] = [];
  const names = new Map<string, number[]>();
  let length = -1;
  let literal = 0;
  for (let at = text.indexOf("\r\n") + 2; at < text.length - 2;) {
    const end = text.indexOf("\r\n", at);
    const colon = text.indexOf(":", at);
    const name = text.slice(at, colon).toLowerCase();
    let value = colon + 1;
    at = end + 2;
    if (name === LENGTH) {
      // A repeated field, or unusual spelling.
      if (length >= 0 || !/^ (?:0|[1-9]\d{0,8})$/.test(text.slice(value, end))) return null;
      length = before.length;
      value++;
    }
    const places = names.get(name);
    if (places === undefined) names.set(name, [before.length]);
    else places.push(before.length);
    before.push(text.slice(literal, value));
    literal = end;
    fixed.push(DECISIVE.has(name) ? text.slice(value, end) : null);
  }
  return { before, fixed, end: text.slice(literal), names, length };
}

/** Offset after these expected bytes; negative: the bytes differ. */
function behind(letters: Uint8Array, bytes: Buffer, at: number, to: number): number {
  const end = at + letters.length;
  if (end > to) return -1;
  for (let i = 0; i < letters.length; i++) if (bytes[at + i] !== letters[i]) return -1;
  return end;
}
