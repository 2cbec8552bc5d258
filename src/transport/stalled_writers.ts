/**
 * Finds connections whose clients receive nothing of their answers. They are looked for only while the server is full: in the
 * ordinary case a written piece of an answer must cost nothing more.
 */
import type { Clock } from "../timing/clock.ts";
import type { Hosted } from "./host.ts";

/** How long a client may receive nothing, in milliseconds, before it has to make place for another one. */
export const STALLED_MS = 500;
/** Minimum time between two looks at all connections, in milliseconds: there may be thousands of them. */
const LOOK_MS = 50;

type Writer = Pick<Hosted, "phase" | "steps">;

export class StalledWriters<T extends Writer = Hosted> {
  readonly #clock: Clock;
  /** Connections that were seen while they waited for their clients, in the order of `since`. */
  readonly #seen = new Map<T, { steps: number; since: number }>();
  #lookedAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The connection that has waited longest for its client; null: none has waited for {@link STALLED_MS}. */
  longest(open: Iterable<T>): T | null {
    const now = this.#clock.now();
    if (now - this.#lookedAt >= LOOK_MS) this.#look(open, now);
    for (const [connection, { steps, since }] of this.#seen) {
      if (now - since < STALLED_MS) return null;
      this.#seen.delete(connection);
      if (connection.phase === "writing" && connection.steps === steps) return connection;
    }
    return null;
  }

  forget(connection: T): void {
    if (this.#seen.size > 0) this.#seen.delete(connection);
  }

  #look(open: Iterable<T>, now: number): void {
    this.#lookedAt = now;
    for (const connection of open) {
      if (connection.phase !== "writing") {
        this.#seen.delete(connection);
        continue;
      }
      const { steps } = connection;
      if (this.#seen.get(connection)?.steps === steps) continue;
      this.#seen.delete(connection);
      this.#seen.set(connection, { steps, since: now });
    }
  }
}
