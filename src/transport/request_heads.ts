/**
 * Fast parser of the request headers on one connection. Clients usually repeat the same headers except for `content-length`;
 * comparing them costs a tenth of parsing them.
 */
import { Buffer } from "node:buffer";
import { BodyFraming } from "./body_framing.ts";
import { type Fields, headEnd, headText, MAX_HEAD_BYTES } from "./head.ts";
import { Refusal, type RequestHead, requestHead } from "./request_head.ts";

/** After this many different heads in a row, no further ones are remembered. */
const MOST_OTHERS = 8;
const ZERO = 48;
/** Of `content-length`. */
const MOST_DIGITS = 9;
/** Longer heads are not remembered. */
const MOST_BYTES = 4096;

const LENGTH = /\r\ncontent-length: ?(0|[1-9]\d{0,8})\r\n/gi;

/** Fields of a remembered head, with a different `content-length`. */
class KnownFields {
  readonly #fields: Fields;
  readonly #length: string;

  constructor(fields: Fields, length: number) {
    this.#fields = fields;
    this.#length = String(length);
  }

  get(name: string): string | undefined {
    return name === "content-length" ? this.#length : this.#fields.get(name);
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  *[Symbol.iterator](): IterableIterator<[string, string]> {
    for (const [name, value] of this.#fields) {
      yield [name, name === "content-length" ? this.#length : value];
    }
  }
}

export class RequestHeads {
  /** The remembered head; null: none, or the heads differ. */
  #known: KnownHead | null = null;
  /** Number of heads since a remembered one matched. */
  #others = 0;
  /** The end of the last head. */
  end = 0;

  /**
   * The head that starts at `from`, once it is complete; null before that. Throws {@link WireError}.
   *
   * @param looked position before which the end of the head cannot be
   */
  next(bytes: Buffer, from: number, looked: number, to: number): RequestHead | null {
    // Only once per head, not after each read, however small.
    const known = looked === from ? this.#known?.at(bytes, from, to) : null;
    if (known) {
      this.end = this.#known!.end;
      this.#others = 1;
      return known;
    }
    const end = headEnd(bytes, looked, to);
    if (end === 0) return null;
    if (end - from > MAX_HEAD_BYTES) throw new Refusal(431, "the head is too long");
    this.end = end;
    const text = headText(bytes, from, end);
    const head = requestHead(text, true);
    // Not the first head, which may be the only one; nor if every head is different.
    if (++this.#others > 1 && this.#others < MOST_OTHERS) this.#known = KnownHead.of(text, head);
    return head;
  }
}

/** A remembered head, which may recur with another `content-length`. */
class KnownHead {
  readonly #before: Uint8Array;
  readonly #behind: Uint8Array;
  readonly #head: RequestHead;
  /** The end of the head found last. */
  end = 0;

  private constructor(before: Uint8Array, behind: Uint8Array, head: RequestHead) {
    this.#before = before;
    this.#behind = behind;
    this.#head = head;
  }

  /**
   * Null: it has no `content-length`, or is too long.
   *
   * @param text the text of `head`, one character per byte
   */
  static of(text: string, head: RequestHead): KnownHead | null {
    if (text.length > MOST_BYTES || head.expects) return null;
    const found = [...text.matchAll(LENGTH)];
    if (found.length !== 1 || head.fields.get("content-length") !== found[0][1]) return null;
    const [line, digits] = found[0];
    const at = found[0].index + line.length - 2 - digits.length;
    return new KnownHead(
      Buffer.from(text.slice(0, at), "latin1"),
      Buffer.from(text.slice(at + digits.length), "latin1"),
      head,
    );
  }

  /** The same head, if it is completely in the buffer; null: another head, or incomplete. */
  at(bytes: Uint8Array, from: number, to: number): RequestHead | null {
    const before = this.#before;
    const behind = this.#behind;
    if (to - from <= before.length + behind.length) return null;
    for (let i = 0; i < before.length; i++) if (bytes[from + i] !== before[i]) return null;
    let at = from + before.length;
    const digits = at;
    let length = 0;
    for (; at < to; at++) {
      const digit = bytes[at] - ZERO;
      if (digit < 0 || digit > 9) break;
      length = length * 10 + digit;
    }
    const count = at - digits;
    if (count === 0 || count > MOST_DIGITS || (count > 1 && bytes[digits] === ZERO)) return null;
    if (to - at < behind.length) return null;
    for (let i = 0; i < behind.length; i++) if (bytes[at + i] !== behind[i]) return null;
    this.end = at + behind.length;
    const { method, url, fields, keepAlive, minor, expects } = this.#head;
    const framing = BodyFraming.ofLength(length);
    return { method, url, fields: new KnownFields(fields, length), framing, keepAlive, minor, expects };
  }
}
