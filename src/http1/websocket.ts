/**
 * A WebSocket as a server has it, over a connection that was an HTTP one before (RFC 6455).
 *
 * Messages wait in a bounded line until they are taken; while it is full nothing more is read, so that a caller who sends
 * faster than it is served is held back by its own connection.
 */
import { createHash } from "node:crypto";
import {
  CLOSE,
  closeFrame,
  FrameError,
  FrameReader,
  pingFrame,
  pongFrame,
  textFrame,
} from "./websocket_frames.ts";

/** A WebSocket for those who talk over it, whoever holds its connection. */
export interface CallerSocket {
  /** The next message; null: the connection has ended. A message that is no UTF-8 ends it. */
  receive(): Promise<string | null>;
  /** Sends messages. Resolves when their bytes are on their way; rejects when the connection has ended. */
  send(messages: readonly string[]): Promise<void>;
  stop(): void;
  /** Ends it. Resolves when the other side has confirmed, or had time to. */
  close(code: number, reason: string): Promise<void>;
  /** Resolves when the connection has ended, whoever ended it. */
  readonly gone: Promise<void>;
}

/** The connection below. */
export interface Wire {
  /** Waits for bytes; false: the other side has ended. */
  fill(): Promise<boolean>;
  /** Takes bytes that have come, from and to positions in a buffer; gives how far they were taken. */
  taken(use: (buffer: Uint8Array, from: number, to: number) => number): void;
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export interface WebSocketOptions {
  mostMessageBytes: number;
  /** Silence of the other side after which it is asked whether it is there, and as long again until it is not. */
  pingMs: number;
  /** Told how many bytes of messages wait here, whole or in part. False: there is no room for so many. */
  hold?(bytes: number): boolean;
}

/** Messages that wait to be taken before no more are read. */
export const MOST_WAITING = 16;
/** There is no room just now (registered with IANA beside those of RFC 6455). */
export const TRY_AGAIN_LATER = 1013;
/** How long the other side may take to confirm an end. */
const CLOSING_MS = 2000;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** What `sec-websocket-accept` must say. */
export function acceptOf(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

export class WebSocketConnection implements CallerSocket {
  readonly #wire: Wire;
  readonly #options: WebSocketOptions;
  readonly #frames: FrameReader;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  /** Wakes whoever waits for a message, and the reader that waits for room. */
  #wake = () => {};
  #room = () => {};
  #heard = true;
  #ended = false;
  #closing = false;
  #stopping = false;
  readonly gone: Promise<void>;

  constructor(wire: Wire, options: WebSocketOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#frames = new FrameReader(options.mostMessageBytes, {
      text: (message) => {
        this.#waiting.push(message);
        this.#waitingBytes += message.length;
      },
      ping: (payload) => this.#write(pongFrame(payload)),
      pong: () => {},
      close: (code) => this.close(code ?? CLOSE.normal, ""),
    });
    this.gone = this.#read();
  }

  async receive(): Promise<string | null> {
    while (true) {
      if (this.#stopping) {
        await this.close(CLOSE.goingAway, "the server stops");
        return null;
      }
      const message = this.#waiting.shift();
      if (message !== undefined) {
        this.#waitingBytes -= message.length;
        this.#hold();
        this.#room();
        try {
          return decoder.decode(message);
        } catch {
          await this.close(CLOSE.invalidText, "a message is no UTF-8");
          return null;
        }
      }
      if (this.#ended || this.#closing) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Whoever takes the next message learns that the connection ends. */
  stop(): void {
    this.#stopping = true;
    this.#wake();
  }

  async send(messages: readonly string[]): Promise<void> {
    if (this.#ended || this.#closing) throw new Deno.errors.BadResource("The connection has ended.");
    for (const text of messages) await this.#write(textFrame(text));
  }

  async close(code: number, reason: string): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.#wake();
      this.#room();
      await this.#write(closeFrame(code, reason)).catch(() => {});
      setTimeout(() => this.#wire.close(), CLOSING_MS);
    }
    await this.gone;
  }

  async #read(): Promise<void> {
    const timer = setInterval(() => this.#ask(), this.#options.pingMs);
    Deno.unrefTimer(timer);
    try {
      do {
        while (this.#isFull && !this.#closing) await new Promise<void>((resolve) => this.#room = resolve);
        this.#wire.taken((buffer, from, to) => {
          if (to > from) this.#heard = true;
          this.#frames.push(buffer.subarray(from, to));
          return to;
        });
        if (!this.#hold()) throw new FrameError(TRY_AGAIN_LATER, "there is no room for messages just now");
        if (this.#waiting.length > 0) this.#wake();
      } while (!this.#closing && await this.#wire.fill());
    } catch (thrown) {
      if (thrown instanceof FrameError && !this.#closing) {
        this.#closing = true;
        await this.#write(closeFrame(thrown.code, thrown.message)).catch(() => {});
      }
    }
    clearInterval(timer);
    this.#ended = true;
    this.#options.hold?.(0);
    // What was written before must have gone out.
    await this.#writing.catch(() => {});
    this.#wire.close();
    this.#wake();
  }

  get #isFull(): boolean {
    return this.#waiting.length >= MOST_WAITING || this.#waitingBytes > this.#options.mostMessageBytes;
  }

  #hold(): boolean {
    return this.#options.hold?.(this.#ended ? 0 : this.#waitingBytes + this.#frames.kept) ?? true;
  }

  /** One frame after the other: a write may take several steps. */
  #write(bytes: Uint8Array): Promise<void> {
    const writing = this.#writing.then(() => this.#wire.write(bytes));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  #ask(): void {
    if (!this.#heard) return this.#wire.close();
    this.#heard = false;
    this.#write(pingFrame()).catch(() => {});
  }
}
