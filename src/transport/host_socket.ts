/**
 * A WebSocket provided by the host (`Deno.upgradeWebSocket`). It cannot pause reading, so a client that sends
 * faster than it is served gets an error; our own connections use backpressure instead.
 */
import { pause } from "../timing/waits.ts";
import { type CallerSocket, MOST_WAITING, type SocketUser, TRY_AGAIN_LATER } from "./websocket/socket.ts";
import { CLOSE } from "./websocket/frames.ts";

/** How long the peer may take to confirm a close, in milliseconds. */
const CLOSING_MS = 2000;
/** Unsent bytes above which sending pauses, and the polling interval for them. */
const MOST_UNSENT = 1 << 20;
const LOOK_MS = 10;

interface Message {
  text: string;
  bytes: number;
}

export class HostSocket implements CallerSocket {
  readonly #socket: WebSocket;
  readonly #user: SocketUser;
  readonly #waiting: Message[] = [];
  #waitingBytes = 0;
  #taking = false;
  #stopping = false;
  #over = false;
  readonly #whenClosed = Promise.withResolvers<void>();
  readonly whenClosed = this.#whenClosed.promise;

  constructor(socket: WebSocket, user: SocketUser) {
    this.#socket = socket;
    this.#user = user;
    socket.onopen = () => {
      user.opened?.(this);
      if (this.#stopping) this.stop();
    };
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#came(data);
    socket.onclose = () => this.#ended();
  }

  #came(data: unknown): void {
    if (typeof data !== "string") return this.#refuse(CLOSE.unsupported, "expected messages of text");
    const bytes = new TextEncoder().encode(data).length;
    if (bytes > this.#user.mostMessageBytes) return this.#refuse(CLOSE.tooLarge, "a message is too large");
    if (this.#waiting.length >= MOST_WAITING || !this.#hold(this.#waitingBytes + bytes)) {
      return this.#refuse(TRY_AGAIN_LATER, "there is no room for messages just now");
    }
    this.#waiting.push({ text: data, bytes });
    this.#waitingBytes += bytes;
    void this.#take();
  }

  #refuse(code: number, reason: string): void {
    if (this.#isOpen) this.#socket.close(code, reason);
  }

  #hold(bytes: number): boolean {
    return this.#user.hold?.(bytes) ?? true;
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Passes queued messages to the user, one after the other. */
  async #take(): Promise<void> {
    if (this.#taking) return;
    this.#taking = true;
    try {
      while (this.#waiting.length > 0 && this.#isOpen && !this.#stopping) {
        const { text, bytes } = this.#waiting.shift()!;
        this.#waitingBytes -= bytes;
        this.#hold(this.#waitingBytes);
        await this.#user.take(text, this);
      }
    } catch {
      this.#refuse(CLOSE.internalError, "");
    }
    this.#taking = false;
    if (this.#over) this.#user.over?.();
    else if (this.#stopping) this.stop();
  }

  #ended(): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting.length = 0;
    this.#hold(0);
    this.#user.disconnected?.();
    this.#whenClosed.resolve();
    if (!this.#taking) this.#user.over?.();
  }

  stop(): void {
    this.#stopping = true;
    if (!this.#taking && this.#isOpen) void this.close(CLOSE.goingAway, "the server stops");
  }

  async send(messages: readonly string[]): Promise<void> {
    for (const text of messages) {
      while (this.#isOpen && this.#socket.bufferedAmount > MOST_UNSENT) {
        await pause(LOOK_MS);
      }
      if (!this.#isOpen) throw new Deno.errors.BadResource("The connection has ended.");
      this.#socket.send(text);
    }
  }

  async close(code: number, reason: string): Promise<void> {
    this.#socket.close(code, reason);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSING_MS));
    await Promise.race([this.whenClosed, late]);
    clearTimeout(timer);
  }
}
