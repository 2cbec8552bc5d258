/**
 * Long work of many callers on the one thread, done in slices: one slice a turn of the event loop, the keys in turn.
 *
 * Were each work to go on in every turn, a turn would take as long as the slices of all of them together, and a small
 * call needs some twenty turns.
 */
import { setImmediate } from "node:timers";
import { FairQueue } from "./fair_queue.ts";

/** Does one slice; true: there is nothing left to do. */
type Slice = () => boolean;

interface Waiting {
  key: string;
  slice: Slice;
}

export interface SlicesOptions {
  /** Told how long each slice held the event loop, in milliseconds. */
  held?(ms: number): void;
  /** For tests. */
  turn?(next: () => void): void;
}

export class Slices {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #held: (ms: number) => void;
  readonly #turn: (next: () => void) => void;

  constructor({ held = () => {}, turn = setImmediate }: SlicesOptions = {}) {
    this.#held = held;
    this.#turn = turn;
  }

  /** @param work hands control back every couple of milliseconds */
  run<T>(key: string, work: Generator<void, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add(key, () => {
        try {
          const step = work.next();
          if (step.done) resolve(step.value);
          return step.done === true;
        } catch (thrown) {
          reject(thrown);
          return true;
        }
      });
    });
  }

  #add(key: string, slice: Slice): void {
    const idle = this.#waiting.length === 0;
    this.#waiting.push(key, { key, slice });
    if (idle) this.#turn(() => this.#next());
  }

  #next(): void {
    const begun = performance.now();
    const waiting = this.#waiting.shift();
    if (!waiting.slice()) this.#waiting.push(waiting.key, waiting);
    this.#held(performance.now() - begun);
    if (this.#waiting.length > 0) this.#turn(() => this.#next());
  }
}
