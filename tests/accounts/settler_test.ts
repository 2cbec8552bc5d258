import { assertEquals, assertRejects } from "@std/assert";
import { createSettler, type Pending } from "../../src/accounts/settler.ts";
import { accountBudget, type Store, StoreUnavailable, type SyncRequest } from "../../src/store/mod.ts";
import { sqlitePlace } from "../store/cluster.ts";
import { eventually } from "../support/time.ts";

/** A settler over a real store of which one method may be bent. */
async function withSettler(
  bend: (store: Store) => Partial<Store>,
  body: (settler: ReturnType<typeof createSettler>, store: Store, warnings: string[]) => Promise<void>,
): Promise<void> {
  const here = sqlitePlace();
  const store = here.open();
  await store.prepare();
  await store.declareAccounts([{ name: "acme", credits: 1000n }]);
  const warnings: string[] = [];
  const settler = createSettler({
    store: { ...store, ...bend(store) },
    node: "n",
    clock: { now: () => 0 },
    warn: (message) => void warnings.push(message),
    tellRunning: false,
  });
  try {
    await body(settler, store, warnings);
  } finally {
    await settler.close();
    await store.close();
    here.remove();
  }
}

function pending(id: string, shipped: (id: string) => void = () => {}): Pending {
  const usage = Array(11).fill(null);
  const row = [
    id,
    1,
    "k",
    "k",
    "acme",
    "messages",
    "m",
    "m",
    null,
    0,
    "completed",
    null,
    1,
    ...usage,
    0,
    "5",
    null,
    1,
    0,
  ];
  return {
    id,
    json: JSON.stringify([...row, null, null]),
    account: "acme",
    keyId: "k",
    created: 1,
    cost: 5n,
    slices: [],
    shipped: () => shipped(id),
  };
}

Deno.test("createSettler() ships every record that can be written, around one that cannot", () => {
  const shipped: string[] = [];
  const refuse = (store: Store) => ({
    sync: (request: SyncRequest) => {
      if (request.records.some((r) => r.json.includes('"bad"'))) throw new TypeError("quoting a row: secret");
      return store.sync(request);
    },
  });
  return withSettler(refuse, async (settler, store, warnings) => {
    for (let i = 0; i < 20; i++) {
      settler.enqueue(pending(i === 7 ? "bad" : `g${i}`, (id) => shipped.push(id)));
    }
    await eventually(async () => {
      await settler.flush().catch(() => {});
      return shipped.length >= 19;
    });
    assertEquals(settler.pending, 1);
    assertEquals(settler.up, true);
    assertEquals((await store.listGenerations({}, { after: null, limit: 50 })).length, 19);
    assertEquals(warnings.some((w) => w.includes("secret")), false);
  });
});

Deno.test("createSettler() counts once what went through though the answer was lost", () => {
  let lose = true;
  const deaf = (store: Store) => ({
    sync: async (request: SyncRequest) => {
      const result = await store.sync(request);
      if (lose) throw new StoreUnavailable("The line is cut.");
      return result;
    },
  });
  return withSettler(deaf, async (settler, store) => {
    const slice = settler.slice("credits", accountBudget("acme"));
    await assertRejects(() => settler.refill(slice, 10n), StoreUnavailable);
    slice.used += 5n;
    settler.enqueue({ ...pending("g1"), slices: [slice] });
    await settler.flush().catch(() => {});
    assertEquals([slice.used, settler.pending], [5n, 1]);
    lose = false;
    await settler.connect();
    await settler.refill(slice, 10n);
    assertEquals([slice.used, slice.spent, slice.granted], [0n, 5n, 995n]);
    assertEquals((await store.account("acme"))?.spent, 5n);
  });
});

Deno.test("createSettler() asks anew after the store gave it up", () =>
  withSettler(() => ({}), async (settler, store, warnings) => {
    const slice = settler.slice("credits", accountBudget("acme"));
    await settler.refill(slice, 10n);
    assertEquals(slice.granted, 1000n);
    slice.reserved += 100n;
    await store.removeNodes(["n"]);
    await settler.refill(slice, 10n);
    assertEquals(slice.granted, 1000n);
    assertEquals(warnings.length, 1);
  }));

Deno.test("createSettler() sends a thousand that wait in one round", () => {
  let rounds = 0;
  const counting = (store: Store) => ({
    sync: (request: SyncRequest) => {
      rounds++;
      return store.sync(request);
    },
  });
  return withSettler(counting, async (settler) => {
    const slice = settler.slice("credits", accountBudget("acme"));
    await Promise.all(Array.from({ length: 1000 }, () => settler.refill(slice, 1n)));
    assertEquals([rounds, slice.granted], [1, 1000n]);
  });
});
