/**
 * Fast parser of the request headers on one connection. Clients usually repeat the same headers except for `content-length`;
 * comparing them costs a tenth of parsing them.
 */
import { Buffer } from "node:buffer";
import { BodyFraming } from "./body_framing.ts";
import { type Fields, headEnd, headText, MAX_HEAD_BYTES } from "./head.ts";
import { Refusal, type RequestHead, requestHead } from "./request_head.ts";

/** Where so many heads in a row were each another, no more of them are kept. */
const MOST_OTHERS = 8;
const ZERO = 48;
/** Of a length. */
const MOST_DIGITS = 9;
/** A longer head is not kept. */
const MOST_BYTES = 4096;

const LENGTH = /\r\ncontent-length: ?(0|[1-9]\d{0,8})\r\n/gi;

/** Fields of a head that is known, and a length of its own. */
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
  /** That of the requests before; null: there is none, or they differ. */
  #known: KnownHead | null = null;
  /** Heads since one was known. */
  #others = 0;
  /** Where the last one ends. */
  end = 0;

  /**
   * The head that begins at `from`, once it is there whole; null before. Throws {@link WireError}.
   *
   * @param looked where its end may be at the earliest
   */
  next(bytes: Buffer, from: number, looked: number, to: number): RequestHead | null {
    // Not with each of its pieces, however small they are.
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
    // The first may be the only one, and where each is another nothing is gained.
    if (++this.#others > 1 && this.#others < MOST_OTHERS) this.#known = KnownHead.of(text, head);
    return head;
  }
}

/** A head that may come again with another length. */
class KnownHead {
  readonly #before: Uint8Array;
  readonly #behind: Uint8Array;
  readonly #head: RequestHead;
  /** Where the head ends that was found last. */
  end = 0;

  private constructor(before: Uint8Array, behind: Uint8Array, head: RequestHead) {
    this.#before = before;
    this.#behind = behind;
    this.#head = head;
  }

  /**
   * Null: it has no length, or is not to be kept.
   *
   * @param text what `head` was read from, a character a byte
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

  /** The same head, where it stands there whole; null: there is another, or not all of it yet. */
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
