/**
 * Schedules long computations of several callers on the main thread: one slice every few turns of the event
 * loop; keys take turns.
 *
 * A small call needs about twenty turns. If every computation continued in every turn, a small call would
 * take as long as twenty slices of all of them together. A turn without a slice takes about ten microseconds
 * when there is nothing else to do.
 */
import { setImmediate } from "node:timers";
import { FairQueue } from "./fair_queue.ts";

/** The purpose of the work, as a metrics label. */
export type SliceCause = "parse" | "screen" | "convert";

/**
 * Text above this size in bytes, and objects made from it, are processed in separate steps, each of which may
 * take tens of milliseconds.
 */
export const LARGE = 1 << 20;

/** Runs a piece of work; for a large body in a step of its own. */
export type Step = <T>(work: () => T) => T | Promise<T>;

/** Runs sliced work without pauses. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Turns of the event loop between slices. */
export const TURNS_PER_SLICE = 4;
/**
 * Consecutive steps of one computation that together take less than this, in milliseconds, plus the following
 * step, form one slice. While work waits, its intermediate values are copied by each collection of the young
 * generation.
 */
const BRIEF_MS = 1;
/** After a slice longer than this, in milliseconds, more turns are left free, in proportion to its duration. */
const LONG_MS = 10;
const PART_FREE = 1 / 2;
const MOST_FREE_MS = 50;

/** Runs one step; true: the work is complete. */
type WorkStep = () => boolean;

interface Waiting {
  key: string;
  cause: SliceCause;
  step: WorkStep;
}

export interface SlicesOptions {
  /** Called with the time that each slice blocked the event loop, in milliseconds. */
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
  /** The next slice has been scheduled. */
  #due = false;

  constructor(
    { held = () => {}, turn = setImmediate, now = () => performance.now() }: SlicesOptions = {},
  ) {
    this.#held = held;
    this.#now = now;
    this.#turn = turn;
  }

  /** @param work yields every few milliseconds */
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

  /** Runs indivisible work as one slice. */
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

  /** Waits for a turn as if a slice had been run; the work of the caller itself is not measured. */
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

  /** Runs the next slice after this many turns. */
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
    // Also if nothing is waiting: the next step of the same computation may be requested shortly.
    if (ms > LONG_MS) {
      this.#due = true;
      setTimeout(() => this.#next(), Math.min(ms * PART_FREE, MOST_FREE_MS));
    } else if (this.#waiting.length > 0) this.#wait(TURNS_PER_SLICE);
  }
}
