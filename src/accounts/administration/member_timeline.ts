/**
 * Metrics by time span for the keys of one person, computed from their records: the rollups of nodes cover
 * all keys.
 *
 * For a person with very many calls, only the newest calls are included.
 */
import type { Generation, Store } from "../../store/mod.ts";
import type { Dimension } from "../live/dimensions.ts";
import { Rollup } from "../live/rollup.ts";
import type { SpanSums } from "../live/timeline.ts";

export interface MemberTimelineOptions {
  store: Pick<Store, "listGenerations">;
  member: string;
  /** Calls of the person in the memory of this process. */
  known(): readonly Generation[];
  /** False: the store is unavailable. */
  ready(): boolean;
  /** Writes pending records. */
  flush(): Promise<void>;
}

const PAGE = 1000;
const MOST_PAGES = 10;

export class MemberTimeline {
  readonly #options: MemberTimelineOptions;

  constructor(options: MemberTimelineOptions) {
    this.#options = options;
  }

  async read(
    { span, from, to }: { span: number; from: number; to: number; by?: Dimension },
  ): Promise<SpanSums> {
    const found = this.#options.ready() ? await this.#stored(from, to).catch(() => null) : null;
    const calls = found?.calls ?? this.#options.known();
    const rollups = new Map<number, Rollup>();
    for (const call of calls) {
      if (call.created < from || call.created >= to) continue;
      const starts = call.created - call.created % span;
      let rollup = rollups.get(starts);
      if (rollup === undefined) rollups.set(starts, rollup = new Rollup());
      rollup.add(call);
    }
    return { rollups, store: found !== null, whole: found?.whole ?? false };
  }

  async #stored(from: number, to: number): Promise<{ calls: Generation[]; whole: boolean }> {
    const { store, member, flush } = this.#options;
    await flush();
    const calls: Generation[] = [];
    let after: { created: number; id: string } | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const rows: Generation[] = await store.listGenerations(
        { member, from: Math.floor(from), to: Math.ceil(to) },
        { after, limit: PAGE },
        member,
      );
      calls.push(...rows);
      if (rows.length < PAGE) return { calls, whole: true };
      after = rows[rows.length - 1];
    }
    return { calls, whole: false };
  }
}
