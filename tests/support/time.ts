/**
 * Time in tests: waiting for something to become so, and clocks that move when told.
 *
 * Nothing here decides by how fast a machine is. A test that waits says for what, with {@link eventually}; one whose subject
 * is time has a {@link StoppedClock}; one that shows that something does not happen gives it {@link turns} to happen in,
 * because provider, gateway and caller of a test share one event loop.
 */
import type { Clock } from "../../src/timing/clock.ts";
import { Ticker } from "../../src/timing/ticker.ts";

/** Whatever a test waits for is there by then, in milliseconds, on the busiest machine; or it never comes. */
export const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 5;
const STOPPED_TURNS = 100;

export interface Patience {
  /** In milliseconds. */
  within?: number;
  /** What is waited for, or where things stand, for the message of the failure. */
  what?: string | (() => string);
}

/** Looks again and again until `condition` gives something true, and gives that. A condition that throws fails at once. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { within = PATIENCE_MS, what = () => condition.toString() }: Patience = {},
): Promise<T> {
  const until = performance.now() + within;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > until) throw late(within, what);
    await pause(LOOK_EVERY_MS);
  }
}

/** The end of `work`, or a failure that says where things stood. */
export async function inTime<T>(
  work: Promise<T>,
  { within = PATIENCE_MS, what = "the work's end" }: Patience = {},
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(within, what)), within);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function late(within: number, what: string | (() => string)): Error {
  return new Error(`not within ${within / 1000} s: ${typeof what === "string" ? what : what()}`);
}

/** Lets everything that is ready go on. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** So many turns of the event loop, in each of which sockets are looked at. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await pause(1);
}

/** For a step that takes a while, where any length is right. Never to wait for something: see {@link eventually}. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Timers of these lengths, in milliseconds, that do not run by themselves: the test runs those it wants to. Others run as
 * ever.
 */
export function heldTimers(...lengths: number[]) {
  const { setTimeout } = globalThis;
  const held: { ms: number; run(): void }[] = [];
  const hold = (run: () => void, ms = 0) => {
    if (!lengths.includes(ms)) return setTimeout(run, ms);
    held.push({ ms, run });
    // The number of no timer, since it may be cleared.
    return 0;
  };
  globalThis.setTimeout = hold as unknown as typeof setTimeout;
  return {
    held,
    [Symbol.dispose](): void {
      globalThis.setTimeout = setTimeout;
    },
  };
}

/** Stands still until it is moved. */
export class StoppedClock implements Clock {
  time: number;
  /** How often it was read. */
  looks = 0;

  constructor(time = 0) {
    this.time = time;
  }

  readonly now = (): number => {
    this.looks++;
    return this.time;
  };

  move(ms: number): void {
    this.time += ms;
  }

  /**
   * Moves it, and waits until a ticker that runs on it has seen that, or has stopped: one that starts looks at once. It looks
   * every 50 ms in the same event loop, so that it has stopped if it does not look during {@link STOPPED_TURNS} of 5 ms each.
   */
  async moveOn(ms: number): Promise<void> {
    this.time += ms;
    const before = this.looks;
    let turn = 0;
    // The first look may belong to a tick that had begun.
    await eventually(() => this.looks >= before + 2 || ++turn > STOPPED_TURNS, { what: "a tick" });
  }
}

/** A ticker on a clock that stands still. */
export function stoppedTicker(options: { lingers?: boolean } = {}) {
  const clock = new StoppedClock();
  const ticker = new Ticker(clock, options);
  const pass = (ms: number) => {
    clock.move(ms);
    ticker.tick();
  };
  return { clock, ticker, pass };
}

/** The time of day at noon, for rates by the minute: none of them begins anew, however long a test takes. */
export const atNoon = () => Date.UTC(2026, 9, 1, 12);

/** By so much it goes on at most between two looks at it, in milliseconds: a ticker looks every 50. */
const LONGEST_STEP_MS = 200;

/**
 * A clock that runs, except while this process gets no processor: a gateway on it is never late, and refuses nothing for
 * that, however busy the machine is.
 */
export function steadyClock(): Clock {
  let before = performance.now();
  let time = 0;
  return {
    now() {
      const now = performance.now();
      time += Math.min(LONGEST_STEP_MS, now - before);
      before = now;
      return time;
    },
  };
}
