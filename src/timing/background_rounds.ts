/**
 * Background work in rounds with pauses between them. Stopping ends a pause at once, and waits for the
 * current round.
 */
export class BackgroundRounds {
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  /** Ends a pause. */
  #wake = () => {};

  get stopped(): boolean {
    return this.#stopped;
  }

  /** @param round does one round of work and returns the pause after it in milliseconds */
  start(round: () => Promise<number>): void {
    this.#running = this.#rounds(round);
  }

  /** Resolves when the current round has ended. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    return this.#running;
  }

  /** Also ends when this is stopped. */
  pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #rounds(round: () => Promise<number>): Promise<void> {
    while (!this.#stopped) await this.pause(await round());
  }
}
