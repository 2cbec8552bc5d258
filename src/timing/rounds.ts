/**
 * Periodic visits of many objects: each is visited once per period, a few at a time. A timer per object would
 * cost a hundred times as much, and objects created together would be visited together, delaying other work.
 */

/**
 * Minimum interval between steps, in milliseconds. With many objects each step visits several, with few
 * objects one.
 */
const LEAST_STEP_MS = 10;
const MOST_STEP_MS = 1000;
/** After the process was suspended, at most this many steps are caught up. */
const MOST_STEPS = 2;

/** Element of a doubly linked ring: adding and removing takes constant time. */
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
  /** Where the next step starts. */
  #next: Visited = this.#ring;
  #count = 0;
  /** Number of visits due, including a fraction. */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stepped = 0;
  /** Interval of the next step, since {@link #stepped}. */
  #stepMs = 0;
  #stepping = false;

  private constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** The shared instance of this process for a period. */
  static every(periodMs: number): Rounds {
    let rounds = ALL.get(periodMs);
    if (rounds === undefined) ALL.set(periodMs, rounds = new Rounds(periodMs));
    return rounds;
  }

  /** Adds an entry; it is visited after all present ones. */
  add(entry: Visited): void {
    entry.before = this.#next.before;
    entry.after = this.#next;
    entry.before.after = entry;
    this.#next.before = entry;
    this.#count++;
    if (this.#count === 1 && !this.#stepping) this.#wait();
  }

  remove(entry: Visited): void {
    // It was already removed.
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
    // An instance without entries was removed from the map.
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
