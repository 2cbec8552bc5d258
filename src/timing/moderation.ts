/**
 * Streams of a busy process, served together, in ticks: one that has been served is read again in the next tick, by when more has come
 * for it, and what comes for others between two ticks waits for the next. A read and a write cost several times what a further frame in
 * them does, and where many writes follow one another those who read them are woken once.
 *
 * Only while the process has no time to spare: there a frame would wait in line as well. It waits for one tick, and for two where it
 * comes behind others that wait.
 */
import { setImmediate } from "node:timers";

/** From one tick to the next, in milliseconds. */
const TICK_MS = 10;
/** Served in one turn of the event loop. */
const MOST_A_TURN = 128;
/** The share of a core that a busy process uses, and that one goes on using which has become busy: it needs less then. */
const BUSY = 0.7;
const STILL_BUSY = 0.4;
/** The process gets to things so much later, in milliseconds, because others have its core. */
const LATE_MS = 10;
/** It is looked at that once in so many milliseconds, or later where few bytes come. */
const LOOK_MS = 100;
/** Reads before the clock is asked whether that time has passed. */
const READS = 64;
/** Turns of the event loop until what is read in a tick is there, as far as it had come. */
const TURNS = 2;

/** By how much a process is late, in milliseconds. */
export interface Lateness {
  readonly lag: number;
}

/** Null: go on at once; else when the promise resolves, which it always does. */
export type Go = Promise<void> | null;

/** What a stream asks. */
export interface Moderates {
  /** It has been served: may it be read again? */
  again(lateness: Lateness): Go;
  /** Bytes have come: may they be passed on? */
  pass(): Go;
}

export interface ModerationOptions {
  /** In milliseconds. */
  now?(): number;
  /** Processor time that the process has used, in milliseconds. */
  used?(): number;
  later?(call: () => void, ms: number): void;
  /** Calls back in the next turn of the event loop. */
  turnEnd?(call: () => void): void;
}

export class Moderation implements Moderates {
  readonly #now: () => number;
  readonly #used: () => number;
  readonly #later: (call: () => void, ms: number) => void;
  readonly #turnEnd: (call: () => void) => void;
  #waiting: (() => void)[] = [];
  /** Those of the tick under way, and how many of them have been served. */
  #due: (() => void)[] = [];
  #served = 0;
  /** Turns that the tick under way still takes; 0: there is none. */
  #turns = 0;
  #busy = false;
  #reads = 0;
  #lookedAt: number;
  #usedThen: number;
  #lateness: Lateness = { lag: 0 };

  constructor(
    { now = () => performance.now(), used = processorMs, later = setTimeout, turnEnd = setImmediate }:
      ModerationOptions = {},
  ) {
    this.#now = now;
    this.#used = used;
    this.#later = later;
    this.#turnEnd = turnEnd;
    this.#lookedAt = now();
    this.#usedThen = used();
  }

  again(lateness: Lateness): Go {
    if (!this.#busy) {
      if (++this.#reads < READS) return null;
      this.#reads = 0;
      this.#lateness = lateness;
      this.#look();
      if (!this.#busy) return null;
    }
    return this.#wait();
  }

  pass(): Go {
    return this.#busy && this.#turns === 0 ? this.#wait() : null;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#later(this.#tick, TICK_MS);
    });
  }

  #look(): void {
    const now = this.#now();
    const passed = now - this.#lookedAt;
    if (passed < LOOK_MS) return;
    const used = this.#used();
    const share = (used - this.#usedThen) / passed;
    this.#busy = share >= (this.#busy ? STILL_BUSY : BUSY) || this.#lateness.lag >= LATE_MS;
    this.#lookedAt = now;
    this.#usedThen = used;
  }

  readonly #tick = (): void => {
    this.#look();
    // A tick that takes longer than the time between two goes on with those of the next.
    if (this.#turns === 0) this.#turnEnd(this.#turn);
    this.#turns = TURNS;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#served < this.#due.length) { for (const go of waiting) this.#due.push(go); }
    else {
      this.#due = waiting;
      this.#served = 0;
    }
    this.#serve();
  };

  #serve(): void {
    const end = Math.min(this.#due.length, this.#served + MOST_A_TURN);
    while (this.#served < end) this.#due[this.#served++]();
  }

  readonly #turn = (): void => {
    if (this.#served < this.#due.length) this.#serve();
    else this.#turns--;
    if (this.#turns > 0) return this.#turnEnd(this.#turn);
    this.#due = [];
    this.#served = 0;
  };
}

/** Deno has it without a declaration; that of `node:process` is the same, and takes a module of its own. */
const { cpuUsage } = Deno as unknown as { cpuUsage?(): { user: number; system: number } };

/** Where it is not known, only lateness tells that the process is busy. */
function processorMs(): number {
  if (cpuUsage === undefined) return 0;
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
