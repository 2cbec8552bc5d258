/** What a node keeps of sessions when each call brings a new one. */
import { assert, assertEquals } from "@std/assert";
import { LeaseTable } from "../../src/accounts/budgets/lease_table.ts";

const TOTAL = 200_000;
const A_SECOND = 1000;

/** Money: what came since the last five seconds, above ten thousand. Requests: those of the minute that is counted. */
const MOST = { session: 10_000 + 6 * A_SECOND, session_requests: 61 * A_SECOND };

for (const kind of ["session", "session_requests"] as const) {
  Deno.test(`a new ${kind} budget with each call leaves a bounded number of leases, and the store hears of all others`, () => {
    const table = new LeaseTable();
    const told = new Set<string>();
    let most = 0;
    let n = 0;
    const tick = (now: number) => {
      table.dropIdle(now, now);
      most = Math.max(most, [...table.all()].length);
      while (table.hasDropped) for (const id of table.takeDropped()) told.add(id);
    };
    let now = 0;
    for (; n < TOTAL; now += 1000) {
      for (let i = 0; i < A_SECOND; i++) {
        const id = `s:${n++}`;
        const scope = kind === "session" ? "session" : "session_rate";
        table.open(kind, { id, scope, owner: id, starts: 0, ends: null, limit: 10n }).touchedAt = now;
      }
      tick(now);
    }
    assert(most <= MOST[kind], `${most} at once`);
    tick(now + 600_000);
    assertEquals([[...table.all()].length, told.size], [0, TOTAL]);
  });
}
