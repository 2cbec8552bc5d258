/** Console sessions that were ended before they expired, on any node, kept until they would have expired. */
import { type EndedSession, type Store, StoreUnavailable } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";

/** Maximum duration of a session. */
export const LONGEST_SESSION_MS = 12 * 3_600_000;

export interface EndedSessionsOptions {
  store: Pick<Store, "endSession">;
  clock: Clock;
  /** A monotonic clock; absent: the process's own. */
  steady?: Clock;
}

export class EndedSessions {
  readonly #options: EndedSessionsOptions;
  /** By id: the original expiry, and when the end was learned, by the monotonic clock. */
  readonly #ended = new Map<string, { ends: number; heard: number }>();
  /** Ends not written yet, because the store was unavailable. */
  readonly #unwritten = new Map<string, EndedSession>();

  constructor(options: EndedSessionsOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Applies ends from other nodes. */
  learn(sessions: readonly EndedSession[]): void {
    const now = this.#options.clock.now();
    const heard = (this.#options.steady ?? performance).now();
    for (const { id, ends } of sessions) if (ends > now) this.#ended.set(id, { ends, heard });
    for (const [id, one] of this.#ended) {
      // Also checked by the monotonic clock: if the system clock was ahead and is set back, the cookie would
      // be valid again.
      if (one.ends <= now && heard - one.heard >= LONGEST_SESSION_MS) this.#ended.delete(id);
    }
  }

  /** Effective here immediately; other nodes learn of it through the store. */
  async add(id: string, ends: number): Promise<void> {
    const session = { id, ends: Math.round(ends) };
    this.learn([session]);
    this.#unwritten.set(id, session);
    await this.flush();
  }

  /** Writes what is waiting to the store. */
  async flush(): Promise<void> {
    const { store, clock } = this.#options;
    for (const [id, session] of this.#unwritten) {
      try {
        await store.endSession(session, Math.round(clock.now()));
      } catch (error) {
        if (error instanceof StoreUnavailable) return;
        throw error;
      }
      this.#unwritten.delete(id);
    }
  }
}
