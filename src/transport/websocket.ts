/**
 * The server side of a WebSocket, over an upgraded HTTP connection (RFC 6455).
 *
 * Messages wait in a bounded queue. While it is full, nothing more is read from the connection (backpressure), so a caller cannot send
 * faster than it is served.
 *
 * Thousands of sockets may be idle for hours, and every garbage collection visits their objects. So an idle socket consists only of this
 * object and a pending read, without suspended async functions.
 */
import { nodeCrypto } from "../exchange/hashes.ts";
import { Rounds, Visited } from "../timing/rounds.ts";
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
} from "./websocket_frames.ts";
import { strictUtf8 } from "./strict_utf8.ts";

/** A WebSocket for those who talk over it, whoever holds its connection. */
export interface CallerSocket {
  /** Sends messages. Resolves when their bytes are on their way; rejects when the connection has ended. */
  send(messages: readonly string[]): Promise<void>;
  /** Ends it. Resolves when the other side has confirmed, or had time to. */
  close(code: number, reason: string): Promise<void>;
}

/** Who talks over a WebSocket. */
export interface SocketUser {
  readonly mostMessageBytes: number;
  /** Silence of the other side, at least, after which it is asked whether it is there, and as long again until it is not. */
  readonly pingMs: number;
  opened?(socket: CallerSocket): void;
  /** Takes a message; the next one comes when this has resolved. The socket ends where it rejects. */
  take(message: string, socket: CallerSocket): Promise<void>;
  /** The connection has ended, maybe while a message is being taken. */
  gone?(): void;
  /** Told how many bytes messages take that wait here, whole or in part. False: there is no room for so many. */
  hold?(bytes: number): boolean;
  /** Told once that all is over, also of a connection that ended before it was a WebSocket's. */
  over?(): void;
}

/** The connection below. */
export interface Wire {
  /** Waits for bytes, and then tells the reader once. One wait at a time. */
  read(reader: WireReader): void;
  /** Takes bytes that have come, from and to positions in a buffer; gives how far they were taken. */
  taken(use: (buffer: Uint8Array, from: number, to: number) => number): void;
  write(bytes: Uint8Array): Promise<void>;
  /** No message is being taken, or one is again. */
  rests(rests: boolean): void;
  /** Nothing more is written: the other side sees the end of the connection, and may still be read. */
  ends(): void;
  close(): void;
}

export interface WireReader {
  came(): void;
  /** No more comes: the other side has ended, or the connection is broken. */
  ended(): void;
}

/** Messages that wait to be taken before no more are read. */
export const MOST_WAITING = 16;
/** There is no room just now (registered with IANA beside those of RFC 6455). */
export const TRY_AGAIN_LATER = 1013;
/** What a message takes that waits, beside its bytes: one read brings thousands that have none. */
export const MESSAGE_OVERHEAD = 160;
/** How long the other side may take to confirm an end. */
const CLOSING_MS = 2000;

/** What `sec-websocket-accept` must say. */
export function acceptOf(key: string): string {
  return nodeCrypto().createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest(
    "base64",
  );
}

/** How what still comes is passed over, once nothing more is understood. */
type Rest = "frames" | "bytes";

export class WebSocketConnection extends Visited implements CallerSocket, WireReader {
  readonly #wire: Wire;
  readonly #user: SocketUser;
  /** Null: nothing of a frame or a message has come whose end has not. */
  #frames: WebSocketFrameReader | null = null;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** The last write; null: all have ended. */
  #writing: Promise<void> | null = null;
  /** The answer to the last ping, which has not gone out yet: earlier ones need none (RFC 6455, section 5.5.3). */
  #pong: Uint8Array | null = null;
  #heard = true;
  /** It has been asked since it was heard, and the question has gone out. */
  #asked = false;
  /** Bytes have come that are left where they are until there is room. */
  #isHeldBack = false;
  /** A message is being taken. */
  #taking = false;
  #stopping = false;
  #closing = false;
  /** It cannot be written to any more. */
  #broken = false;
  /** No more messages come. */
  #ended = false;
  /** What still comes is passed over; null: it is understood, or nothing more is read. */
  #lingers: Rest | null = null;
  /** The other side has said that it ends. */
  #left = false;
  #over = false;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #gone: PromiseWithResolvers<void> | null = null;

  constructor(wire: Wire, user: SocketUser) {
    super();
    this.#wire = wire;
    this.#user = user;
  }

  /** Reads what has come, and goes on. */
  begin(): void {
    Rounds.every(this.#user.pingMs).add(this);
    this.#user.opened?.(this);
    this.#wire.rests(true);
    this.came();
  }

  /** Resolves when the connection has ended, whoever ended it. */
  get gone(): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.#gone ??= Promise.withResolvers<void>();
    return this.#gone.promise;
  }

  /** Ends at once, without waiting for the other side: its place is needed. */
  async giveWay(): Promise<void> {
    if (this.#closing || this.#ended) return;
    await this.#beginClosing(
      TRY_AGAIN_LATER,
      "the server is full; open another connection when you need one",
    );
    this.#wire.close();
  }

  /** Ends once the message that is being taken has been. */
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
    await this.gone;
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
    try {
      this.#wire.taken((buffer, from, to) => {
        if (to > from) this.#understand(buffer.subarray(from, to));
        return to;
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
    this.#wire.read(this);
  }

  ended(): void {
    if (this.#ended) this.#finish();
    else void this.#end(null);
  }

  #understand(bytes: Uint8Array): void {
    this.#heard = true;
    // What most sockets say all day.
    if (this.#frames === null && isEmptyPong(bytes)) return;
    this.#frames ??= new WebSocketFrameReader(this.#user.mostMessageBytes, this.#listener());
    this.#frames.push(bytes);
    if (this.#frames.isBetween) this.#frames = null;
    if (!this.#hold()) throw new FrameError(TRY_AGAIN_LATER, "there is no room for messages just now");
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

  /** Has the messages that wait taken, one after the other. */
  async #take(): Promise<void> {
    if (this.#taking) return;
    this.#taking = true;
    this.#wire.rests(false);
    try {
      // Nobody would hear the answer of one that is closing.
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

  /** Reads on where it was held back. */
  #makeRoom(): void {
    if (!this.#isHeldBack) return;
    this.#isHeldBack = false;
    queueMicrotask(() => this.came());
  }

  /**
   * No more messages are taken. A connection that is closed before all was read takes what was sent last with it, so what still
   * comes is passed over.
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
    this.#user.gone?.();
    // What was written before must have gone out.
    await this.#writing;
    if (rest === null || !this.#closing) return this.#finish();
    this.#lingers = rest;
    // Who broke the protocol is not understood any more, and waits for the end of the connection.
    if (rest === "bytes") this.#wire.ends();
    this.#passOver();
  }

  #passOver(): void {
    try {
      this.#wire.taken((buffer, from, to) => {
        if (this.#lingers === "frames" && to > from) {
          this.#frames ??= new WebSocketFrameReader(this.#user.mostMessageBytes, this.#listener());
          this.#frames.push(buffer.subarray(from, to));
        }
        return to;
      });
    } catch {
      // It has left without a word.
      this.#left = true;
    }
    if (this.#left) this.#finish();
    else this.#wire.read(this);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#patience);
    this.#wire.close();
    this.#gone?.resolve();
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

  /** One frame after the other: a write may take several steps. */
  #after(write: () => Promise<void>): Promise<void> {
    const writing = this.#writing === null ? write() : this.#writing.then(write);
    const last: Promise<void> = this.#writing = writing.catch(() => {}).then(() => {
      if (this.#writing === last) this.#writing = null;
    });
    return writing;
  }

  /** Asks whom nothing came from since the time before, and ends it where the answer does not come either. */
  visit(): void {
    if (this.#heard) {
      this.#heard = this.#asked = false;
      return;
    }
    // While nothing more is read, it cannot be heard.
    if (this.#asked && !this.#isFull) return this.#wire.close();
    // Nothing is sent behind an end, and who does not even take that is left.
    if (this.#closing) return void (this.#asked = true);
    // It still takes what it was sent, for which the connection below gives it time; a question would wait behind that.
    if (this.#writing !== null) return;
    this.#write(PING_FRAME).then(() => this.#asked = true, () => {
      this.#broken = true;
      this.#wire.close();
      this.#makeRoom();
    });
  }
}
