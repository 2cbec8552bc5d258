/**
 * A WebSocket that the host holds (`Deno.upgradeWebSocket`). It cannot be told to read no more, so that a caller who sends faster
 * than it is served is refused, where a connection of our own would be held back.
 */
import { type CallerSocket, MOST_WAITING, TRY_AGAIN_LATER, type WebSocketOptions } from "./websocket.ts";
import { CLOSE } from "./websocket_frames.ts";

/** How long the other side may take to confirm an end. */
const CLOSING_MS = 2000;
/** Bytes that wait to be sent before nothing more is given to the host, and how often it is asked about them. */
const MOST_UNSENT = 1 << 20;
const LOOK_MS = 10;

interface Message {
  text: string;
  bytes: number;
}

export class HostSocket implements CallerSocket {
  readonly #socket: WebSocket;
  readonly #hold: (bytes: number) => boolean;
  readonly #waiting: Message[] = [];
  #waitingBytes = 0;
  #wake = () => {};
  #stopping = false;
  /** Resolves when it is open, or never will be. */
  readonly #opened: Promise<void>;
  readonly gone: Promise<void>;

  constructor(socket: WebSocket, { mostMessageBytes, hold = () => true }: WebSocketOptions) {
    this.#socket = socket;
    this.#hold = hold;
    const opened = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    this.#opened = opened.promise;
    this.gone = gone.promise;
    socket.onopen = () => opened.resolve();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#take(data, mostMessageBytes);
    socket.onclose = () => {
      opened.resolve();
      gone.resolve();
      this.#wake();
      hold(0);
    };
  }

  #take(data: unknown, mostBytes: number): void {
    if (typeof data !== "string") return this.#refuse(CLOSE.unsupported, "expected messages of text");
    const bytes = new TextEncoder().encode(data).length;
    if (bytes > mostBytes) return this.#refuse(CLOSE.tooLarge, "a message is too large");
    if (this.#waiting.length >= MOST_WAITING || !this.#hold(this.#waitingBytes + bytes)) {
      return this.#refuse(TRY_AGAIN_LATER, "there is no room for messages just now");
    }
    this.#waiting.push({ text: data, bytes });
    this.#waitingBytes += bytes;
    this.#wake();
  }

  #refuse(code: number, reason: string): void {
    if (this.#isOpen) this.#socket.close(code, reason);
    this.#wake();
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async receive(): Promise<string | null> {
    await this.#opened;
    while (true) {
      if (this.#stopping) {
        await this.close(CLOSE.goingAway, "the server stops");
        return null;
      }
      const message = this.#waiting.shift();
      if (message !== undefined) {
        this.#waitingBytes -= message.bytes;
        this.#hold(this.#waitingBytes);
        return message.text;
      }
      if (!this.#isOpen) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  stop(): void {
    this.#stopping = true;
    this.#wake();
  }

  async send(messages: readonly string[]): Promise<void> {
    for (const text of messages) {
      while (this.#isOpen && this.#socket.bufferedAmount > MOST_UNSENT) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      if (!this.#isOpen) throw new Deno.errors.BadResource("The connection has ended.");
      this.#socket.send(text);
    }
  }

  async close(code: number, reason: string): Promise<void> {
    this.#socket.close(code, reason);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSING_MS));
    await Promise.race([this.gone, late]);
    clearTimeout(timer);
  }
}
