/**
 * A WebSocket as a server has it, over a connection that was an HTTP one before (RFC 6455).
 *
 * Messages wait in a bounded line until they are taken; while it is full nothing more is read, so that a caller who sends
 * faster than it is served is held back by its own connection.
 */
import { createHash } from "node:crypto";
import { Rounds } from "../timing/rounds.ts";
import {
  CLOSE,
  closeFrame,
  FrameError,
  FrameReader,
  PING_FRAME,
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
  /** Silence of the other side, at least, after which it is asked whether it is there, and as long again until it is not. */
  pingMs: number;
  /** Told how many bytes of messages wait here, whole or in part. False: there is no room for so many. */
  hold?(bytes: number): boolean;
  /** Told once that the connection is over, also one that ended before it was a WebSocket's. */
  over?(): void;
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
  /** The answer to the last ping, which has not gone out yet: earlier ones need none (RFC 6455, section 5.5.3). */
  #pong: Uint8Array | null = null;
  #heard = true;
  /** It has been asked since it was heard. */
  #asked = false;
  #ended = false;
  /** The other side has said that it ends. */
  #left = false;
  /** It cannot be written to any more. */
  #broken = false;
  #over = false;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #closing = false;
  #stopping = false;
  readonly gone: Promise<void>;

  constructor(wire: Wire, options: WebSocketOptions) {
    this.#wire = wire;
    this.#options = options;
    this.#frames = new FrameReader(options.mostMessageBytes, {
      text: (message) => {
        if (this.#closing) return;
        this.#waiting.push(message);
        this.#waitingBytes += message.length;
      },
      ping: (payload) => this.#pingCame(payload),
      pong: () => {},
      close: (code) => {
        this.#left = true;
        void this.close(code ?? CLOSE.normal, "");
      },
    });
    this.gone = this.#read();
  }

  async receive(): Promise<string | null> {
    while (true) {
      if (this.#stopping) {
        await this.close(CLOSE.goingAway, "the server stops");
        return null;
      }
      // Nobody would hear the answer.
      if (this.#ended || this.#closing) return null;
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
      this.rests(true);
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.rests(false);
    }
  }

  /** Told when it begins to wait for a message, and when it waits no longer. */
  rests: (rests: boolean) => void = () => {};

  /** Ends at once, without waiting for the other side: its place is needed. */
  async giveWay(): Promise<void> {
    if (this.#closing || this.#ended) return;
    await this.#beginClosing(
      TRY_AGAIN_LATER,
      "the server is full; open another connection when you need one",
    );
    this.#wire.close();
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
    if (!this.#closing && !this.#ended) await this.#beginClosing(code, reason);
    await this.gone;
  }

  async #beginClosing(code: number, reason: string): Promise<void> {
    this.#closing = true;
    this.#wake();
    this.#room();
    await this.#write(closeFrame(code, reason)).catch(() => {});
    if (!this.#over) this.#patience = setTimeout(() => this.#wire.close(), CLOSING_MS);
  }

  async #read(): Promise<void> {
    let readable: "frames" | "bytes" | "nothing" = "frames";
    const rounds = Rounds.every(this.#options.pingMs);
    const asked = rounds.add(() => this.#ask());
    try {
      do {
        while (this.#isFull && !this.#closing && !this.#broken) {
          await new Promise<void>((resolve) => this.#room = resolve);
        }
        this.#wire.taken((buffer, from, to) => {
          if (to > from) this.#heard = true;
          this.#frames.push(buffer.subarray(from, to));
          return to;
        });
        if (!this.#hold()) throw new FrameError(TRY_AGAIN_LATER, "there is no room for messages just now");
        if (this.#waiting.length > 0) this.#wake();
      } while (!this.#closing && await this.#wire.fill());
    } catch (thrown) {
      readable = thrown instanceof FrameError ? "bytes" : "nothing";
      if (thrown instanceof FrameError && !this.#closing) {
        await this.#beginClosing(thrown.code, thrown.message);
      }
    }
    rounds.remove(asked);
    this.#ended = true;
    this.#waiting.length = 0;
    this.#options.hold?.(0);
    this.#wake();
    // What was written before must have gone out.
    await this.#writing;
    if (this.#closing && readable !== "nothing") await this.#linger(readable);
    this.#over = true;
    clearTimeout(this.#patience);
    this.#wire.close();
  }

  /** Passes over what still comes: a connection that is closed before all was read takes what was sent last with it. */
  async #linger(readable: "frames" | "bytes"): Promise<void> {
    try {
      while (!this.#left && await this.#wire.fill()) {
        this.#wire.taken((buffer, from, to) => {
          if (readable === "frames") this.#frames.push(buffer.subarray(from, to));
          return to;
        });
      }
    } catch {
      // It has left without a word.
    }
  }

  #pingCame(payload: Uint8Array): void {
    if (this.#closing) return;
    const waits = this.#pong !== null;
    this.#pong = payload;
    if (waits) return;
    this.#writing = this.#writing.then(() => {
      const last = this.#pong!;
      this.#pong = null;
      return this.#wire.write(pongFrame(last));
    }).catch(() => {});
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

  /** Asks whom nothing came from since the time before, and ends it where the answer does not come either. */
  #ask(): void {
    if (this.#heard) {
      this.#heard = this.#asked = false;
      return;
    }
    // While nothing more is read, it cannot be heard.
    if (this.#asked && !this.#isFull) return this.#wire.close();
    this.#asked = true;
    this.#write(PING_FRAME).catch(() => {
      this.#broken = true;
      this.#wire.close();
      this.#room();
    });
  }
}
