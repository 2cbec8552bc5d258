/** A stream of an HTTP/2 connection: one request and its response. */
import { Buffer } from "node:buffer";
import { WireError } from "../../transport/body_framing.ts";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import type { Failure } from "../../exchange/failure.ts";
import type { Deadline, Ticker } from "../../timing/ticker.ts";
import { bodyLength, wrongLength } from "../body_length.ts";
import { refusePacked } from "../packed_body.ts";
import { broken, type Exchange, type Pass, type Reply, timeout } from "../reply.ts";
import type { Field } from "./hpack.ts";

/**
 * Flow-control window of a stream. If a caller reads nothing, the process buffers so much for each stream. With a round trip of 100 ms, it
 * limits a stream to 1.3 MB a second.
 */
export const STREAM_WINDOW_BYTES = 128 << 10;

/** Characters that are not allowed in a header value. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * Whether the server may have processed a request that failed: `refused`: it says that it has not; `cut`: the connection closed without
 * any response to the request; `taken`: it may have.
 */
export type Fate = "refused" | "cut" | "taken";

/** The functions of a promise that is pending. */
interface Waiting<T> {
  resolve(value: T): void;
  reject(cause: unknown): void;
}

/** The part of the connection that a stream uses. */
export interface StreamConnection {
  /** When anything was received last. */
  readonly heardAt: number;
  /** Sends a request. @param head the encoded headers */
  open(stream: Http2Stream, head: readonly Uint8Array[], body: Uint8Array): void;
  /** The reader has taken so many bytes: sends WINDOW_UPDATE. */
  widen(stream: Http2Stream, bytes: number): void;
  /** Sends RST_STREAM: the rest of the stream is not needed. */
  reset(stream: Http2Stream): void;
  /** Accepts no more requests; open ones continue. */
  retire(): void;
}

export class Http2Stream implements Reply {
  /** Set by the connection: the stream id, the send window, and the unsent part of the request body. */
  id = 0;
  sendWindow = 0;
  unsent: Uint8Array | null = null;
  readonly #connection: StreamConnection;
  readonly #exchange: Exchange;
  readonly #deadline: Deadline;
  #status = 0;
  #headers = new Map<string, string>();
  /** Size of all header blocks, interim responses included. */
  #headBytes = 0;
  /** Value of `content-length`; null: absent. */
  #length: number | null = null;
  #bodyBytes = 0;
  /** Bytes that the server may still send. */
  #window = STREAM_WINDOW_BYTES;
  /** Bytes taken by the reader, and padding, that no WINDOW_UPDATE has covered yet. */
  #owed = 0;
  /** Views of the data of this batch for which the reader waits; null: there is none. */
  #pieces: Uint8Array[] | null = null;
  /** A copy of the data that arrived while the reader did not wait. */
  #queue: Uint8Array | null = null;
  #queued = 0;
  #ended = false;
  #closed = false;
  /** Why the stream failed; null: it has not. */
  #fault: unknown = null;
  #begun = false;
  #idleMs: number;
  #asking: Waiting<void> | null = null;
  #reading: Waiting<Uint8Array | null> | null = null;
  #pass: Pass | null = null;
  readonly #abandon = () => this.#giveUp(new WireError("the call was cancelled"));
  /** Any frame of the server has arrived for it. */
  heard = false;
  late = false;
  /** Set if it failed before the response. */
  fate: Fate = "taken";

  constructor(connection: StreamConnection, exchange: Exchange, ticker: Ticker) {
    this.#connection = connection;
    this.#exchange = exchange;
    this.#idleMs = exchange.idleMs;
    this.#deadline = ticker.deadline(() => {
      this.late = true;
      // Nothing arrived for any of its requests: the connection may be dead.
      if (ticker.lately - connection.heardAt >= this.#waitMs) connection.retire();
      this.#giveUp(new WireError("the timeout expired"));
    });
  }

  /** Sends the request, and resolves when the headers of the response have arrived. */
  ask(head: readonly Uint8Array[], body: Uint8Array): Promise<void> {
    const { signal, firstByteMs } = this.#exchange;
    return new Promise((resolve, reject) => {
      this.#asking = { resolve, reject };
      if (signal?.aborted) return this.#abandon();
      signal?.addEventListener("abort", this.#abandon);
      this.#deadline.arm(firstByteMs);
      this.#connection.open(this, head, body);
    });
  }

  get #waitMs(): number {
    return this.#begun ? this.#idleMs : this.#exchange.firstByteMs;
  }

  /** Takes response headers or trailers. Throws {@link WireError}. */
  head(fields: readonly Field[], ended: boolean): void {
    this.heard = true;
    const { status, headers, bytes } = readFields(fields);
    if (this.#status !== 0) {
      // Trailers are not needed.
      if (status !== null || !ended) throw new WireError("the response has headers twice");
      return;
    }
    if (status === null) throw new WireError("the response has no status");
    this.#headBytes += bytes;
    if (this.#headBytes > MAX_HEAD_BYTES) throw new WireError("the headers are too long");
    if (status < 200) {
      if (status === 101 || ended) throw new WireError("the response ends without headers");
      return;
    }
    refusePacked(status, headers.get("content-encoding"));
    this.#length = bodyLength(status, headers.get("content-length"));
    this.#status = status;
    this.#headers = headers;
    this.#deadline.disarm();
    this.#asking?.resolve();
    this.#asking = null;
  }

  /**
   * Takes a part of the body. Throws {@link WireError}. True: the reader waits for it, and gets it with the next call of `deliver`.
   *
   * @param counted bytes of the flow-control window, padding included
   */
  data(bytes: Uint8Array, from: number, to: number, counted: number): boolean {
    this.heard = true;
    if (this.#status === 0) throw new WireError("the body begins before the headers");
    this.#window -= counted;
    if (this.#window < 0) throw new WireError("the server exceeded the flow-control window of the stream");
    this.#took(counted - (to - from));
    if (from === to) return false;
    this.#bodyBytes += to - from;
    if (this.#length !== null && this.#bodyBytes > this.#length) throw wrongLength();
    if (this.#reading === null) {
      this.#keep(bytes, from, to);
      return false;
    }
    const piece = new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from);
    if (this.#pieces !== null) {
      this.#pieces.push(piece);
      return false;
    }
    this.#pieces = [piece];
    return true;
  }

  /** Gives the reader, if it waits, the data that has arrived. Never throws. */
  deliver(): void {
    const reading = this.#reading;
    if (reading === null) return;
    const part = this.#takeKept();
    if (part === null) return;
    this.#deadline.disarm();
    if (this.#pass === null || !this.#passOn(this.#pass, part)) {
      this.#reading = null;
      reading.resolve(part);
    }
  }

  /** Buffers data until it is read. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.#queued + to - from;
    if (this.#queue === null || this.#queue.length < needed) {
      const larger = Buffer.allocUnsafe(Math.max(1024, needed, Math.min(2 * needed, STREAM_WINDOW_BYTES)));
      if (this.#queue !== null) larger.set(this.#queue.subarray(0, this.#queued));
      this.#queue = larger;
    }
    this.#queue.set(bytes.subarray(from, to), this.#queued);
    this.#queued = needed;
  }

  /** False: `pass` did not take the data, so the reader gets it. An error of `pass` is one of the reader. */
  #passOn(pass: Pass, part: Uint8Array): boolean {
    const reading = this.#reading!;
    let passed;
    try {
      passed = pass(part);
    } catch (cause) {
      this.#reading = null;
      reading.reject(cause);
      return true;
    }
    if (passed === null) return false;
    // Data that arrives before `pass` can take more is buffered.
    this.#reading = null;
    void passed.then(() => this.#readOn(reading, pass));
    return true;
  }

  #readOn(reading: Waiting<Uint8Array | null>, pass: Pass): void {
    const kept = this.#takeKept();
    if (kept !== null) {
      this.#reading = reading;
      if (!this.#passOn(pass, kept)) {
        this.#reading = null;
        reading.resolve(kept);
      }
    } else if (this.#fault !== null) reading.reject(this.#broke());
    else if (this.#ended) reading.resolve(null);
    else this.#wait(reading, pass);
  }

  #wait(reading: Waiting<Uint8Array | null>, pass: Pass | null): void {
    this.#reading = reading;
    this.#pass = pass;
    this.#deadline.arm(this.#waitMs);
  }

  #takeKept(): Uint8Array | null {
    const pieces = this.#pieces;
    let kept: Uint8Array;
    if (pieces !== null) kept = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    else if (this.#queue !== null) kept = this.#queue.subarray(0, this.#queued);
    else return null;
    this.#pieces = this.#queue = null;
    this.#queued = 0;
    this.#begun = true;
    this.#took(kept.length);
    return kept;
  }

  /** Allows the server to send as much again, with a WINDOW_UPDATE for each half of the window. */
  #took(bytes: number): void {
    this.#owed += bytes;
    if (this.#owed < STREAM_WINDOW_BYTES / 2 || this.#ended || this.#fault !== null) return;
    this.#connection.widen(this, this.#owed);
    this.#window += this.#owed;
    this.#owed = 0;
  }

  /** The server has ended the stream. */
  end(): void {
    if (this.#status === 0) return this.lost(new WireError("the response ends without headers"));
    this.deliver();
    if (this.#length !== null && this.#bodyBytes < this.#length) return this.lost(wrongLength());
    this.#ended = true;
    this.#deadline.disarm();
    this.#reading?.resolve(null);
    this.#reading = null;
  }

  /** The stream failed. */
  lost(cause: unknown, fate: Fate = "taken"): void {
    if (this.#ended || this.#fault !== null) return;
    this.deliver();
    this.#fault = cause;
    if (this.#status === 0) this.fate = fate;
    this.#deadline.disarm();
    this.#asking?.reject(cause);
    this.#asking = null;
    this.#reading?.reject(this.#broke());
    this.#reading = null;
  }

  #giveUp(cause: WireError): void {
    this.#connection.reset(this);
    this.lost(cause);
  }

  #broke(): Failure {
    return this.late ? timeout(this.#waitMs, this.#begun) : broken(this.#fault, this.#begun);
  }

  get status(): number {
    return this.#status;
  }

  header(name: string): string | null {
    return this.#headers.get(name) ?? null;
  }

  get ended(): boolean {
    return this.#ended && this.#queue === null;
  }

  read(pass?: Pass): Uint8Array | null | Promise<Uint8Array | null> {
    const kept = this.#takeKept();
    if (kept !== null) return kept;
    if (this.#fault !== null) throw this.#broke();
    if (this.#ended) return null;
    return new Promise((resolve, reject) => this.#wait({ resolve, reject }, pass ?? null));
  }

  boundIdle(ms: number): void {
    this.#idleMs = Math.min(this.#exchange.idleMs, ms);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadline.close();
    this.#exchange.signal?.removeEventListener("abort", this.#abandon);
    this.#pieces = this.#queue = null;
    if (!this.#ended && this.#fault === null) {
      this.#giveUp(new WireError("the response was not read to its end"));
    }
  }
}

/** Status null: there is no `:status`. */
function readFields(fields: readonly Field[]) {
  const headers = new Map<string, string>();
  let status: number | null = null;
  let bytes = 0;
  for (const [name, value] of fields) {
    bytes += name.length + value.length;
    if (CONTROL.test(value)) throw new WireError("a header value contains a control character");
    if (name === ":status" && status === null && headers.size === 0) {
      if (!/^[1-9]\d\d$/.test(value)) throw new WireError("the status is invalid");
      status = Number(value);
    } else {
      if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new WireError("a header name is invalid");
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }
  return { status, headers, bytes };
}
