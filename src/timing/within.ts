/**
 * A timeout that counts only time in which this process ran.
 *
 * A process that was suspended, because others used its processor or because of garbage collection, has not
 * processed what arrived meanwhile: a plain timer would expire although the awaited event is there. So the
 * time is divided into steps, and events are processed between them.
 */
const STEPS = 10;
/** Maximum number of late steps: a process in which all steps are late must not wait indefinitely. */
const LOOKS = 3;

/** The remaining time of a wait. A late check of the clock counts for a fraction of the wait at most. */
export class Patience {
  readonly #most: number;
  #left: number;
  #looked: number;

  /**
   * @param ms the whole wait
   * @param now clock of `performance`
   */
  constructor(ms: number, now = performance.now()) {
    this.#most = ms / LOOKS;
    this.#left = ms;
    this.#looked = now;
  }

  /** Reads the clock. Returns the remaining milliseconds, possibly negative. */
  left(now = performance.now()): number {
    this.#left -= Math.min(now - this.#looked, this.#most);
    this.#looked = now;
    return this.#left;
  }
}

/** A timer that expires after this many milliseconds in which the process ran. */
export class PatientTimer {
  readonly #over: () => void;
  readonly #stepMs: number;
  readonly #patience: Patience;
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, over: () => void) {
    this.#over = over;
    this.#stepMs = ms / STEPS;
    this.#patience = new Patience(ms);
    this.#timer = setTimeout(this.#step, this.#stepMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  readonly #step = () => {
    const left = this.#patience.left();
    // Timers are not more accurate than that.
    if (left < 1) this.#over();
    else this.#timer = setTimeout(this.#step, Math.min(left, this.#stepMs));
  };
}

/** Settles as the work does, or rejects with `late()` after this many milliseconds. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: PatientTimer | undefined;
  const over = new Promise<never>((_, reject) => timer = new PatientTimer(ms, () => reject(late())));
  work.catch(() => {});
  try {
    return await Promise.race([work, over]);
  } finally {
    timer?.clear();
  }
}
