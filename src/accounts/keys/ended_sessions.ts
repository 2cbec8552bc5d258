/** Sessions of the console that were ended before their time, on any node, until they would have ended anyhow. */
import { type EndedSession, type Store, StoreUnavailable } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";

/** A session ends so long after it began, whatever happens. */
export const LONGEST_SESSION_MS = 12 * 3_600_000;

export interface EndedSessionsOptions {
  store: Pick<Store, "endSession">;
  clock: Clock;
  /** One that nobody sets; absent: the process's own. */
  steady?: Clock;
}

export class EndedSessions {
  readonly #options: EndedSessionsOptions;
  /** When they would have ended anyhow, and when that was heard by a clock that nobody sets, by id. */
  readonly #ended = new Map<string, { ends: number; heard: number }>();
  /** Those that the store has not been told of, because it was away. */
  readonly #untold = new Map<string, EndedSession>();

  constructor(options: EndedSessionsOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Takes in what other nodes have ended. */
  learn(sessions: readonly EndedSession[]): void {
    const now = this.#options.clock.now();
    const heard = (this.#options.steady ?? performance).now();
    for (const { id, ends } of sessions) if (ends > now) this.#ended.set(id, { ends, heard });
    for (const [id, one] of this.#ended) {
      // Where the clock has run ahead and is set back, a cookie is good again.
      if (one.ends <= now && heard - one.heard >= LONGEST_SESSION_MS) this.#ended.delete(id);
    }
  }

  /** It has ended here once this is called; other nodes hear of it as soon as the store does. */
  async add(id: string, ends: number): Promise<void> {
    const session = { id, ends: Math.round(ends) };
    this.learn([session]);
    this.#untold.set(id, session);
    await this.tell();
  }

  /** Tells the store what it has not been told. */
  async tell(): Promise<void> {
    const { store, clock } = this.#options;
    for (const [id, session] of this.#untold) {
      try {
        await store.endSession(session, Math.round(clock.now()));
      } catch (error) {
        if (error instanceof StoreUnavailable) return;
        throw error;
      }
      this.#untold.delete(id);
    }
  }
}
