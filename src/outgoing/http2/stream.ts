/** One exchange on a connection over HTTP/2: what comes back of a request. */
import { WireError } from "../../transport/body_framing.ts";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import type { Failure } from "../../exchange/failure.ts";
import type { Deadline, Ticker } from "../../timing/ticker.ts";
import { refusePacked } from "../packed_body.ts";
import { broken, type Exchange, type Pass, type Reply, timeout } from "../reply.ts";
import type { Field } from "./hpack.ts";

/**
 * What may come for one stream before its reader has taken it. Callers who read nothing make the process hold so much for each stream;
 * from a server that is 100 ms away, a stream brings 1.3 MB a second at most.
 */
export const STREAM_WINDOW_BYTES = 128 << 10;

/** Characters that no value of a field may hold. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * What a server has made of a request whose stream it ended: nothing, as it says; nothing, as is likely, where the connection ended
 * without a word and the request was new; maybe all of it.
 */
export type Fate = "refused" | "cut" | "taken";

/** Who waits for something of a stream. */
interface Waiting<T> {
  resolve(value: T): void;
  reject(cause: unknown): void;
}

/** What a stream asks of its connection. */
export interface StreamConnection {
  /** When something came last, for any stream. */
  readonly heardAt: number;
  /** Sends a request. @param head its fields, encoded */
  open(stream: Http2Stream, head: readonly Uint8Array[], body: Uint8Array): void;
  /** The reader of a stream has taken so much: the server may send as much again. */
  widen(stream: Http2Stream, bytes: number): void;
  /** Nobody wants the rest of a stream. */
  reset(stream: Http2Stream): void;
  /** Takes no more requests; those under way go on. */
  retire(): void;
}

export class Http2Stream implements Reply {
  /** Set by the connection: its number, how much the server takes of its body now, and what of that has not been sent. */
  id = 0;
  sendWindow = 0;
  unsent: Uint8Array | null = null;
  readonly #connection: StreamConnection;
  readonly #exchange: Exchange;
  readonly #deadline: Deadline;
  #status = 0;
  #headers = new Map<string, string>();
  /** Of all heads before the last. */
  #headBytes = 0;
  /** The length that the head gives of the body; null: none. */
  #length: number | null = null;
  #bodyBytes = 0;
  /** What the server may send. */
  #window = STREAM_WINDOW_BYTES;
  /** What the reader has taken, and padding, of which the server has not been told. */
  #owed = 0;
  /** What has come and nobody has waited for. */
  #queue: Uint8Array | null = null;
  #queued = 0;
  #ended = false;
  #closed = false;
  /** Why nothing more comes. */
  #fault: unknown = null;
  #begun = false;
  #asking: Waiting<void> | null = null;
  #reading: Waiting<Uint8Array | null> | null = null;
  #pass: Pass | null = null;
  readonly #abandon = () => this.#giveUp(new WireError("nobody wants the answer any more"));
  /** Something has come for it. */
  heard = false;
  late = false;
  /** Of what was asked, where it has ended without an answer. */
  fate: Fate = "taken";

  constructor(connection: StreamConnection, exchange: Exchange, ticker: Ticker) {
    this.#connection = connection;
    this.#exchange = exchange;
    this.#deadline = ticker.deadline(() => {
      this.late = true;
      // Nothing came for any of its requests: it may be cut without a word.
      if (ticker.lately - connection.heardAt >= this.#waitMs) connection.retire();
      this.#giveUp(new WireError("nothing came"));
    });
  }

  /** Resolves with the head of the answer. */
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
    const { firstByteMs, idleMs } = this.#exchange;
    return this.#begun ? idleMs : firstByteMs;
  }

  /** A head came, or the fields behind a body. Throws {@link WireError}. */
  head(fields: readonly Field[], ended: boolean): void {
    this.heard = true;
    const { status, headers, bytes } = readFields(fields);
    if (this.#status !== 0) {
      // What stands behind a body says nothing that is needed.
      if (status !== null || !ended) throw new WireError("an answer has two heads");
      return;
    }
    if (status === null) throw new WireError("an answer has no status");
    this.#headBytes += bytes;
    if (this.#headBytes > MAX_HEAD_BYTES) throw new WireError("the head is too long");
    if (status < 200) {
      if (status === 101 || ended) throw new WireError("an answer ends before it begins");
      return;
    }
    refusePacked(status, headers.get("content-encoding"));
    const length = headers.get("content-length");
    if (length !== undefined && status !== 204 && status !== 304) {
      if (!/^\d{1,15}$/.test(length)) throw new WireError("a length is no number");
      this.#length = Number(length);
    }
    this.#status = status;
    this.#headers = headers;
    this.#deadline.disarm();
    this.#asking?.resolve();
    this.#asking = null;
  }

  /** A part of the body came. Throws {@link WireError}. @param counted what it takes of the window, padding included */
  data(bytes: Uint8Array, from: number, to: number, counted: number): void {
    this.heard = true;
    if (this.#status === 0) throw new WireError("a body comes before its head");
    this.#window -= counted;
    if (this.#window < 0) throw new WireError("more came than was asked for");
    this.#took(counted - (to - from));
    if (from === to) return;
    this.#bodyBytes += to - from;
    if (this.#length !== null && this.#bodyBytes > this.#length) throw wrongLength();
    const reading = this.#reading;
    if (reading === null) return this.#keep(bytes, from, to);
    this.#begun = true;
    this.#deadline.disarm();
    const part = new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from);
    this.#took(part.length);
    if (this.#pass === null || !this.#passOn(this.#pass, part)) {
      this.#reading = null;
      reading.resolve(part);
    }
  }

  /** Until somebody reads it. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.#queued + to - from;
    if (this.#queue === null || this.#queue.length < needed) {
      const larger = new Uint8Array(Math.max(1024, needed, Math.min(2 * needed, STREAM_WINDOW_BYTES)));
      if (this.#queue !== null) larger.set(this.#queue.subarray(0, this.#queued));
      this.#queue = larger;
    }
    this.#queue.set(bytes.subarray(from, to), this.#queued);
    this.#queued = needed;
  }

  /** False: it is left to the reader. */
  #passOn(pass: Pass, part: Uint8Array): boolean {
    const passed = pass(part);
    if (passed === null) return false;
    const reading = this.#reading!;
    // What comes before more can be taken is kept.
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
    if (this.#queue === null) return null;
    const kept = this.#queue.subarray(0, this.#queued);
    this.#queue = null;
    this.#queued = 0;
    this.#begun = true;
    this.#took(kept.length);
    return kept;
  }

  /** The server may send so much again, of which it is told by halves of the window. */
  #took(bytes: number): void {
    this.#owed += bytes;
    if (this.#owed < STREAM_WINDOW_BYTES / 2 || this.#ended || this.#fault !== null) return;
    this.#connection.widen(this, this.#owed);
    this.#window += this.#owed;
    this.#owed = 0;
  }

  /** The answer has come whole, as the server sees it. */
  end(): void {
    if (this.#status === 0) return this.lost(new WireError("an answer ends before it begins"));
    if (this.#length !== null && this.#bodyBytes < this.#length) return this.lost(wrongLength());
    this.#ended = true;
    this.#deadline.disarm();
    this.#reading?.resolve(null);
    this.#reading = null;
  }

  /** Nothing more comes. */
  lost(cause: unknown, fate: Fate = "taken"): void {
    if (this.#ended || this.#fault !== null) return;
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

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadline.close();
    this.#exchange.signal?.removeEventListener("abort", this.#abandon);
    this.#queue = null;
    if (!this.#ended && this.#fault === null) this.#giveUp(new WireError("nobody reads on"));
  }
}

function wrongLength(): WireError {
  return new WireError("the body has another length than its head says");
}

/** Status null: there is none. */
function readFields(fields: readonly Field[]) {
  const headers = new Map<string, string>();
  let status: number | null = null;
  let bytes = 0;
  for (const [name, value] of fields) {
    bytes += name.length + value.length;
    if (CONTROL.test(value)) throw new WireError("a value of a header holds a control character");
    if (name === ":status" && status === null && headers.size === 0) {
      if (!/^[1-9]\d\d$/.test(value)) throw new WireError("the status is none");
      status = Number(value);
    } else {
      if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new WireError("a header has no name");
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }
  return { status, headers, bytes };
}
