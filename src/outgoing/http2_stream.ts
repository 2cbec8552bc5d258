/** One exchange of a connection over HTTP/2: what has come of its answer, and what is still to be sent of its request. */
import { WireError } from "../http1/body_framing.ts";
import { MAX_HEAD_BYTES } from "../http1/head.ts";
import type { Field } from "./hpack.ts";

/** What of an answer may wait for its reader at first; it doubles as the reader takes it, up to the second. */
export const STREAM_WINDOW = 128 * 1024;
const STREAM_WINDOW_MOST = 1024 * 1024;
const BUFFER_BYTES = 2048;
/** A larger buffer is let go once it has been read. */
const KEPT_BYTES = 16 * 1024;

const NONE = new Uint8Array(0);
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Fields about a connection, which HTTP/2 does not have. */
const NOT_HERE = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

export interface AnswerHead {
  status: number;
  /** By name in lower case; repeated ones joined by a comma. */
  headers: Map<string, string>;
}

export class Http2Stream {
  readonly id: number;
  /** Of the request's body: what is still to be sent. */
  unsent: Uint8Array;
  /** Bytes that may be sent. */
  sendWindow: number;
  /** Some of the answer has come. */
  heard = false;
  head: AnswerHead | null = null;
  /** All of the answer has come. */
  ended = false;
  /** Why nothing more comes. */
  failure: Error | null = null;
  /** Something has come that nobody was told of. */
  untold = false;
  #gathered = NONE;
  #size = 0;
  /** Has what was taken last. */
  #given = NONE;
  #window = STREAM_WINDOW;
  /** What the other side may still send. */
  #room = STREAM_WINDOW;
  #headBytes = 0;
  /** Bytes of the body that the head announced; negative: it did not. */
  #announced = -1;
  #came = 0;
  #waiting: (() => void) | null = null;

  constructor(id: number, body: Uint8Array, sendWindow: number) {
    this.id = id;
    this.unsent = body;
    this.sendWindow = sendWindow;
  }

  /** Something has come that was not taken. */
  get waits(): boolean {
    return this.#size > 0;
  }

  /** Resolves once there is more to see. */
  more(): Promise<void> {
    return new Promise((resolve) => this.#waiting = resolve);
  }

  tell(): void {
    this.untold = false;
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    waiting();
  }

  /** @param bytes of the coded head */
  fields(fields: readonly Field[], bytes: number, ends: boolean): void {
    this.heard = true;
    if (this.head !== null) {
      if (!ends) throw new WireError("there is a second head");
    } else {
      this.#headBytes += bytes;
      if (this.#headBytes > MAX_HEAD_BYTES) throw new WireError("the head is too long");
      const head = headOf(fields);
      if (head.status < 200) {
        if (ends || head.status === 101) throw new WireError("an interim head is not one");
        return;
      }
      this.head = head;
      const length = head.headers.get("content-length");
      if (length !== undefined) {
        if (!/^\d{1,15}$/.test(length)) throw new WireError("the content length is not a number");
        if (head.status !== 304) this.#announced = Number(length);
      }
    }
    if (ends) this.end();
  }

  /** @param padded what came with them */
  data(bytes: Uint8Array, from: number, to: number, padded: number): void {
    this.heard = true;
    if (this.head === null) throw new WireError("the body comes before its head");
    const length = to - from;
    this.#room -= length + padded;
    if (this.#room < 0) throw new WireError("more was sent than there was room for");
    this.#came += length;
    if (this.#announced >= 0 && this.#came > this.#announced) {
      throw new WireError("the body is longer than its length");
    }
    const size = this.#size + length;
    if (size > this.#gathered.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#gathered.length, BUFFER_BYTES));
      larger.set(this.#gathered.subarray(0, this.#size));
      this.#gathered = larger;
    }
    const gathered = this.#gathered;
    // For a few hundred bytes a view of them costs more than to copy them one by one.
    if (length > 256) gathered.set(bytes.subarray(from, to), this.#size);
    else for (let at = from, into = this.#size; at < to;) gathered[into++] = bytes[at++];
    this.#size = size;
  }

  end(): void {
    if (this.head === null) throw new WireError("there is no head");
    if (this.#announced >= 0 && this.#came !== this.#announced) {
      throw new WireError("the body is shorter than its length");
    }
    this.ended = true;
  }

  fail(failure: Error): void {
    this.failure ??= failure;
    this.tell();
  }

  /** What has come of the body, valid until it is asked for again; null: nothing. */
  take(): Uint8Array | null {
    const size = this.#size;
    if (size === 0) return null;
    const taken = this.#gathered;
    this.#gathered = this.#given.length > KEPT_BYTES ? NONE : this.#given;
    this.#given = taken;
    this.#size = 0;
    return new Uint8Array(taken.buffer, 0, size);
  }

  /** How much more room the other side may be told of, once that is worth a frame; 0: not yet. */
  credit(): number {
    const free = this.#window - this.#size - this.#room;
    if (this.ended || free < this.#window / 2) return 0;
    const larger = Math.min(2 * this.#window, STREAM_WINDOW_MOST);
    const credit = free + larger - this.#window;
    this.#window = larger;
    this.#room += credit;
    return credit;
  }
}

function headOf(fields: readonly Field[]): AnswerHead {
  const headers = new Map<string, string>();
  const [first] = fields;
  if (first?.[0] !== ":status" || !/^[1-9]\d\d$/.test(first[1])) {
    throw new WireError("the head has no status");
  }
  for (let i = 1; i < fields.length; i++) {
    const [name, value] = fields[i];
    if (!TOKEN.test(name) || /[A-Z]/.test(name) || CONTROL.test(value) || NOT_HERE.has(name)) {
      throw new WireError("a field of the head is not one");
    }
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { status: Number(first[1]), headers };
}
