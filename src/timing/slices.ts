/**
 * Long work of many callers on the one thread, done in slices: one slice in several turns of the event loop, the keys in
 * turn.
 *
 * A small call needs some twenty turns. Were each work to go on in every turn, it would take as long as twenty slices of
 * all of them together. A turn without a slice takes some ten microseconds when nothing else is to be done.
 */
import { setImmediate } from "node:timers";
import { FairQueue } from "./fair_queue.ts";

/** What work is done for. */
export type SliceCause = "parse" | "screen" | "convert";

/** Text longer than this, or an object made of it, is worked on in steps of their own, which may take tens of milliseconds. */
export const LARGE = 1 << 20;

/** Does a piece of work, of a large body in a step of its own. */
export type Step = <T>(work: () => T) => T | Promise<T>;

/** Does what could be done in slices without a pause. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Turns of the event loop from one slice to the next. */
export const TURNS_PER_SLICE = 4;
/**
 * Steps of one work that together take less time than this, in milliseconds, and the one behind them, are one slice. While work waits
 * for its turn its values are kept beside those of others, and each collection of the young generation copies them.
 */
const BRIEF_MS = 1;
/** Behind a slice that took longer than this, in milliseconds, come more turns: a part of the time that it took. */
const LONG_MS = 10;
const PART_FREE = 1 / 2;
const MOST_FREE_MS = 50;

/** Does one step; true: there is nothing left to do. */
type WorkStep = () => boolean;

interface Waiting {
  key: string;
  cause: SliceCause;
  step: WorkStep;
}

export interface SlicesOptions {
  /** Told how long each slice held the event loop, in milliseconds. */
  held?(cause: SliceCause, ms: number): void;
  /** For tests. */
  turn?(next: () => void): void;
  now?(): number;
}

export class Slices {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #held: (cause: SliceCause, ms: number) => void;
  readonly #now: () => number;
  readonly #turn: (next: () => void) => void;
  /** The next slice is on its way. */
  #due = false;

  constructor(
    { held = () => {}, turn = setImmediate, now = () => performance.now() }: SlicesOptions = {},
  ) {
    this.#held = held;
    this.#now = now;
    this.#turn = turn;
  }

  /** @param work hands control back every couple of milliseconds */
  run<T>(key: string, work: Generator<void, T>, cause: SliceCause = "screen"): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add(key, cause, () => {
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

  /** Does work that cannot be divided as a slice of its own. */
  step<T>(key: string, cause: SliceCause, work: () => T): Promise<T> {
    return this.run(
      key,
      // deno-lint-ignore require-yield
      function* () {
        return work();
      }(),
      cause,
    );
  }

  /** Waits for a turn: what is done then, or was done before, is not counted, so that it waits as if a slice had been done. */
  pause(key: string): Promise<void> {
    return new Promise((resolve) => {
      const step = () => {
        resolve();
        return true;
      };
      this.#add(key, "convert", step, TURNS_PER_SLICE);
    });
  }

  #add(key: string, cause: SliceCause, step: WorkStep, turns = 1): void {
    this.#waiting.push(key, { key, cause, step });
    if (!this.#due) this.#wait(turns);
  }

  /** Does the next slice that many turns from now. */
  #wait(turns: number): void {
    this.#due = true;
    this.#turn(() => turns > 1 ? this.#wait(turns - 1) : this.#next());
  }

  #next(): void {
    this.#due = false;
    if (this.#waiting.length === 0) return;
    const begun = this.#now();
    const waiting = this.#waiting.shift();
    let over: boolean;
    let ms: number;
    do {
      over = waiting.step();
      ms = this.#now() - begun;
    } while (!over && ms < BRIEF_MS);
    if (!over) this.#waiting.push(waiting.key, waiting);
    this.#held(waiting.cause, ms);
    // Also when nothing waits now: the next step of the same work is asked for a moment later.
    if (ms > LONG_MS) {
      this.#due = true;
      setTimeout(() => this.#next(), Math.min(ms * PART_FREE, MOST_FREE_MS));
    } else if (this.#waiting.length > 0) this.#wait(TURNS_PER_SLICE);
  }
}
