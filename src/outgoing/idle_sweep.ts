/**
 * Closes connections to providers that have been idle for too long, also those of a server that is not called again: with one timer for
 * all pools, which runs while any of them has an idle connection.
 */

/** How much longer than its idle timeout a connection may stay open, in milliseconds. */
const INTERVAL_MS = 5000;

export interface SweptPool {
  /** Closes the connections that have been idle for too long. False: there are no others to watch. */
  closeOld(): boolean;
}

export class IdleSweep {
  readonly #pools = new Set<SweptPool>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Watches a pool until its `closeOld` returns false. */
  watch(pool: SweptPool): void {
    this.#pools.add(pool);
    if (this.#timer !== undefined) return;
    const timer = this.#timer = setInterval(() => this.sweep(), INTERVAL_MS);
    // Idle connections do not keep the process alive.
    Deno.unrefTimer(timer);
  }

  /** Called by the timer. */
  sweep(): void {
    for (const pool of this.#pools) if (!pool.closeOld()) this.#pools.delete(pool);
    if (this.#pools.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** That of all pools of the process. */
export const idleSweep = new IdleSweep();
