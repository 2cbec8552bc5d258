/**
 * Work that comes in at once, begun group by group, each in turns of the event loop of its own. What a turn begins goes through
 * its steps side by side, so that all of it is done when the last of it is: of forty, each waits for forty. Between groups
 * what has arrived for the earlier ones is passed on, so that half of all is done in half of the time.
 *
 * That needs a process that looks at its sockets at least once in so many turns (`DENO_TOKIO_EVENT_INTERVAL=12`, see
 * src/memory.ts); in others a group waits for turns in which nothing happens, some 40 µs.
 */
import { setImmediate } from "node:timers";
import { FairQueue } from "./fair_queue.ts";

/** What one group has at least. A turn costs some 10 µs, a tenth of what it takes to begin a stream. */
const LEAST = 6;
/** Of many more a group has more: each is followed by turns in which all that goes on has its share. */
const MOST_GROUPS = 8;
/** Where turns are so long that many groups would take longer, in milliseconds, there are fewer: the wait has to stay short. */
const LONGEST_WAIT_MS = 25;
/** From one group to the next: in the first the journal writes what the group has begun, and its requests go out. */
const LEAST_TURNS = 2;
/** In so many a process that is started as ours has looked at its sockets. One with nothing to do takes 3 µs. */
const TURNS = 12;
/** In which that has happened, in milliseconds, where turns are long: much else goes on, and groups need not wait for it. */
const LONG_MS = 0.5;

export class Groups {
  readonly #turnEnd: (call: () => void) => void;
  readonly #now: () => number;
  readonly #waiting = new FairQueue<() => void>();
  /** How many the group under way has room for. */
  #room = 0;
  #size = LEAST;
  /** Until the next group; 0: none is under way. */
  #turns = 0;
  #began = 0;

  /** @param now in milliseconds */
  constructor(
    turnEnd: (call: () => void) => void = setImmediate,
    now: () => number = () => performance.now(),
  ) {
    this.#turnEnd = turnEnd;
    this.#now = now;
  }

  /** Null: it may begin at once; else when the promise resolves. Those that wait come in turn, and their keys take turns. */
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
