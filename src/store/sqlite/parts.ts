/**
 * Divides an SQLite transaction into parts, so that calls do not wait for the whole of it.
 *
 * All steps of a transaction are synchronous, so without a pause it would block the event loop: 2 ms for a
 * hundred records, many times as long as a call takes. Between the parts the event loop runs. Nothing else
 * uses the connection in between; as soon as somebody waits for it, the rest runs as one part.
 */
import { setImmediate } from "node:timers";

/** Maximum duration of a part, in milliseconds. */
const PART_MS = 0.2;
/** Delay of a timer in an idle process, in milliseconds. */
const IDLE_MS = 2;
/**
 * In a busy process turns of the event loop are long, and records must keep up: a part may also take this
 * share of the excess duration of the previous turn.
 */
const SHARE = 1 / 2;

export interface PartsOptions {
  /** True: other calls may run between parts. False: somebody waits for the transaction to end. Absent: false. */
  divided?(): boolean;
  /** Called with the time that each part blocked the event loop, in milliseconds. */
  held(ms: number): void;
  /** Clock, replaced in tests. */
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

  /** Starts the first part. */
  constructor({ divided = () => false, held, now = () => performance.now(), turn = later }: PartsOptions) {
    this.#divided = divided;
    this.#held = held;
    this.#now = now;
    this.#turn = turn;
    this.#begun = now();
  }

  /** Called before each further statement. Returns a promise if the statement belongs to the next part. */
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

  /** Ends the last part. */
  end(): void {
    this.#held(this.#now() - this.#begun);
  }
}

/**
 * A timer followed by an immediate: Deno polls for I/O only after many turns scheduled by `setImmediate`
 * alone, and the immediate runs after the I/O that arrived.
 */
function later(next: () => void): void {
  setTimeout(() => setImmediate(next), 0);
}
