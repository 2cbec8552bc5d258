/** Calls that wait for budget which others hold: other nodes' leases, or reservations of calls that run here. */

export class ReturnSignal {
  #waiting: (() => void)[] = [];

  /** Something was given back: whoever waits asks again. */
  notify(): void {
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }

  /** Resolves with the next {@link notify}, or after `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.push(done);
    });
  }
}
