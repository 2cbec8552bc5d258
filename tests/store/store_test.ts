import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import {
  accountBudget,
  type BudgetRef,
  encodeRecord,
  type Generation,
  type LeaseRequest,
  NameTaken,
  SCHEMA_VERSION,
  SchemaTooNew,
  StaleSync,
  type Store,
  type SyncRequest,
} from "../../src/store/mod.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation, NOW, storedKey } from "./samples.ts";

const DAY = 86_400_000;

const keyBudget = (limit: bigint, starts = 0, ends: number | null = null): BudgetRef => ({
  id: `k:key_1:${starts}`,
  scope: "key",
  owner: "key_1",
  starts,
  ends,
  limit,
});

const rate = (limit: bigint): BudgetRef => ({
  id: "r:key_1",
  scope: "rate",
  owner: "key_1",
  starts: 0,
  ends: null,
  limit,
});

/** In steps of so few that there are several. */
async function retireAll(store: Store, before: number): Promise<number> {
  let retired = 0;
  for (;;) {
    const some = await store.retireSome(before, 3);
    assert(some <= 3);
    if (some === 0) return retired;
    retired += some;
  }
}

/** A node's side of the conversation, with its numbers counted. */
function nodeOf(store: Store, node: string) {
  let seq = 0;
  return {
    ask: async (budget: BudgetRef, floor: bigint, more: Partial<SyncRequest> & { exact?: boolean } = {}) => {
      const leases: LeaseRequest[] = [{ budget, floor, exact: more.exact ?? false }];
      const result = await store.sync({ node, seq: ++seq, now: NOW, records: [], leases, ...more });
      return result.grants[0];
    },
    record: (...generations: Generation[]) =>
      store.sync({
        node,
        seq: ++seq,
        now: NOW,
        records: generations.map((g) => encodeRecord(g)),
        leases: [],
      }),
    at: (number: number) => store.sync({ node, seq: number, now: NOW, records: [], leases: [] }),
  };
}

onBothEngines(({ name, place }) => {
  function test(title: string, body: (store: Store, another: () => Store) => Promise<void>): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const opened: Store[] = [];
      const open = () => {
        opened.push(here.open());
        return opened.at(-1)!;
      };
      try {
        const store = open();
        await store.prepare();
        await body(store, open);
      } finally {
        for (const store of opened) await store.close();
        here.remove();
      }
    });
  }

  Deno.test(`${name}: prepare() of three processes at once migrates once`, async () => {
    const here = place();
    const stores = [here.open(), here.open(), here.open()];
    try {
      await Promise.all(stores.map((store) => store.prepare()));
      await stores[1].declareAccounts([{ name: "acme", credits: 7n }]);
      assertEquals((await stores[2].account("acme"))?.granted, 7n);
    } finally {
      for (const store of stores) await store.close();
      here.remove();
    }
  });

  test("prepare() again changes nothing", async (store) => {
    await store.addCredits("acme", { amount: 5n, now: NOW, note: null });
    await store.prepare();
    assertEquals((await store.account("acme"))?.added, 5n);
  });

  test("sync() inserts a record once, however often it is sent", async (store) => {
    await store.registerNode("n");
    const node = nodeOf(store, "n");
    await node.record(generation("g1"), generation("g2"));
    await node.record(generation("g2", { cost: 900n }), generation("g3"));
    const all = await store.listGenerations({}, { after: null, limit: 10 });
    assertEquals(all.map((g) => g.id), ["g3", "g2", "g1"]);
    await store.declareAccounts([{ name: "acme", credits: 100n }]);
    assertEquals((await store.account("acme"))?.spent, 15n);
  });

  test("generation() reads back what was written", async (store) => {
    await store.registerNode("n");
    const full = generation("g1", {
      usage: {
        input: 11,
        cached: 1,
        cacheWrite: 2,
        cacheWrite1h: 1,
        audioInput: 3,
        imageInput: 4,
        videoInput: 5,
        output: 9,
        reasoning: 6,
        audioOutput: 7,
        imageOutput: 8,
      },
      estimated: true,
      searches: 2,
      cost: 9_007_199_254_740_993n,
      clientGone: true,
      dlp: { mode: "mask", findings: 3 },
      tags: { env: "prod", "cost.center": 'a "quoted" \\ value' },
      session: "run-1",
      team: "research",
      priceVersion: "0123456789abcdef",
      cacheSaved: 9_000_000_000_000_000_001n,
      errorCode: "provider_timeout",
      status: "incomplete",
      requestedModel: "né'; DROP TABLE generations; --\"",
    });
    const empty = generation("g2", { usage: null, provider: null, ttftMs: null, stream: false, cost: 0n });
    await nodeOf(store, "n").record(full, empty);
    assertEquals(await store.generation("g1"), full);
    assertEquals(await store.generation("g2"), empty);
    assertEquals(await store.generation("' OR 1=1 --"), null);
  });

  test("sync() gives a node alone everything, and two nodes never more than there is", async (store) => {
    await store.declareAccounts([{ name: "acme", credits: 1000n }]);
    await store.registerNode("a");
    const a = nodeOf(store, "a");
    assertEquals((await a.ask(accountBudget("acme"), 10n)).amount, 1000n);
    await store.registerNode("b");
    const b = nodeOf(store, "b");
    assertEquals((await b.ask(accountBudget("acme"), 10n)).amount, 0n);
    assertEquals(await store.wantedLeases("a"), ["a:acme"]);
    assertEquals(await store.wantedLeases("b"), []);
    assertEquals((await a.ask(accountBudget("acme"), 300n, { exact: true })).amount, 300n);
    const granted = await b.ask(accountBudget("acme"), 10n);
    assertEquals([granted.amount, granted.others, granted.limit], [175n, 300n, 1000n]);
    assertEquals((await b.ask(accountBudget("acme"), 5000n)).amount, 700n);
  });

  test("sync() keeps a lease as it is when the node asks for less without giving back", async (store) => {
    await store.registerNode("a");
    const a = nodeOf(store, "a");
    await a.ask(keyBudget(100n), 60n);
    await store.registerNode("b");
    assertEquals((await a.ask(keyBudget(100n), 1n)).amount, 100n);
  });

  test("sync() takes costs off the lease, and an overrun off what is left", async (store) => {
    await store.registerNode("a");
    await store.registerNode("b");
    const [a, b] = [nodeOf(store, "a"), nodeOf(store, "b")];
    assertEquals((await a.ask(keyBudget(100n), 30n, { exact: true })).amount, 30n);
    await a.record(generation("g1", { cost: 20n }));
    assertEquals((await b.ask(keyBudget(100n), 1000n)).amount, 70n);
    await a.record(generation("g2", { cost: 25n }));
    const grant = await b.ask(keyBudget(100n), 1000n);
    assertEquals([grant.amount, grant.spent, grant.others], [55n, 45n, 0n]);
  });

  test("sync() begins a key's budget with what the ledger holds for its period", async (store) => {
    await store.registerNode("a");
    const a = nodeOf(store, "a");
    await a.record(
      generation("g1", { cost: 20n }),
      generation("g2", { cost: 7n, created: NOW - 2 * DAY }),
      generation("g3", { cost: 1n, keyId: "key_2" }),
    );
    const starts = NOW - NOW % DAY;
    assertEquals((await a.ask(keyBudget(100n, starts, starts + DAY), 1n)).spent, 20n);
    assertEquals((await a.ask(keyBudget(100n), 1n)).spent, 27n);
    // From now on both are charged, each for its own period.
    await a.record(
      generation("g4", { cost: 3n }),
      generation("g5", { cost: 30n, created: starts + DAY }),
    );
    assertEquals((await a.ask(keyBudget(100n, starts, starts + DAY), 1n)).spent, 23n);
    assertEquals((await a.ask(keyBudget(100n), 1n)).spent, 60n);
  });

  test("sync() refuses a transaction older than one that went through", async (store) => {
    await store.registerNode("a");
    const a = nodeOf(store, "a");
    await a.at(5);
    await assertRejects(() => a.at(5), StaleSync);
    await assertRejects(() => a.at(4), StaleSync);
    assertEquals((await a.at(6)).forgotten, false);
  });

  test("removeNodes() returns leases and tells the node when it comes back", async (store) => {
    await store.registerNode("a");
    await store.registerNode("b");
    const [a, b] = [nodeOf(store, "a"), nodeOf(store, "b")];
    await a.ask(keyBudget(100n), 100n);
    assertEquals((await b.ask(keyBudget(100n), 60n)).amount, 0n);
    await store.removeNodes(["a"]);
    assertEquals((await b.ask(keyBudget(100n), 60n)).amount, 100n);
    assertEquals((await a.at(99)).forgotten, true);
  });

  test("removeNodes() hands over what a node without a journal had running", async (store) => {
    await store.registerNode("a");
    await store.sync({
      node: "a",
      seq: 1,
      now: NOW,
      records: [],
      leases: [],
      began: [{ id: "g1", data: "one" }, { id: "g2", data: "two" }],
    });
    await store.sync({ node: "a", seq: 2, now: NOW, records: [], leases: [], ended: ["g1"] });
    assertEquals(await store.removeNodes(["a"]), [{ id: "g2", node: "a", data: "two" }]);
    // Until it has been recorded, the next one that looks is told again.
    assertEquals(await store.removeNodes(["a"]), [{ id: "g2", node: "a", data: "two" }]);
  });

  test("sync() begins a rate's minute anew when it is over or far ahead", async (store) => {
    await store.registerNode("a");
    await store.registerNode("b");
    const [a, b] = [nodeOf(store, "a"), nodeOf(store, "b")];
    assertEquals((await a.ask(rate(60n), 60n)).amount, 60n);
    assertEquals((await b.ask(rate(60n), 1n, { now: NOW + 59_999 })).amount, 0n);
    const next = await b.ask(rate(60n), 1n, { now: NOW + 60_000 });
    assertEquals([next.starts, next.others], [NOW + 60_000, 0n]);
    const back = await b.ask(rate(60n), 1n, { now: NOW - 3_600_000 });
    assertEquals(back.starts, NOW - 3_600_000);
  });

  test("sync() never lets spent and leased pass the limit by more than overruns", async (store) => {
    await store.declareAccounts([{ name: "acme", credits: 500n }]);
    const step = fc.record({
      node: fc.integer({ min: 0, max: 2 }),
      what: fc.constantFrom("ask", "exact", "record", "forget"),
      amount: fc.bigInt({ min: 0n, max: 200n }),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const account = `acc${++run}`;
        await store.declareAccounts([{ name: account, credits: 500n }]);
        const leased = [0n, 0n, 0n];
        let [spent, overrun] = [0n, 0n];
        const seqs = [0, 0, 0];
        for (const [i, { node, what, amount }] of steps.entries()) {
          const id = `${account}-${node}`;
          await store.registerNode(id);
          if (what === "forget") {
            await store.removeNodes([id]);
            leased[node] = 0n;
            seqs[node] = 0;
            continue;
          }
          const records = what === "record"
            ? [encodeRecord(generation(`${account}-${i}`, { account, cost: amount }))]
            : [];
          const leases = what === "record"
            ? []
            : [{ budget: accountBudget(account), floor: amount, exact: what === "exact" }];
          const { grants } = await store.sync({ node: id, seq: ++seqs[node], now: NOW, records, leases });
          if (what === "record") {
            spent += amount;
            if (amount > leased[node]) overrun += amount - leased[node];
            leased[node] = amount > leased[node] ? 0n : leased[node] - amount;
          } else {
            assertEquals(grants[0].spent, spent);
            leased[node] = grants[0].amount;
          }
          assert(spent + leased[0] + leased[1] + leased[2] <= 500n + overrun);
        }
      }),
      { numRuns: 15 },
    );
  });

  test("sync() of nodes side by side neither deadlocks nor oversells", async (store) => {
    const budgets = [0, 1, 2, 3].map((i) => ({ ...keyBudget(1000n), id: `k:key_${i}`, owner: `key_${i}` }));
    const granted = new Map<string, bigint>();
    const spent = new Map<string, bigint>();
    await Promise.all(["a", "b", "c", "d"].map(async (id, n) => {
      await store.registerNode(id);
      for (let round = 1; round <= 10; round++) {
        const leases = budgets.map((budget) => ({ budget, floor: 100n, exact: false }));
        const order = n % 2 === 0 ? leases : leases.reverse();
        const records = budgets.map((b, i) => {
          // Nodes spend only what they hold: whoever comes first may hold everything.
          const cost = (granted.get(`${id} ${b.id}`) ?? 0n) > 0n ? 1n : 0n;
          spent.set(b.id, (spent.get(b.id) ?? 0n) + cost);
          return encodeRecord(
            generation(`${id}-${round}-${i}`, { keyId: b.owner, account: `acc${(i + n) % 4}`, cost }),
          );
        });
        const { grants } = await store.sync({ node: id, seq: round, now: NOW, records, leases: order });
        for (const grant of grants) granted.set(`${id} ${grant.id}`, grant.amount);
      }
    }));
    for (const budget of budgets) {
      let sum = spent.get(budget.id)!;
      assert(sum > 0n);
      for (const [key, amount] of granted) if (key.endsWith(` ${budget.id}`)) sum += amount;
      assert(sum <= 1000n, `${budget.id} sold ${sum}`);
    }
  });

  test("changesSince() tells each change, in order of revisions", async (store) => {
    await store.insertKey(storedKey("k1"), "hash1");
    const first = await store.changesSince(0);
    assertEquals(first.keys.map((k) => [k.id, k.secrets]), [["k1", [{ hash: "hash1", expiresAt: null }]]]);
    assertEquals((await store.changesSince(first.rev)).keys, []);
    const spendLimit = { amount: 5n, period: "week" as const };
    await store.updateKey(storedKey("k1", { models: ["a/*"], spendLimit, revokedAt: NOW }));
    await store.addCredits("acme", { amount: 5n, now: NOW, note: "thanks" });
    const second = await store.changesSince(first.rev);
    assertEquals(second.keys[0].spendLimit, spendLimit);
    assertEquals(second.keys[0].models, ["a/*"]);
    assertEquals(second.keys[0].revokedAt, NOW);
    assertEquals(second.accounts, ["acme"]);
  });

  test("changesSince() tells tokens and ended sessions, which forget themselves in the end", async (store) => {
    const token = {
      id: "tok_1",
      name: "ci",
      role: "auditor",
      hash: "h1",
      created: NOW,
      createdBy: "admin_key",
      expiresAt: null,
      revokedAt: null,
      lastUsed: null,
    };
    const { rev } = await store.changesSince(0);
    await store.insertToken(token);
    await store.endSession({ id: "ses_1", ends: NOW + 10 }, NOW);
    const first = await store.changesSince(rev);
    assertEquals([first.tokens, first.endedSessions], [[token], [{ id: "ses_1", ends: NOW + 10 }]]);
    await store.touchToken("tok_1", NOW + 5);
    await store.touchToken("tok_1", NOW + 4);
    assertEquals((await store.changesSince(first.rev)).tokens, [], "a use is no change");
    assertEquals((await store.tokenByHash("h1"))?.lastUsed, NOW + 5);
    assertEquals(await store.tokenByHash("h2"), null);
    assertEquals((await store.revokeToken("tok_1", NOW + 7))?.revokedAt, NOW + 7);
    assertEquals((await store.revokeToken("tok_1", NOW + 9))?.revokedAt, NOW + 7, "once");
    assertEquals(await store.revokeToken("tok_2", NOW), null);
    await store.endSession({ id: "ses_2", ends: NOW + 100 }, NOW + 50);
    assertEquals((await store.peopleSince(0)).endedSessions.map(({ id }) => id), ["ses_2"]);
    await store.insertToken({ ...token, id: "tok_2", hash: "h2", created: NOW + 1 });
    const [newest] = await store.listTokens({ after: null, limit: 1 });
    assertEquals(newest.id, "tok_2");
    assertEquals((await store.listTokens({ after: newest, limit: 5 })).map(({ id }) => id), ["tok_1"]);
  });

  test("insertKey() refuses a name in use and takes that of a revoked key", async (store) => {
    await store.insertKey(storedKey("k1", { name: "dev" }), "hash1");
    await assertRejects(() => store.insertKey(storedKey("k2", { name: "dev" }), "hash2"), NameTaken);
    await store.updateKey(storedKey("k1", { name: "dev", revokedAt: NOW }));
    await store.insertKey(storedKey("k2", { name: "dev" }), "hash2");
    assertEquals((await store.keyByHash("hash2"))?.id, "k2");
    assertEquals(await store.updateKey(storedKey("k3")), false);
  });

  test("addSecret() ends older secrets, none later than it would have", async (store) => {
    await store.insertKey(storedKey("k1"), "hash1");
    await store.addSecret("k1", { hash: "hash2", now: NOW, until: NOW + 1000 });
    await store.addSecret("k1", { hash: "hash3", now: NOW + 500, until: NOW + 5000 });
    const secrets = (await store.keyByHash("hash3"))!.secrets.sort((a, b) => a.hash < b.hash ? -1 : 1);
    assertEquals(secrets, [
      { hash: "hash1", expiresAt: NOW + 1000 },
      { hash: "hash2", expiresAt: NOW + 5000 },
      { hash: "hash3", expiresAt: null },
    ]);
    await store.addSecret("k1", { hash: "hash4", now: NOW + 2000, until: NOW + 2000 });
    assertEquals(await store.keyByHash("hash1"), null);
  });

  test("addSecret() brings forward the end of a secret that was to last longer", async (store) => {
    await store.insertKey(storedKey("k1"), "hash1");
    await store.addSecret("k1", { hash: "hash2", now: NOW, until: NOW + 9000 });
    await store.addSecret("k1", { hash: "hash3", now: NOW, until: NOW + 1000 });
    const ends = new Map((await store.keyByHash("hash3"))!.secrets.map((s) => [s.hash, s.expiresAt]));
    assertEquals([ends.get("hash1"), ends.get("hash2"), ends.get("hash3")], [NOW + 1000, NOW + 1000, null]);
  });

  test("an account's spent amount stops where a row cannot hold more", async (store) => {
    await store.declareAccounts([{ name: "acme", credits: 100n }]);
    await store.registerNode("n");
    const node = nodeOf(store, "n");
    for (const id of ["g1", "g2"]) await node.record(generation(id, { cost: 9n * 10n ** 18n }));
    assertEquals((await store.account("acme"))?.spent, 9_200_000_000_000_000_000n);
    await node.record(generation("g3", { cost: 1n }));
    assertEquals((await store.account("acme"))?.spent, 9_200_000_000_000_000_000n);
  });

  test("declareAccounts() changes what was granted and leaves what was added", async (store) => {
    await store.declareAccounts([{ name: "acme", credits: 100n }, { name: "free", credits: null }]);
    await store.addCredits("acme", { amount: 50n, now: NOW, note: null });
    const { rev } = await store.changesSince(0);
    await store.declareAccounts([{ name: "acme", credits: 100n }, { name: "free", credits: null }]);
    assertEquals((await store.changesSince(rev)).rev, rev);
    await store.declareAccounts([{ name: "acme", credits: 130n }]);
    assertEquals(await store.account("acme"), { name: "acme", granted: 130n, added: 50n, spent: 0n });
    assertEquals((await store.account("free"))?.granted, null);
  });

  test("listGenerations() pages through equal times without loss or doubling", async (store) => {
    await store.registerNode("n");
    const all = Array.from(
      { length: 23 },
      (_, i) => generation(`g${i}`, { created: NOW + Math.floor(i / 5) }),
    );
    await nodeOf(store, "n").record(...all);
    const seen: string[] = [];
    let after = null;
    for (;;) {
      const page: Generation[] = await store.listGenerations({}, { after, limit: 4 });
      seen.push(...page.map((g) => g.id));
      if (page.length < 4) break;
      after = { created: page[3].created, id: page[3].id };
    }
    assertEquals(seen.length, 23);
    assertEquals(new Set(seen).size, 23);
    const filtered = await store.listGenerations({ from: NOW + 1, to: NOW + 2 }, { after: null, limit: 50 });
    assertEquals(filtered.length, 5);
    assertEquals(await store.listGenerations({ model: "' OR '1'='1" }, { after: null, limit: 5 }), []);
    assertEquals(await store.listGenerations({ key: 'dev"; --' }, { after: null, limit: 5 }), []);
  });

  test("retire() keeps every sum and the budgets that can still be charged", async (store) => {
    await store.registerNode("n");
    const node = nodeOf(store, "n");
    const old = Array.from({ length: 7 }, (_, i) =>
      generation(`old${i}`, {
        created: NOW - (100 + i % 3) * DAY,
        model: i % 2 === 0 ? "a/b" : "c/d",
        status: i === 0 ? "failed" : "completed",
        usage: i === 1 ? null : { ...NO_USAGE, input: 10, output: 7 },
      }));
    await node.record(...old, generation("new"));
    const sums = () =>
      Promise.all(
        (["key", "model", "day"] as const).map((by) => store.sumUsage({ by: [by], from: null, to: null })),
      );
    const before = await sums();
    assertEquals(await retireAll(store, NOW - 90 * DAY), 7);
    assertEquals(await sums(), before);
    assertEquals((await store.listGenerations({}, { after: null, limit: 10 })).map((g) => g.id), ["new"]);
    assertEquals(await retireAll(store, NOW - 90 * DAY), 0);
    // A record that arrives late, from an outbox, is summed up as well.
    await node.record(generation("late", { created: NOW - 100 * DAY }));
    assertEquals(await retireAll(store, NOW - 90 * DAY), 1);
    assertEquals((await store.sumUsage({ by: ["key"], from: null, to: null }))[0].generations, 9);
    assertEquals((await node.ask(keyBudget(1000n), 1n)).spent, 45n);
  });

  test("shared() gives every process what the first one made", async (store, another) => {
    const made = await Promise.all(
      [store, another()].map((s, i) => s.shared("pepper", () => `made by ${i}`)),
    );
    assertEquals(made[0], made[1]);
  });
});

Deno.test("sqlite: prepare() refuses the schema of a newer program and leaves it alone", async () => {
  const { openStore } = await import("../../src/store/mod.ts");
  const folder = Deno.makeTempDirSync();
  const engine = openSqlite(`${folder}/store.db`);
  await engine.query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
  await engine.query(`INSERT INTO schema_version VALUES (${SCHEMA_VERSION + 1})`);
  const store = openStore(`sqlite:${folder}/store.db`);
  const error = await assertRejects(() => store.prepare(), SchemaTooNew);
  assert(error.message.includes(`version ${SCHEMA_VERSION + 1}`));
  const rows = await engine.query("SELECT name FROM sqlite_master WHERE type = 'table'");
  assertEquals(rows.map((r) => r.name), ["schema_version"]);
  await store.close();
  await engine.close();
  Deno.removeSync(folder, { recursive: true });
});
