/**
 * Rounds among many: each is visited once in a period, a few at a time. A timer for each would cost a hundred times as much, and
 * those that came together would be visited together, while everybody else waits.
 */

/** Between two steps, in milliseconds: of many, some in each, of few one. */
const LEAST_STEP_MS = 10;
const MOST_STEP_MS = 1000;
/** A process that stood still does not make up for it at once. */
const MOST_STEPS = 2;

/** Element of a doubly linked ring: adding and removing one needs no search. */
export abstract class Visited {
  before: Visited = this;
  after: Visited = this;
  abstract visit(): void;
}

class Head extends Visited {
  visit(): void {}
}

const ALL = new Map<number, Rounds>();

export class Rounds {
  readonly #periodMs: number;
  readonly #ring = new Head();
  /** Where the next step begins. */
  #next: Visited = this.#ring;
  #count = 0;
  /** Visits that are due, also a part of one. */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stepped = 0;
  /** Until the next step, since {@link #stepped}. */
  #stepMs = 0;
  #stepping = false;

  private constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Those of all in this process that are visited as often. */
  static every(periodMs: number): Rounds {
    let rounds = ALL.get(periodMs);
    if (rounds === undefined) ALL.set(periodMs, rounds = new Rounds(periodMs));
    return rounds;
  }

  /** Visits it for the first time once those that were there before have been. */
  add(entry: Visited): void {
    entry.before = this.#next.before;
    entry.after = this.#next;
    entry.before.after = entry;
    this.#next.before = entry;
    this.#count++;
    if (this.#count === 1 && !this.#stepping) this.#wait();
  }

  remove(entry: Visited): void {
    // Removed before.
    if (entry.before === entry) return;
    if (this.#next === entry) this.#next = entry.after;
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    entry.before = entry.after = entry;
    if (--this.#count > 0) return;
    clearTimeout(this.#timer);
    this.#due = 0;
    ALL.delete(this.#periodMs);
  }

  #wait(): void {
    // One that was empty was forgotten.
    ALL.set(this.#periodMs, this);
    const each = this.#periodMs / this.#count;
    this.#stepMs = Math.min(Math.max(LEAST_STEP_MS, each), MOST_STEP_MS, this.#periodMs);
    this.#stepped = performance.now();
    this.#timer = setTimeout(() => this.#step(), this.#stepMs);
    Deno.unrefTimer(this.#timer);
  }

  #step(): void {
    const passed = Math.min(performance.now() - this.#stepped, MOST_STEPS * this.#stepMs);
    this.#due += this.#count * passed / this.#periodMs;
    this.#stepping = true;
    for (; this.#due >= 1 && this.#count > 0; this.#due--) {
      if (this.#next === this.#ring) this.#next = this.#ring.after;
      const entry = this.#next;
      this.#next = entry.after;
      entry.visit();
    }
    this.#stepping = false;
    if (this.#count > 0) this.#wait();
  }
}
