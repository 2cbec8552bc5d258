/**
 * The server side of a WebSocket, over an upgraded HTTP connection (RFC 6455).
 *
 * Messages wait in a bounded queue. While it is full, nothing more is read from the connection (backpressure), so a caller cannot send
 * faster than it is served.
 *
 * Thousands of sockets may be idle for hours, and every garbage collection visits their objects. So an idle socket consists only of this
 * object and a pending read, without suspended async functions.
 */
import { nodeCrypto } from "../../exchange/hashes.ts";
import { Rounds, Visited } from "../../timing/rounds.ts";
import {
  CLOSE,
  closeFrame,
  FrameError,
  type FrameListener,
  isEmptyPong,
  PING_FRAME,
  pongFrame,
  textFrame,
  WebSocketFrameReader,
} from "./frames.ts";
import { InputPace } from "../input_pace.ts";
import { strictUtf8 } from "./strict_utf8.ts";

/** A WebSocket as seen by its user, independent of the server. */
export interface CallerSocket {
  /** Sends messages. Resolves when their bytes have been passed on; rejects if the connection has ended. */
  send(messages: readonly string[]): Promise<void>;
  /** Closes it. Resolves when the peer has confirmed, or after a timeout. */
  close(code: number, reason: string): Promise<void>;
}

/** The user of a WebSocket: receives its messages. */
export interface SocketUser {
  readonly mostMessageBytes: number;
  /**
   * Minimum silence of the peer after which a ping is sent, and again until the connection is closed, in
   * milliseconds.
   */
  readonly pingMs: number;
  opened?(socket: CallerSocket): void;
  /** Handles a message; the next one is delivered after this has resolved. A rejection closes the socket. */
  take(message: string, socket: CallerSocket): Promise<void>;
  /** The connection has ended, possibly while a message is being handled. */
  disconnected?(): void;
  /** Called with the bytes used by queued messages, complete or partial. False: not enough memory. */
  hold?(bytes: number): boolean;
  /** Called at the very end, also if the connection ended before the upgrade. */
  over?(): void;
}

/** The underlying connection. */
export interface Wire {
  /** Waits for bytes, then calls the reader once. Only one wait at a time. */
  read(reader: WireReader): void;
  /** Passes the received bytes to `use`, which returns the position up to which it consumed them. */
  taken(use: (buffer: Uint8Array, from: number, to: number) => number): void;
  write(bytes: Uint8Array): Promise<void>;
  /** Reports whether the socket is waiting for a message. */
  rests(rests: boolean): void;
  /** Shuts down the sending side; the peer may still be read. */
  ends(): void;
  close(): void;
}

export interface WireReader {
  came(): void;
  /** The peer has closed, or the connection is broken. */
  ended(): void;
}

/** Number of queued messages at which reading pauses. */
export const MOST_WAITING = 16;
/** Frames of a connection that are read in one step; further ones wait until it is their turn. */
export const FRAMES_AT_ONCE = 300;
/** Close code "Try Again Later" (IANA registry; not in RFC 6455). */
export const TRY_AGAIN_LATER = 1013;
/** Memory of a queued message in addition to its bytes: one read can contain thousands of empty ones. */
export const MESSAGE_OVERHEAD = 160;
/** How long the peer may take to confirm a close, in milliseconds. */
const CLOSING_MS = 2000;

/** For all connections together: of small frames a read has thousands. */
const pace = new InputPace();

/** The value of `Sec-WebSocket-Accept`. */
export function acceptOf(key: string): string {
  return nodeCrypto().createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest(
    "base64",
  );
}

/** How further input is discarded: as valid frames, or as arbitrary bytes. */
type Rest = "frames" | "bytes";

export class WebSocketConnection extends Visited implements CallerSocket, WireReader {
  readonly #wire: Wire;
  readonly #user: SocketUser;
  /** Null: no incomplete frame or message. */
  #frames: WebSocketFrameReader | null = null;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** The last write; null: all writes have completed. */
  #writing: Promise<void> | null = null;
  /** The answer to the last ping, not sent yet; earlier pings need no answer (RFC 6455, section 5.5.3). */
  #pong: Uint8Array | null = null;
  #heard = true;
  /** A ping has been sent since the peer was last heard. */
  #asked = false;
  /** Received bytes are left unread until there is room. */
  #isHeldBack = false;
  /** A message is being handled. */
  #taking = false;
  #stopping = false;
  #closing = false;
  /** Writing has failed. */
  #broken = false;
  /** No more messages are delivered. */
  #ended = false;
  /** How further input is discarded; null: it is processed, or reading has stopped. */
  #lingers: Rest | null = null;
  /** The peer has sent a close frame. */
  #left = false;
  #over = false;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #whenClosed: PromiseWithResolvers<void> | null = null;

  constructor(wire: Wire, user: SocketUser) {
    super();
    this.#wire = wire;
    this.#user = user;
  }

  /** Processes bytes already received, and continues reading. */
  begin(): void {
    Rounds.every(this.#user.pingMs).add(this);
    this.#user.opened?.(this);
    this.#wire.rests(true);
    this.came();
  }

  /** Resolves when the connection has ended. */
  get whenClosed(): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.#whenClosed ??= Promise.withResolvers<void>();
    return this.#whenClosed.promise;
  }

  /** Closes at once, without waiting for the peer, to free its place. */
  async closeNow(): Promise<void> {
    if (this.#closing || this.#ended) return;
    await this.#beginClosing(
      TRY_AGAIN_LATER,
      "the server is full; open another connection when you need one",
    );
    this.#wire.close();
  }

  /** Closes after the current message has been handled. */
  stop(): void {
    this.#stopping = true;
    if (!this.#taking) void this.close(CLOSE.goingAway, "the server stops");
  }

  async send(messages: readonly string[]): Promise<void> {
    if (this.#ended || this.#closing) throw new Deno.errors.BadResource("The connection has ended.");
    for (const text of messages) await this.#write(textFrame(text));
  }

  async close(code: number, reason: string): Promise<void> {
    if (!this.#closing && !this.#ended) await this.#beginClosing(code, reason);
    await this.whenClosed;
  }

  async #beginClosing(code: number, reason: string): Promise<void> {
    this.#closing = true;
    this.#makeRoom();
    await this.#write(closeFrame(code, reason)).catch(() => {});
    if (!this.#over) this.#patience = setTimeout(() => this.#wire.close(), CLOSING_MS);
  }

  came(): void {
    if (this.#ended) return this.#passOver();
    if (this.#isFull && !this.#closing && !this.#broken) {
      this.#isHeldBack = true;
      return;
    }
    let left = 0;
    try {
      this.#wire.taken((buffer, from, to) => {
        const end = to > from ? from + this.#understand(buffer.subarray(from, to)) : to;
        left = to - end;
        return end;
      });
    } catch (thrown) {
      const { code, message } = thrown instanceof FrameError
        ? thrown
        : { code: CLOSE.internalError, message: "" };
      if (!this.#closing) void this.#beginClosing(code, message);
      return void this.#end("bytes");
    }
    if (this.#closing) return void this.#end("frames");
    if (this.#waiting.length > 0) void this.#take();
    this.#next(left);
  }

  /** @param left number of bytes received and not read yet */
  #next(left: number): void {
    if (left === 0) return this.#wire.read(this);
    const turn = pace.enter(FRAMES_AT_ONCE);
    if (turn === null) this.came();
    else void turn.then(() => this.came());
  }

  ended(): void {
    if (this.#ended) this.#finish();
    else void this.#end(null);
  }

  /** Reads a number of frames at most, and as many messages as there is room for. Returns the number of bytes read. */
  #understand(bytes: Uint8Array): number {
    this.#heard = true;
    // Fast path: most idle sockets receive nothing but pongs.
    if (this.#frames === null && isEmptyPong(bytes)) return bytes.length;
    const read = this.#readFrames(bytes);
    if (this.#frames!.isBetween) this.#frames = null;
    if (!this.#hold()) throw new FrameError(TRY_AGAIN_LATER, "there is no room for messages just now");
    return read;
  }

  #readFrames(bytes: Uint8Array): number {
    this.#frames ??= new WebSocketFrameReader(this.#user.mostMessageBytes, this.#listener());
    let left = FRAMES_AT_ONCE;
    return this.#frames.push(bytes, () => --left > 0 && !this.#isFull);
  }

  #listener(): FrameListener {
    return {
      text: (message) => {
        if (this.#closing) return;
        this.#waiting.push(message);
        this.#waitingBytes += message.length + MESSAGE_OVERHEAD;
      },
      ping: (payload) => this.#pingCame(payload),
      pong: () => {},
      close: (code) => {
        this.#left = true;
        void this.close(code ?? CLOSE.normal, "");
      },
    };
  }

  /** Delivers the queued messages one after the other. */
  async #take(): Promise<void> {
    if (this.#taking) return;
    this.#taking = true;
    this.#wire.rests(false);
    try {
      // After a close the result could not be sent.
      while (this.#waiting.length > 0 && !this.#stopping && !this.#closing && !this.#ended) {
        const message = this.#waiting.shift()!;
        this.#waitingBytes -= message.length + MESSAGE_OVERHEAD;
        this.#hold();
        this.#makeRoom();
        const text = strictUtf8(message);
        if (text === null) void this.close(CLOSE.invalidText, "a message is no UTF-8");
        else await this.#user.take(text, this);
      }
    } catch {
      void this.close(CLOSE.internalError, "");
    }
    this.#taking = false;
    if (this.#over) this.#user.over?.();
    else if (this.#stopping) this.stop();
    else if (!this.#ended) this.#wire.rests(true);
  }

  /** Resumes reading after it was paused. */
  #makeRoom(): void {
    if (!this.#isHeldBack) return;
    this.#isHeldBack = false;
    queueMicrotask(() => this.came());
  }

  /**
   * Stops delivering messages. Closing a connection with unread input resets it, and the peer may lose what
   * was sent last, so further input is read and discarded.
   *
   * @param rest null: nothing more can be read
   */
  async #end(rest: Rest | null): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    Rounds.every(this.#user.pingMs).remove(this);
    this.#waiting.length = 0;
    this.#frames = rest === "frames" ? this.#frames : null;
    this.#user.hold?.(0);
    this.#user.disconnected?.();
    // Waits for earlier writes.
    await this.#writing;
    if (rest === null || !this.#closing) return this.#finish();
    this.#lingers = rest;
    // After a protocol error the input cannot be parsed, so the end of the connection is awaited.
    if (rest === "bytes") this.#wire.ends();
    this.#passOver();
  }

  #passOver(): void {
    let left = 0;
    try {
      this.#wire.taken((buffer, from, to) => {
        const reads = this.#lingers === "frames" && to > from;
        const end = reads ? from + this.#readFrames(buffer.subarray(from, to)) : to;
        left = to - end;
        return end;
      });
    } catch {
      // The peer closed the connection without a close frame.
      this.#left = true;
    }
    if (this.#left) this.#finish();
    else this.#next(left);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#patience);
    this.#wire.close();
    this.#whenClosed?.resolve();
    if (!this.#taking) this.#user.over?.();
  }

  #pingCame(payload: Uint8Array): void {
    if (this.#closing) return;
    const waits = this.#pong !== null;
    this.#pong = payload;
    if (waits) return;
    this.#after(() => {
      const last = this.#pong!;
      this.#pong = null;
      return this.#wire.write(pongFrame(last));
    }).catch(() => {});
  }

  get #isFull(): boolean {
    return this.#waiting.length >= MOST_WAITING || this.#waitingBytes > this.#user.mostMessageBytes;
  }

  #hold(): boolean {
    return this.#user.hold?.(this.#ended ? 0 : this.#waitingBytes + (this.#frames?.kept ?? 0)) ?? true;
  }

  #write(bytes: Uint8Array): Promise<void> {
    return this.#after(() => this.#wire.write(bytes));
  }

  /** Writes frames one after the other: a write may take several steps. */
  #after(write: () => Promise<void>): Promise<void> {
    const writing = this.#writing === null ? write() : this.#writing.then(write);
    const last: Promise<void> = this.#writing = writing.catch(() => {}).then(() => {
      if (this.#writing === last) this.#writing = null;
    });
    return writing;
  }

  /**
   * Sends a ping if nothing was received since the last visit, and closes the connection if there was no
   * answer to the previous one.
   */
  visit(): void {
    if (this.#heard) {
      this.#heard = this.#asked = false;
      return;
    }
    // While reading is paused, an answer cannot be received.
    if (this.#asked && !this.#isFull) return this.#wire.close();
    // After a close frame nothing more is sent; a peer that does not read even that is disconnected.
    if (this.#closing) return void (this.#asked = true);
    // The peer is still receiving data, with a timeout in the connection; a ping would have to wait behind
    // it.
    if (this.#writing !== null) return;
    this.#write(PING_FRAME).then(() => this.#asked = true, () => {
      this.#broken = true;
      this.#wire.close();
      this.#makeRoom();
    });
  }
}
