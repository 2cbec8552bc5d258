import { assertEquals } from "@std/assert";
import type { Keyring } from "../../src/accounts/keyring.ts";
import { LeaseTable } from "../../src/accounts/lease_table.ts";
import { StoreChanges } from "../../src/accounts/store_changes.ts";
import type { Changes, Store } from "../../src/store/mod.ts";
import { nextTurn } from "../support/time.ts";

Deno.test("StoreChanges asks once more for who asks meanwhile, and only when the answer before is taken in", async () => {
  const asked: { rev: number; answer(changes: Changes): void; fail(error: Error): void }[] = [];
  const learned: unknown[] = [];
  const changes = new StoreChanges({
    store: {
      changesSince: (rev: number) =>
        new Promise<Changes>((answer, fail) => asked.push({ rev, answer, fail })),
    } as unknown as Store,
    clock: { now: () => 0 },
    keyring: { learn: (keys: unknown) => learned.push(keys) } as unknown as Keyring,
    leases: new LeaseTable(),
  });
  const first = changes.pull();
  await nextTurn();
  const second = changes.pull();
  const third = changes.pull();
  await nextTurn();
  assertEquals(asked.map((a) => a.rev), [0]);
  asked[0].answer({ rev: 5, keys: [], accounts: [] });
  await first;
  await nextTurn();
  // What was asked for after the first question is answered by the second.
  assertEquals(asked.map((a) => a.rev), [0, 5]);
  asked[1].fail(new Error("away"));
  assertEquals(await Promise.allSettled([second, third]).then((all) => all.map((r) => r.status)), [
    "rejected",
    "rejected",
  ]);
  const fourth = changes.pull();
  await nextTurn();
  asked[2].answer({ rev: 6, keys: [], accounts: [] });
  await fourth;
  assertEquals(learned.length, 2);
});
