/**
 * A bound on how long something may take, in time in which this process ran.
 *
 * A process that stood still, because others had its processor or because it collected garbage, has not looked at what came
 * meanwhile: a timer's time would be over, and what was waited for there. So the time is divided into steps, and what has
 * come is looked at between two of them.
 */
const STEPS = 10;
/** So often what has come is looked at, however late each step is: a process that is late at all of them must not wait on and on. */
const LOOKS = 3;

/** What is left of a wait. A late look at the clock counts for a part of the wait at most. */
export class Patience {
  readonly #most: number;
  #left: number;
  #looked: number;

  /** @param ms of the whole wait. @param now on the clock of `performance` */
  constructor(ms: number, now = performance.now()) {
    this.#most = ms / LOOKS;
    this.#left = ms;
    this.#looked = now;
  }

  /** Looks at the clock. Gives the milliseconds that are left, which may be below zero. */
  left(now = performance.now()): number {
    this.#left -= Math.min(now - this.#looked, this.#most);
    this.#looked = now;
    return this.#left;
  }
}

/** The work's own end, or a rejection with `late()` when that takes longer than so many milliseconds. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    const patience = new Patience(ms);
    const wait = (left: number) => timer = setTimeout(step, Math.min(left, ms / STEPS));
    const step = () => {
      const left = patience.left();
      // Timers are as exact as that.
      if (left < 1) reject(late());
      else wait(left);
    };
    wait(ms);
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
