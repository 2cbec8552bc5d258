/**
 * Starts work that arrives at the same time in groups, each in its own turns of the event loop. Work started
 * in the same turn proceeds concurrently, so all of it completes only when the last one does: of forty, each
 * waits for forty. Between groups the results of earlier ones are delivered, so half of the work is done in
 * half of the time.
 *
 * This requires a process that polls its sockets at least once in a number of turns
 * (`DENO_TOKIO_EVENT_INTERVAL=12`, see src/memory.ts). In other processes a group waits for turns without
 * activity, which takes about 40 µs.
 */
import { setImmediate } from "node:timers";
import { FairQueue } from "./fair_queue.ts";

/** Minimum size of a group. A turn costs about 10 µs, a tenth of starting a stream. */
const LEAST = 6;
/**
 * With many waiting, groups are larger, so that there are at most this many. Each group is followed by turns
 * for other work.
 */
const MOST_GROUPS = 8;
/** If turns are so long that many groups would exceed this time, in milliseconds, there are fewer groups. */
const LONGEST_WAIT_MS = 25;
/**
 * Minimum number of turns between groups: in the first one the journal writes the starts of the group, and
 * its requests are sent.
 */
const LEAST_TURNS = 2;
/**
 * Number of turns after which a process started as described above has polled its sockets. An empty turn
 * takes 3 µs.
 */
const TURNS = 12;
/** If turns are long, polling has happened after this time, in milliseconds; groups need not wait for it. */
const LONG_MS = 0.5;

export class Groups {
  readonly #turnEnd: (call: () => void) => void;
  readonly #now: () => number;
  readonly #waiting = new FairQueue<() => void>();
  /** Remaining places in the current group. */
  #room = 0;
  #size = LEAST;
  /** Turns until the next group; 0: no group is in progress. */
  #turns = 0;
  #began = 0;

  /** @param now clock in milliseconds */
  constructor(
    turnEnd: (call: () => void) => void = setImmediate,
    now: () => number = () => performance.now(),
  ) {
    this.#turnEnd = turnEnd;
    this.#now = now;
  }

  /** Null: the work may start at once; else when the promise resolves. Keys take turns in the queue. */
  enter(key: string): Promise<void> | null {
    if (this.#turns === 0) this.#open(LEAST);
    if (this.#room > 0) {
      this.#room--;
      return null;
    }
    return new Promise((resolve) => {
      this.#waiting.push(key, resolve);
      this.#size = Math.max(this.#size, Math.ceil(this.#waiting.length / MOST_GROUPS));
    });
  }

  #open(size: number): void {
    this.#size = size;
    this.#room = size;
    this.#turns = TURNS;
    this.#began = this.#now();
    this.#turnEnd(this.#turn);
  }

  readonly #turn = (): void => {
    this.#turns--;
    const passed = TURNS - this.#turns;
    const took = this.#now() - this.#began;
    if (this.#turns > 0 && !(passed >= LEAST_TURNS && took >= LONG_MS)) return this.#turnEnd(this.#turn);
    this.#turns = 0;
    const waiting = this.#waiting;
    const { length } = waiting;
    if (length === 0) return;
    const groups = Math.max(1, Math.floor(LONGEST_WAIT_MS / took));
    const size = groups < MOST_GROUPS ? Math.max(this.#size, Math.ceil(length / groups)) : this.#size;
    this.#open(size);
    this.#room = Math.max(0, size - length);
    for (let left = Math.min(size, length); left > 0; left--) waiting.shift()();
  };
}
