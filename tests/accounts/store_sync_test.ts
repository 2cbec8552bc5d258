import { assertEquals, assertRejects } from "@std/assert";
import type { OutboxEntry } from "../../src/accounts/journal/outbox.ts";
import { priceTable } from "../../src/accounts/budgets/money.ts";
import { StoreSync } from "../../src/accounts/store_sync.ts";
import {
  accountBudget,
  encodeRecord,
  type Generation,
  type Store,
  StoreUnavailable,
  type SyncRequest,
} from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";

interface Scene {
  sync: StoreSync;
  store: Store;
  warnings: string[];
}

/** Over a real store of which one method may be bent. */
async function withSync(
  body: (scene: Scene) => Promise<void>,
  bend: (store: Store) => Partial<Store> = () => ({}),
  reportRunning = false,
): Promise<void> {
  const here = sqlitePlace();
  const store = here.open();
  await store.prepare();
  await store.declareAccounts([{ name: "acme", credits: 1000n }]);
  const warnings: string[] = [];
  const sync = new StoreSync({
    store: { ...store, ...bend(store) },
    node: "n",
    clock: { now: () => 0 },
    warn: (message) => void warnings.push(message),
    granted() {},
    reportRunning,
  });
  try {
    await body({ sync, store, warnings });
  } finally {
    await sync.close();
    await store.close();
    here.remove();
  }
}

function generation(id: string): Generation {
  return {
    id,
    created: 1,
    keyId: "k",
    key: "k",
    account: "acme",
    format: "messages",
    requestedModel: "m",
    model: "m",
    provider: null,
    stream: false,
    status: "completed",
    errorCode: null,
    usage: null,
    estimated: false,
    searches: 0,
    cost: 5n,
    ttftMs: null,
    latencyMs: 1,
    clientGone: false,
    dlp: null,
    tags: null,
    session: null,
    team: null,
    priceVersion: null,
    cacheSaved: null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
  };
}

function entryOf(id: string, delivered: () => void = () => {}): OutboxEntry {
  return { record: encodeRecord(generation(id)), leases: [], delivered };
}

Deno.test("StoreSync delivers every record that can be written, around one that cannot", () => {
  const delivered: string[] = [];
  return withSync(async ({ sync, store, warnings }) => {
    for (let i = 0; i < 20; i++) {
      const id = i === 7 ? "bad" : `g${i}`;
      sync.deliver(entryOf(id, () => void delivered.push(id)));
    }
    await eventually(async () => {
      await sync.flush().catch(() => {});
      return delivered.length >= 19;
    });
    assertEquals(sync.pending, 1);
    assertEquals(sync.up, true);
    assertEquals((await store.listGenerations({}, { after: null, limit: 50 })).length, 19);
    assertEquals(warnings.some((w) => w.includes("secret")), false);
  }, (store) => ({
    sync: (request: SyncRequest) => {
      if (request.records.some((r) => r.id === "bad")) throw new TypeError("quoting a row: secret");
      return store.sync(request);
    },
  }));
});

Deno.test("StoreSync delivers what was refused once the store takes it", () => {
  let refusing = true;
  return withSync(async ({ sync, store }) => {
    sync.deliver(entryOf("g1"));
    await sync.flush().catch(() => {});
    assertEquals([sync.pending, await store.generation("g1")], [1, null]);
    refusing = false;
    sync.retryRejected();
    await sync.flush();
    assertEquals([sync.pending, (await store.generation("g1"))?.cost], [0, 5n]);
  }, (store) => ({
    sync: (request: SyncRequest) => {
      if (refusing && request.records.length > 0) throw new TypeError("not now");
      return store.sync(request);
    },
  }));
});

Deno.test("StoreSync counts once what went through though the answer was lost", () => {
  let lose = true;
  return withSync(async ({ sync, store }) => {
    const lease = sync.leases.open("credits", accountBudget("acme"));
    await assertRejects(() => sync.refill(lease, 10n), StoreUnavailable);
    lease.settle(lease.reserve(7n), 5n);
    sync.deliver({ ...entryOf("g1"), leases: [lease] });
    await sync.flush().catch(() => {});
    assertEquals([lease.used, sync.pending], [5n, 1]);
    lose = false;
    await sync.connect();
    await sync.refill(lease, 10n);
    assertEquals([lease.used, lease.spent, lease.granted], [0n, 5n, 995n]);
    assertEquals((await store.account("acme"))?.spent, 5n);
  }, (store) => ({
    sync: async (request: SyncRequest) => {
      const result = await store.sync(request);
      if (lose) throw new StoreUnavailable("The line is cut.");
      return result;
    },
  }));
});

Deno.test("StoreSync asks anew after the store gave the node up", () =>
  withSync(async ({ sync, store, warnings }) => {
    const lease = sync.leases.open("credits", accountBudget("acme"));
    await sync.refill(lease, 10n);
    assertEquals(lease.granted, 1000n);
    lease.reserve(100n);
    await store.removeNodes(["n"]);
    await sync.refill(lease, 10n);
    assertEquals(lease.granted, 1000n);
    assertEquals(warnings.length, 1);
  }));

Deno.test("StoreSync admits nothing on leases that were taken away while the node was given up", () =>
  withSync(async ({ sync, store }) => {
    const lease = sync.leases.open("credits", accountBudget("acme"));
    await sync.refill(lease, 10n);
    await store.removeNodes(["n"]);
    // Another node holds all of it by the time this one is back.
    await store.registerNode("other");
    const taken = { budget: accountBudget("acme"), floor: 1000n, exact: false };
    await store.sync({ node: "other", seq: 1, now: 0, records: [], leases: [taken] });
    sync.deliver(entryOf("g1"));
    await sync.flush();
    assertEquals([lease.granted, lease.fits(1n, 0)], [0n, false]);
    await sync.refill(lease, 10n);
    assertEquals(lease.granted, 0n);
  }));

Deno.test("StoreSync sends a thousand that wait in one transaction", () => {
  let transactions = 0;
  return withSync(async ({ sync }) => {
    const lease = sync.leases.open("credits", accountBudget("acme"));
    await Promise.all(Array.from({ length: 1000 }, () => sync.refill(lease, 1n)));
    assertEquals([transactions, lease.granted], [1, 1000n]);
  }, (store) => ({
    sync: (request: SyncRequest) => {
      transactions++;
      return store.sync(request);
    },
  }));
});

Deno.test("StoreSync tells which generations run, and tells again what was not heard", () => {
  let away = true;
  return withSync(
    async ({ sync, store }) => {
      sync.began("g1", "one");
      sync.began("g2", "two");
      await sync.connect().catch(() => {});
      // The store may have heard of its beginning by now, so its end is told as well.
      sync.ended("g1");
      away = false;
      await sync.connect();
      sync.began("g3", "three");
      sync.ended("g3");
      await sync.connect();
      assertEquals(await store.removeNodes(["n"]), [{ id: "g2", node: "n", data: "two" }]);
    },
    (store) => ({
      sync: (request: SyncRequest) => {
        if (away) throw new StoreUnavailable("The line is cut.");
        return store.sync(request);
      },
    }),
    true,
  );
});

Deno.test("StoreSync writes nothing to a store that is not known yet, whoever asks it to, and everything once it is", async () => {
  const here = sqlitePlace();
  const store = here.open();
  await store.prepare();
  await store.declareAccounts([{ name: "acme", credits: 1000n }]);
  let allowed = false;
  const sync = new StoreSync({
    store,
    node: "n",
    clock: { now: () => 0 },
    warn() {},
    allowed: () => allowed,
    granted() {},
    reportRunning: true,
  });
  try {
    const written = async () =>
      (await store.listGenerations({}, { after: null, limit: 10 })).map((g) => g.id);
    sync.deliver(entryOf("a"));
    sync.began("b", "");
    for (const ask of [() => sync.flush(), () => sync.connect()]) await assertRejects(ask, StoreUnavailable);
    assertEquals([await written(), (await store.heartbeat("n")).size], [[], 0]);
    allowed = true;
    await sync.connect();
    await sync.flush();
    assertEquals(await written(), ["a"]);
  } finally {
    await sync.close();
    await store.close();
    here.remove();
  }
});

Deno.test("StoreSync lets calls go on within a transaction of records, until somebody waits for the store", () => {
  let meanwhile: (patient: () => boolean) => Promise<void> = () => Promise.resolve();
  return withSync(async ({ sync }) => {
    await sync.connect();
    const lease = sync.leases.open("credits", accountBudget("acme"));
    let refilled: Promise<void> | undefined;
    meanwhile = async (patient) => {
      meanwhile = () => Promise.resolve();
      assertEquals(patient(), true);
      refilled = sync.refill(lease, 10n);
      await eventually(() => !patient());
    };
    sync.deliver(entryOf("g1"));
    await sync.flush();
    await refilled;
    assertEquals(lease.granted > 0n, true);
  }, (store) => ({
    sync: async (request: SyncRequest) => {
      await meanwhile(request.patient!);
      return await store.sync(request);
    },
  }));
});

Deno.test("StoreSync reports the end of a call not before its record, so that no call is in neither", () => {
  const sent: Pick<SyncRequest, "records" | "ended">[] = [];
  return withSync(
    async ({ sync }) => {
      const ids = Array.from({ length: 1300 }, (_, i) => i === 700 ? "bad" : `g${i}`);
      for (const id of ids) sync.began(id, "");
      await sync.connect();
      for (const id of ids) {
        sync.deliver(entryOf(id));
        sync.ended(id);
      }
      await eventually(async () => {
        await sync.flush().catch(() => {});
        return sync.pending === 1;
      });
      const written = new Set<string>();
      const ended = new Set<string>();
      for (const round of sent) {
        for (const { id } of round.records) written.add(id);
        for (const id of round.ended ?? []) {
          assertEquals(written.has(id), true, `${id} ended without a record`);
          ended.add(id);
        }
      }
      assertEquals(ids.filter((id) => !ended.has(id)), ["bad"]);
    },
    (store) => ({
      sync: async (request: SyncRequest) => {
        if (request.records.some((r) => r.id === "bad")) throw new TypeError("no");
        const result = await store.sync(request);
        sent.push(request);
        return result;
      },
    }),
    true,
  );
});

Deno.test("StoreSync lets no call in on a grant whose answer came after the process had stood still", () => {
  const measured = performance.now.bind(performance);
  const other = (seq: number, floor: bigint): SyncRequest => {
    const leases = [{ budget: accountBudget("acme"), floor, exact: true }];
    return { node: "other", seq, now: 0, records: [], leases };
  };
  let asked = 0;
  return withSync(
    async ({ sync, store }) => {
      await sync.connect();
      const lease = sync.leases.open("credits", accountBudget("acme"));
      try {
        await sync.refill(lease, 5n);
      } finally {
        performance.now = measured;
      }
      // The outdated answer, that the node was removed, and what is left.
      assertEquals([asked, lease.granted], [3, 5n]);
      assertEquals((await store.sync(other(2, 990n))).grants[0].others, 5n);
    },
    (store) => ({
      async sync(request: SyncRequest) {
        const result = await store.sync(request);
        if (request.leases.length === 0 || ++asked > 1) return result;
        // Another node takes this one for dead, and 990 of the 1000.
        await store.removeNodes(["n"]);
        await store.registerNode("other");
        await store.sync(other(1, 990n));
        performance.now = () => measured() + 60_000;
        return result;
      },
    }),
  );
});

Deno.test("StoreSync sends prices once, and again after the store was unavailable", () => {
  const { version } = priceTable({ prompt: "0.00123", completion: "0.00456" });
  const sent: (string | undefined)[] = [];
  let away = false;
  return withSync(async ({ sync }) => {
    const deliver = async (id: string) => {
      sync.deliver({
        record: encodeRecord({ ...generation(id), priceVersion: version }),
        leases: [],
        delivered: () => {},
      });
      await sync.flush().catch(() => {});
    };
    await deliver("g1");
    await deliver("g2");
    assertEquals(sent, [version, undefined]);
    away = true;
    await deliver("g3");
    away = false;
    await eventually(async () => {
      await sync.flush().catch(() => {});
      return sync.pending === 0;
    });
    assertEquals(sent.at(-1), version);
  }, (store) => ({
    sync(request: SyncRequest) {
      if (away) throw new StoreUnavailable("away");
      if (request.records.length > 0) sent.push(request.prices?.[0]?.version);
      return store.sync(request);
    },
  }));
});
