import { assertEquals } from "@std/assert";
import { Lease } from "../../src/accounts/budgets/lease.ts";
import { LeaseTable } from "../../src/accounts/budgets/lease_table.ts";
import { accountBudget, type BudgetRef, type LeaseGrant } from "../../src/store/mod.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const MINUTE = 60_000;

const RATE: BudgetRef = { id: "r:k", scope: "rate", owner: "k", starts: 0, ends: null, limit: 10n };

function granted(lease: Lease, more: Partial<LeaseGrant>): Lease {
  const { budget } = lease;
  lease.renewed(
    { id: budget.id, starts: budget.starts, amount: 0n, limit: 10n, spent: 0n, others: 0n, ...more },
    NOW,
  );
  return lease;
}

const credits = (more: Partial<LeaseGrant>) => granted(new Lease("credits", accountBudget("a")), more);
const rate = (more: Partial<LeaseGrant>) => granted(new Lease("requests", RATE), { starts: NOW, ...more });

Deno.test("Lease of a rate takes nothing off the next minute for a call of the last", () => {
  const lease = rate({ amount: 10n });
  const [released, settled] = [lease.reserve(3n), lease.reserve(4n)];
  granted(lease, { starts: NOW + MINUTE, amount: 10n });
  lease.reserve(2n);
  lease.release(released);
  lease.settle(settled, 4n);
  assertEquals([lease.reserved, lease.used], [2n, 0n]);
});

Deno.test("Lease.renewal() of money leaves out what the same transaction charges, of a rate it does not", () => {
  for (const [lease, floor] of [[credits({ amount: 10n }), 3n], [rate({ amount: 10n }), 5n]] as const) {
    lease.settle(lease.reserve(2n), 2n);
    lease.reserve(3n);
    assertEquals(lease.renewal(2n).floor, floor);
  }
});

Deno.test("Lease.renewal() gives back all that is not needed, unless somebody waits for more", () => {
  const lease = credits({ amount: 10n });
  lease.reserve(3n);
  lease.giveBack = true;
  lease.addWaiting(4n);
  assertEquals(lease.renewal(0n), { budget: lease.budget, floor: 7n, exact: false });
  assertEquals(lease.granted, 10n);
  lease.clearWaiting();
  assertEquals(lease.renewal(0n), { budget: lease.budget, floor: 3n, exact: true });
  assertEquals(lease.granted, 3n);
});

Deno.test("Lease.mayGrow() knows what the store had beyond all leases, for a second", () => {
  const lease = credits({ amount: 2n, limit: 10n, spent: 3n });
  assertEquals([7n, 8n].map((amount) => lease.mayGrow(amount, NOW)), [true, false]);
  assertEquals(lease.mayGrow(8n, NOW + 1000), true);
  assertEquals(lease.mayGrow(8n, NOW - 1), true);
  assertEquals(credits({ amount: 0n, others: 5n }).mayGrow(11n, NOW), true);
});

Deno.test("Lease.isSpent() tells what was spent from what is only reserved, here and elsewhere", () => {
  const lease = credits({ amount: 7n, limit: 10n, spent: 3n });
  const hold = lease.reserve(6n);
  assertEquals([7n, 8n].map((amount) => lease.isSpent(amount, NOW)), [false, true]);
  lease.settle(hold, 6n);
  assertEquals([1n, 2n].map((amount) => lease.isSpent(amount, NOW)), [false, true]);
  assertEquals(lease.isSpent(2n, NOW + 1000), false);
  assertEquals(credits({ amount: 0n, limit: 10n, others: 10n }).isSpent(10n, NOW), false);
  const minute = rate({ amount: 10n });
  minute.reserve(10n);
  assertEquals(minute.isSpent(1n, NOW), true);
  assertEquals(rate({ amount: 0n, others: 10n }).isSpent(1n, NOW), false);
});

Deno.test("LeaseTable keeps a lease of a period that is over while a call of it runs", () => {
  const table = new LeaseTable();
  const budget: BudgetRef = { id: "k:k", scope: "key", owner: "k", starts: 0, ends: 100, limit: 10n };
  const lease = table.open("spend", budget);
  const hold = lease.reserve(3n);
  table.dropEnded(101);
  assertEquals(table.get("k:k"), lease);
  lease.settle(hold, 3n);
  table.dropEnded(101);
  assertEquals(table.get("k:k"), lease);
  lease.delivered(3n);
  table.dropEnded(100);
  assertEquals(table.get("k:k"), lease);
  table.dropEnded(101);
  assertEquals(table.get("k:k"), undefined);
});
