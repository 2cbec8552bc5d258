/** Sessions of the console that were ended before their time, until they would have ended anyhow. */

export class EndedSessions {
  /** By id, with the time after which the session has ended anyhow. */
  readonly #until = new Map<string, number>();

  has(id: string): boolean {
    return this.#until.has(id);
  }

  add(id: string, until: number): Promise<void> {
    this.#until.set(id, until);
    return Promise.resolve();
  }
}
