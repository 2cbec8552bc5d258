import { assert, assertEquals } from "@std/assert";
import type { Keyring } from "../../src/accounts/keys/keyring.ts";
import { LeaseTable } from "../../src/accounts/budgets/lease_table.ts";
import { StoreChanges } from "../../src/accounts/store_changes.ts";
import { Teams } from "../../src/accounts/keys/teams.ts";
import { accountBudget, type Changes, type Store } from "../../src/store/mod.ts";
import { eventually, nextTurn } from "../support/time.ts";

Deno.test("StoreChanges asks once more for who asks meanwhile, and only when the answer before is taken in", async () => {
  const asked: { rev: number; answer(changes: Changes): void; fail(error: Error): void }[] = [];
  const learned: unknown[] = [];
  const changes = new StoreChanges({
    store: {
      revision: () => Promise.resolve(0),
      teams: () => Promise.resolve([]),
      unlimitedAccounts: () => Promise.resolve([]),
      keysBehind: () => Promise.resolve([]),
      peopleSince: () => Promise.resolve({ tokens: [], endedSessions: [] }),
      changesSince: (rev: number) =>
        new Promise<Changes>((answer, fail) => asked.push({ rev, answer, fail })),
    } as unknown as Store,
    clock: { now: () => 0 },
    keyring: { learn: (keys: unknown) => learned.push(keys) } as unknown as Keyring,
    leases: new LeaseTable(),
    people: () => {},
    teams: new Teams(),
    accounts: { setUnlimited() {}, learnAccounts() {} },
  });
  await changes.begin();
  const first = changes.pull();
  await nextTurn();
  const second = changes.pull();
  const third = changes.pull();
  await nextTurn();
  assertEquals(asked.map((a) => a.rev), [0]);
  asked[0].answer({
    rev: 5,
    keys: [],
    accounts: [],
    teams: [],
    closedBreakers: [],
    watches: [],
    tokens: [],
    endedSessions: [],
  });
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
  asked[2].answer({
    rev: 6,
    keys: [],
    accounts: [],
    teams: [],
    closedBreakers: [],
    watches: [],
    tokens: [],
    endedSessions: [],
  });
  await fourth;
  assertEquals(learned.length, 3);
});

Deno.test("StoreChanges begins with a page of many keys, and whoever needs all of them waits for the rest", async () => {
  const ids = Array.from({ length: 1234 }, (_, i) => `key_${String(i).padStart(4, "0")}`);
  const learned = new Set<string>();
  let since: number | null = null;
  let failing = true;
  let failures = 0;
  const changes = new StoreChanges({
    store: {
      revision: () => Promise.resolve(7),
      peopleSince: () => Promise.resolve({ tokens: [], endedSessions: [] }),
      teams: () => Promise.resolve([]),
      unlimitedAccounts: () => Promise.resolve([]),
      keysBehind(after: string, limit: number) {
        if (failing && after !== "") {
          failures++;
          return Promise.reject(new Error("away"));
        }
        return Promise.resolve(ids.filter((id) => id > after).slice(0, limit).map((id) => ({ id })));
      },
      changesSince(rev: number) {
        since = rev;
        return Promise.resolve({
          rev,
          keys: [],
          accounts: [],
          teams: [],
          closedBreakers: [],
          watches: [],
          tokens: [],
          endedSessions: [],
        });
      },
    } as unknown as Store,
    clock: { now: () => 0 },
    keyring: {
      learn: (keys: { id: string }[]) => keys.forEach(({ id }) => learned.add(id)),
    } as unknown as Keyring,
    leases: new LeaseTable(),
    people: () => {},
    teams: new Teams(),
    accounts: { setUnlimited() {}, learnAccounts() {} },
  });
  await changes.begin();
  assert(learned.size > 0 && learned.size < ids.length);
  // The rest cannot be read now: it is read by whoever asks next.
  await eventually(() => failures > 0);
  failing = false;
  await changes.pull();
  assertEquals([...learned], ids);
  assertEquals(since, null);
  await changes.pull();
  assertEquals(since, 7);
  await changes.end();
});

Deno.test("StoreChanges reads everything again from a store that has lost its last changes", async () => {
  const asked: string[] = [];
  let rev = 9;
  const leases = new LeaseTable();
  const [credits, spend] = (["credits", "spend"] as const).map((kind) => {
    const lease = leases.open(kind, { ...accountBudget("acme"), id: kind });
    lease.renewed({ id: kind, amount: 5n, limit: 10n, spent: 0n, others: 0n, starts: 0 }, 0);
    return lease;
  });
  const changes = new StoreChanges({
    store: {
      revision: () => Promise.resolve(rev),
      teams: () => (asked.push("teams"), Promise.resolve([])),
      unlimitedAccounts: () => (asked.push("accounts"), Promise.resolve([])),
      keysBehind: () => (asked.push("keys"), Promise.resolve([])),
      peopleSince: () => (asked.push("people"), Promise.resolve({ tokens: [], endedSessions: [] })),
      changesSince: (since: number) =>
        Promise.resolve<Changes>({
          rev: (asked.push(`since ${since}`), rev),
          keys: [],
          accounts: [],
          teams: [],
          closedBreakers: [],
          watches: [],
          tokens: [],
          endedSessions: [],
        }),
    } as unknown as Store,
    clock: { now: () => 0 },
    keyring: { learn: () => {} } as unknown as Keyring,
    leases,
    people: () => {},
    teams: new Teams(),
    accounts: { setUnlimited() {}, learnAccounts() {} },
  });
  await changes.begin();
  asked.length = 0;
  await changes.pull();
  assertEquals(asked.splice(0), ["since 9"]);
  rev = 7;
  await changes.pull();
  assertEquals(asked.splice(0), ["since 9", "people", "teams", "accounts", "keys"]);
  // Credits may have been other ones.
  assertEquals([credits.granted, spend.granted], [0n, 5n]);
  await changes.pull();
  assertEquals(asked, ["since 7"]);
});
