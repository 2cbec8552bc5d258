/**
 * Many deadlines on one timer. A timer for each call, and an AbortSignal.timeout besides, cost more than the rest of the
 * bookkeeping together; a deadline here is one number, compared with the clock a few times a second. How late those
 * comparisons run tells how busy the process is.
 */
import type { Clock } from "./clock.ts";

/** Calls back once it has passed. */
export interface Deadline {
  /** Sets it to this many milliseconds from now, in place of any earlier setting. */
  arm(ms: number): void;
  disarm(): void;
  /** Removes it. Must be called, or the ticker's timer never stops. */
  close(): void;
}

/** How far a deadline may be off, in milliseconds. */
const INTERVAL_MS = 50;
/** Ticks between two looks at deadlines that need not be kept so exactly. */
const COARSE_TICKS = 20;
/** Ticks without any deadline after which a lingering ticker stops its timer: starting one costs a call some 50 µs. */
const IDLE_TICKS = 20;
/** Ticks that must all have been late before the process counts as late: one long pause is no overload. */
const LATE_TICKS = 3;
/** A tick so late, in milliseconds: the process stood still, and has not read yet what came meanwhile. */
const STOOD_STILL_MS = 250;

/** Element of a doubly linked ring: adding and removing one needs no search. */
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
  /** The entry that the running tick compares next. */
  #next: Entry = this.#ring;
  readonly #clock: Clock;
  /** The timer goes on for a while when there is no deadline left. */
  #lingers: boolean;
  #timer: ReturnType<typeof setInterval> | undefined;
  #idleTicks = 0;

  /** The time at the last tick: asking the clock at every read of a stream would cost more than the rest of arming. */
  lately: number;

  /** By how much the last ticks were late, in milliseconds: how long this process now takes to get to anything. */
  readonly #lateness: number[] = new Array(LATE_TICKS).fill(0);
  #ticks = 0;
  #looks = 0;
  /** The last tick was late, and looked at nothing. */
  #waited = false;

  /** @param lingers a ticker that does must be closed */
  constructor(clock: Clock = performance, { lingers = false } = {}) {
    this.#clock = clock;
    this.#lingers = lingers;
    this.lately = clock.now();
  }

  now(): number {
    return this.#clock.now();
  }

  /** The time, at most a tick old: to ask the clock costs more than most that is done with its answer. */
  recently(): number {
    if (this.#timer === undefined) this.lately = this.#clock.now();
    return this.lately;
  }

  /** The least lateness of the last ticks, in milliseconds; 0 while there is no deadline. */
  get lag(): number {
    return Math.max(0, Math.min(...this.#lateness));
  }

  /** How many deadlines there are. Counted when asked. */
  get watched(): number {
    let count = 0;
    for (const ring of [this.#ring, this.#coarse]) {
      for (let entry = ring.after; entry !== ring; entry = entry.after) count++;
    }
    return count;
  }

  /** A deadline that is not armed yet. */
  deadline(expired: () => void): Deadline {
    return this.#add(expired, this.#ring);
  }

  /** One that may come a second late: of those there may be many thousands. */
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
    // Closed before.
    if (entry.before === entry) return;
    if (this.#next === entry) this.#next = entry.after;
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    // It must not point at others any more: garbage in the old generation would keep every later entry alive.
    entry.before = entry.after = entry;
    entry.due = Infinity;
    if (!this.#isEmpty) return;
    // The timer may stop here: a lateness that is measured no more must not refuse calls for ever.
    this.#lateness.fill(0);
    if (!this.#lingers) this.#stop();
  }

  /** From now on the timer stops as soon as there is no deadline. */
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

  /** What has come while the process stood still may disarm deadlines: it is read before they are looked at. */
  #timed(): void {
    this.#waited = !this.#waited && this.#clock.now() - this.lately - INTERVAL_MS > STOOD_STILL_MS;
    this.tick(!this.#waited);
  }

  /** Calls what is due. The timer does this; a test with its own clock may. */
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
