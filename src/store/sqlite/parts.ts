/**
 * A transaction on SQLite that calls do not wait for as a whole.
 *
 * Nothing in a transaction waits for anything but what has happened already, so it would be one turn of the event loop: with a
 * hundred records 2 ms, many times what a call takes. It is divided into parts instead, and calls go on between them. Nobody
 * else comes in between on this connection; as soon as somebody needs it, the rest is one part.
 */
import { setImmediate } from "node:timers";

/** How long a part may take, in milliseconds. */
const PART_MS = 0.2;
/** A timer takes so long, in milliseconds, where nothing else goes on. */
const IDLE_MS = 2;
/** A busy process has long turns, and its records must keep up: a part may also take so much of what the turn before took beyond that. */
const SHARE = 1 / 2;

export interface PartsOptions {
  /** False: somebody waits for the end of it. Absent: always. */
  divided?(): boolean;
  /** Told how long each part held the event loop, in milliseconds. */
  held(ms: number): void;
  /** For tests. */
  now?(): number;
  turn?(next: () => void): void;
}

export class TransactionParts {
  readonly #divided: () => boolean;
  readonly #held: (ms: number) => void;
  readonly #now: () => number;
  readonly #turn: (next: () => void) => void;
  #begun: number;
  #most = PART_MS;

  /** Begins the first part. */
  constructor({ divided = () => false, held, now = () => performance.now(), turn = later }: PartsOptions) {
    this.#divided = divided;
    this.#held = held;
    this.#now = now;
    this.#turn = turn;
    this.#begun = now();
  }

  /** A further statement: in this part, or in the next one. */
  next(): Promise<void> | undefined {
    if (this.#now() - this.#begun < this.#most || !this.#divided()) return undefined;
    this.end();
    const ended = this.#now();
    return new Promise((resolve) =>
      this.#turn(() => {
        this.#begun = this.#now();
        this.#most = Math.max(PART_MS, (this.#begun - ended - IDLE_MS) * SHARE);
        resolve();
      })
    );
  }

  /** The last part is over. */
  end(): void {
    this.#held(this.#now() - this.#begun);
  }
}

/**
 * A timer, since Deno looks for what has arrived only after many turns that `setImmediate` alone asks for; and behind what has
 * arrived by then.
 */
function later(next: () => void): void {
  setTimeout(() => setImmediate(next), 0);
}
