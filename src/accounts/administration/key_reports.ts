/** Keys for administrators: with the spend in the period of their limit, and the time of their last use. */
import type { Store } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { KeyState } from "../keys/key_state.ts";
import { spanAt } from "../budgets/period.ts";
import type { StoreSync } from "../store_sync.ts";
import { isoOf, type KeyReport, keyView, spendView } from "./views.ts";

export interface KeyReportsOptions {
  store: Store;
  clock: Clock;
  sync: StoreSync;
}

/** Writes pending records first, so that calls that have just ended are included. */
export async function keyReports(
  { store, clock, sync }: KeyReportsOptions,
  states: readonly KeyState[],
): Promise<KeyReport[]> {
  await sync.flush();
  const now = clock.now();
  const spans = states.map(({ id, spendLimit }) => ({ id, ...spanAt(spendLimit?.period ?? "month", now) }));
  const incompleteBefore = await store.incompleteBefore({
    from: spans.reduce((first, { starts }) => Math.min(first, starts), now),
    to: now,
  });
  const uses = await store.keyUse(spans);
  const byId = new Map(uses.map((use) => [use.id, use]));
  return states.map((state) => {
    const { spent = 0n, lastUsed = null } = byId.get(state.id) ?? {};
    return {
      ...keyView(state),
      spend: spendView(spent, state.spendLimit, now, incompleteBefore),
      last_used: isoOf(lastUsed),
    };
  });
}
