/**
 * How fast small frames of clients are processed, of all connections together: those of HTTP/2, and those of WebSockets.
 *
 * The HTTP/2 implementation processes everything that has arrived on a connection in one step. Of frames with little content (one byte, or
 * padding only) a megabyte takes a tenth of a second and more, and each connection may have megabytes in the buffers of the system.
 *
 * The unit of work is a frame without further effect, which takes about a microsecond.
 */
import { pause } from "../timing/waits.ts";

/** Bytes that make no more work than this need not be paced: most clients send less at once. */
export const LITTLE_WORK = 256;
/** Work that is passed on at once. */
const MOST = 1000;
/** Work that is passed on per millisecond: half of a core. */
const PER_MS = 500;

interface Waiting {
  cost: number;
  resolve(): void;
}

export class InputPace {
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #waiting: Waiting[] = [];
  /** Work that may be passed on; negative after much of it. */
  #room = MOST;
  #at: number;

  /** @param now clock in milliseconds */
  constructor(now: () => number = () => performance.now(), wait: (ms: number) => Promise<void> = pause) {
    this.#now = now;
    this.#pause = wait;
    this.#at = now();
  }

  /** Null: frames that make so much work may be passed on at once; else when the promise resolves. Connections take turns. */
  enter(cost: number): Promise<void> | null {
    if (this.#waiting.length === 0) {
      this.#refill();
      if (this.#room > 0) {
        this.#room -= cost;
        return null;
      }
    }
    return new Promise((resolve) => {
      if (this.#waiting.push({ cost, resolve }) === 1) void this.#admit();
    });
  }

  #refill(): void {
    const now = this.#now();
    this.#room = Math.min(MOST, this.#room + (now - this.#at) * PER_MS);
    this.#at = now;
  }

  async #admit(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#pause(1);
      this.#refill();
      while (this.#room > 0 && this.#waiting.length > 0) {
        const { cost, resolve } = this.#waiting.shift()!;
        this.#room -= cost;
        resolve();
      }
    }
  }
}
