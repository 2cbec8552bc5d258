/** Generations under way, also those whose caller has left. */
export class InFlight {
  count = 0;
  /** All that have ever been admitted. */
  entered = 0;
  /** What their requests' bodies took on the wire; in memory it is several times as much. */
  bytes = 0;
  #idle: (() => void)[] = [];

  enter(bytes: number): void {
    this.count++;
    this.entered++;
    this.bytes += bytes;
  }

  /** A call that goes on holds so many bytes less. */
  release(bytes: number): void {
    this.bytes -= bytes;
  }

  /** @param bytes what the call still holds */
  leave(bytes: number): void {
    this.count--;
    this.bytes -= bytes;
    if (this.count === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}
