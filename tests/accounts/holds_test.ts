/** Calls that ask for more than they hold. */
import { assertEquals, assertRejects } from "@std/assert";
import type { Demand } from "../../src/accounts/budgets/demands.ts";
import { Holds } from "../../src/accounts/budgets/holds.ts";
import { type Hold, Lease } from "../../src/accounts/budgets/lease.ts";
import type { WaitingLine } from "../../src/accounts/budgets/waiting_line.ts";
import type { StoreSync } from "../../src/accounts/store_sync.ts";
import { Failure } from "../../src/exchange/failure.ts";

const LIMIT = 100n;
const HELD = 60n;

/** A call holds 60 of 100. */
function ground(waited: () => Hold[] | null) {
  const lease = new Lease("credits", {
    id: "c:a",
    scope: "account",
    owner: "a",
    starts: 0,
    ends: null,
    limit: LIMIT,
  });
  lease.renewed({ amount: LIMIT, limit: LIMIT, spent: 0n, others: 0n, starts: 0 } as never, 0);
  lease.reserve(HELD);
  const holds = new Holds({
    sync: { exhausted() {} } as unknown as StoreSync,
    line: { wait: () => Promise.resolve(waited()) } as unknown as WaitingLine,
    now: () => 0,
    waitMs: 1000,
  });
  const take = (amount: bigint) => {
    const demand: Demand = { lease, amount, held: HELD };
    return holds.take("key", () => [[demand]]);
  };
  return { lease, take };
}

Deno.test("a call waits for no money that it holds itself", async () => {
  const { take } = ground(() => {
    throw new Error("it waits");
  });
  const failure = await assertRejects(() => take(60n), Failure);
  assertEquals(failure.code, "insufficient_funds");
});

Deno.test("a call waits for what other calls hold", async () => {
  let waits = 0;
  const { lease, take } = ground(() => {
    waits++;
    return [];
  });
  lease.reserve(20n);
  assertEquals(await take(30n), { holds: [], step: 0 });
  assertEquals(waits, 1);
});
