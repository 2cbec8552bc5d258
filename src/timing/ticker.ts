/**
 * Many deadlines on one timer. A timer per call, plus an AbortSignal.timeout, costs more than all other
 * bookkeeping; a deadline here is a number that is compared with the clock a few times per second. How late
 * those comparisons run shows how busy the process is.
 */
import type { Clock } from "./clock.ts";

/** Calls back after it has passed. */
export interface Deadline {
  /** Sets it to this many milliseconds from now; replaces an earlier setting. */
  arm(ms: number): void;
  disarm(): void;
  /** Removes it. Must be called, otherwise the ticker's timer never stops. */
  close(): void;
}

/** Accuracy of deadlines, in milliseconds. */
const INTERVAL_MS = 50;
/** Ticks between checks of coarse deadlines. */
const COARSE_TICKS = 20;
/** Ticks without a deadline after which a lingering ticker stops its timer: restarting costs a call about 50 µs. */
const IDLE_TICKS = 20;
/** Number of consecutive late ticks before the process counts as late: a single long pause is not overload. */
const LATE_TICKS = 3;
/**
 * A tick this late, in milliseconds, means that the process was suspended, and has not read what arrived
 * meanwhile.
 */
const STOOD_STILL_MS = 250;

/** Element of a doubly linked ring: adding and removing takes constant time. */
class Entry implements Deadline {
  due = Infinity;
  before: Entry = this;
  after: Entry = this;
  readonly #ticker: Ticker;
  readonly expired: () => void;

  constructor(ticker: Ticker, expired: () => void) {
    this.#ticker = ticker;
    this.expired = expired;
  }

  arm(ms: number): void {
    this.due = this.#ticker.lately + ms;
  }

  disarm(): void {
    this.due = Infinity;
  }

  close(): void {
    this.#ticker.remove(this);
  }
}

export class Ticker {
  /** Heads of the rings; never armed. */
  readonly #ring = new Entry(this, () => {});
  readonly #coarse = new Entry(this, () => {});
  /** The entry that the current tick compares next. */
  #next: Entry = this.#ring;
  readonly #clock: Clock;
  /** The timer continues for a while when there is no deadline left. */
  #lingers: boolean;
  #timer: ReturnType<typeof setInterval> | undefined;
  #idleTicks = 0;

  /**
   * The time of the last tick: reading the clock for every read of a stream would cost more than the rest of
   * arming.
   */
  lately: number;

  /** Lateness of the last ticks in milliseconds, a measure of the event loop delay. */
  readonly #lateness: number[] = new Array(LATE_TICKS).fill(0);
  #ticks = 0;
  #looks = 0;
  /** The last tick was late and skipped the checks. */
  #waited = false;

  /** @param lingers if true, the ticker must be closed */
  constructor(clock: Clock = performance, { lingers = false } = {}) {
    this.#clock = clock;
    this.#lingers = lingers;
    this.lately = clock.now();
  }

  now(): number {
    return this.#clock.now();
  }

  /** The time as of the last tick: cheaper than reading the clock. */
  recently(): number {
    if (this.#timer === undefined) this.lately = this.#clock.now();
    return this.lately;
  }

  /** The smallest lateness of the last ticks, in milliseconds; 0 while there is no deadline. */
  get lag(): number {
    return Math.max(0, Math.min(...this.#lateness));
  }

  /** Number of deadlines, counted on demand. */
  get watched(): number {
    let count = 0;
    for (const ring of [this.#ring, this.#coarse]) {
      for (let entry = ring.after; entry !== ring; entry = entry.after) count++;
    }
    return count;
  }

  /** Creates a deadline, not armed yet. */
  deadline(expired: () => void): Deadline {
    return this.#add(expired, this.#ring);
  }

  /** Creates a deadline that may be a second late, for use in large numbers. */
  coarse(expired: () => void): Deadline {
    return this.#add(expired, this.#coarse);
  }

  #add(expired: () => void, ring: Entry): Deadline {
    const entry = new Entry(this, expired);
    const last = ring.before;
    entry.before = last;
    entry.after = ring;
    last.after = entry;
    ring.before = entry;
    if (this.#timer === undefined) {
      this.lately = this.#clock.now();
      this.#timer = setInterval(() => this.#timed(), INTERVAL_MS);
    }
    return entry;
  }

  remove(deadline: Deadline): void {
    const entry = deadline as Entry;
    // It was already closed.
    if (entry.before === entry) return;
    if (this.#next === entry) this.#next = entry.after;
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    // Links are reset: a dead entry in V8's old generation would otherwise keep all later entries alive.
    entry.before = entry.after = entry;
    entry.due = Infinity;
    if (!this.#isEmpty) return;
    // The timer may stop here; a stale lateness must not refuse calls.
    this.#lateness.fill(0);
    if (!this.#lingers) this.#stop();
  }

  /** From here on the timer stops as soon as there is no deadline. */
  close(): void {
    this.#lingers = false;
    if (this.#isEmpty) this.#stop();
  }

  get #isEmpty(): boolean {
    return this.#ring.after === this.#ring && this.#coarse.after === this.#coarse;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#idleTicks = 0;
  }

  /**
   * After a suspension, input that has arrived may disarm deadlines, so it is processed before they are
   * checked.
   */
  #timed(): void {
    this.#waited = !this.#waited && this.#clock.now() - this.lately - INTERVAL_MS > STOOD_STILL_MS;
    this.tick(!this.#waited);
  }

  /** Calls back expired deadlines. Called by the timer, or by a test with its own clock. */
  tick(looks = true): void {
    const now = this.#clock.now();
    this.#lateness[this.#ticks++ % LATE_TICKS] = now - this.lately - INTERVAL_MS;
    this.lately = now;
    this.#idleTicks = this.#isEmpty ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks >= IDLE_TICKS) this.#stop();
    if (!looks) return;
    this.#look(this.#ring, now);
    if (++this.#looks % COARSE_TICKS === 0) this.#look(this.#coarse, now);
  }

  #look(ring: Entry, now: number): void {
    this.#next = ring.after;
    while (this.#next !== ring) {
      const entry = this.#next;
      this.#next = entry.after;
      if (entry.due <= now) {
        entry.due = Infinity;
        entry.expired();
      }
    }
  }
}
