/**
 * Many deadlines on one timer. A timer of its own for each call, and an AbortSignal.timeout on top, cost more than the
 * rest of the bookkeeping together; a deadline here is one number, looked at a few times a second. How late those looks
 * come tells how busy the process is.
 */

export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
}

/** Something that is called once its deadline has passed. */
export interface Watch {
  /** Sets the deadline, this many milliseconds from now, in place of any before. */
  arm(ms: number): void;
  disarm(): void;
  /** Forgets it. Must be called, or the ticker never rests. */
  close(): void;
}

/** How far a deadline may be off, in milliseconds. */
const INTERVAL_MS = 50;
/** How many looks in a row find nothing before a ticker that lingers rests: making a timer anew costs a call some 50 µs. */
const IDLE_TICKS = 20;
/** Ticks that must all have been late before the process counts as late: one long pause is no overload. */
const LATE_TICKS = 3;

/** One of a ring, which takes and gives one up without looking for it. */
class Entry implements Watch {
  deadline = Infinity;
  before: Entry = this;
  after: Entry = this;
  readonly #ticker: Ticker;
  readonly expired: () => void;

  constructor(ticker: Ticker, expired: () => void) {
    this.#ticker = ticker;
    this.expired = expired;
  }

  arm(ms: number): void {
    this.deadline = this.#ticker.lately + ms;
  }

  disarm(): void {
    this.deadline = Infinity;
  }

  close(): void {
    this.#ticker.forget(this);
  }
}

export class Ticker {
  /** Begins and ends the ring; itself it watches nothing. */
  readonly #ring = new Entry(this, () => {});
  /** Where a tick has got to. */
  #next: Entry = this.#ring;
  readonly #clock: Clock;
  /** Goes on looking for a while when there is nothing to watch. */
  #lingers: boolean;
  #timer: ReturnType<typeof setInterval> | undefined;
  #idleTicks = 0;

  /** The time at the last tick: asking the clock at every read of a stream would cost more than the rest of arming. */
  lately: number;

  /** By how much the last ticks were late, in milliseconds: how long this process now takes to get to anything. */
  readonly #lateness: number[] = new Array(LATE_TICKS).fill(0);
  #ticks = 0;

  /** @param lingers a ticker that does must be closed */
  constructor(clock: Clock = performance, { lingers = false } = {}) {
    this.#clock = clock;
    this.#lingers = lingers;
    this.lately = clock.now();
  }

  now(): number {
    return this.#clock.now();
  }

  /** The least lateness of the last ticks, in milliseconds. While nothing is watched nothing is late. */
  get lag(): number {
    return Math.max(0, Math.min(...this.#lateness));
  }

  watch(expired: () => void): Watch {
    const entry = new Entry(this, expired);
    const last = this.#ring.before;
    entry.before = last;
    entry.after = this.#ring;
    last.after = entry;
    this.#ring.before = entry;
    if (this.#timer === undefined) {
      this.lately = this.#clock.now();
      this.#timer = setInterval(() => this.tick(), INTERVAL_MS);
    }
    return entry;
  }

  forget(watch: Watch): void {
    const entry = watch as Entry;
    // Closed before.
    if (entry.before === entry) return;
    if (this.#next === entry) this.#next = entry.after;
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    // It must not lead to others any more: garbage in the old generation would keep all that came after it.
    entry.before = entry.after = entry;
    entry.deadline = Infinity;
    if (this.#ring.after !== this.#ring) return;
    // Nobody looks any more: what was late last must not keep new calls out for good.
    this.#lateness.fill(0);
    if (!this.#lingers) this.#rest();
  }

  /** From now on it rests as soon as there is nothing to watch. */
  close(): void {
    this.#lingers = false;
    if (this.#ring.after === this.#ring) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#idleTicks = 0;
  }

  /** Calls what is due. The timer does this; a test with a clock of its own may. */
  tick(): void {
    const now = this.#clock.now();
    this.#lateness[this.#ticks++ % LATE_TICKS] = now - this.lately - INTERVAL_MS;
    this.lately = now;
    this.#next = this.#ring.after;
    this.#idleTicks = this.#next === this.#ring ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks >= IDLE_TICKS) this.#rest();
    while (this.#next !== this.#ring) {
      const entry = this.#next;
      this.#next = entry.after;
      if (entry.deadline <= now) {
        entry.deadline = Infinity;
        entry.expired();
      }
    }
  }
}
