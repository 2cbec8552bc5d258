/** What the store keeps of keys, accounts and generations, and how it tells of changes. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  decodeRecord,
  encodeRecord,
  type Generation,
  NameTaken,
  SCHEMA_VERSION,
  SchemaTooNew,
  type Store,
  StoreUnavailable,
} from "../../src/store/mod.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation, NOW, storedKey } from "./samples.ts";
import { keyBudget, nodeOf, testsOn } from "./support.ts";

const DAY = 86_400_000;

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

onBothEngines((ground) => {
  const { name, place } = ground;
  const test = testsOn(ground);

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

  // Rows of 0.1.0 have 31 columns, and a journal may hold them when a newer release starts.
  for (const columns of [31, 34, 36, 38]) {
    test(`sync() takes a journal's row of an older release, of ${columns} columns`, async (store) => {
      await store.registerNode("n");
      const { json } = encodeRecord(generation("g1", columns > 34 ? { priceVersion: "file 01" } : {}));
      const older = JSON.stringify(JSON.parse(json).slice(0, columns));
      await store.sync({ node: "n", seq: 1, now: NOW, records: [decodeRecord(older)], leases: [] });
      const written = await store.generation("g1");
      assertEquals([written?.cost, written?.usage?.input, written?.toolCalls], [5n, 10, null]);
      await store.declareAccounts([{ name: "acme", credits: 100n }]);
      assertEquals((await store.account("acme"))?.spent, 5n);
    });
  }

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

  test("listKeys() finds what is part of a name, in any case, also in other letters", async (store) => {
    for (const [i, name] of ["Ökonomie A", "dev_1%", "Team-x"].entries()) {
      await store.insertKey({ ...storedKey(`k${i}`), name }, `hash${i}`);
    }
    const found = async (search: string) =>
      (await store.listKeys({ after: null, limit: 10, search })).map(({ name }) => name);
    assertEquals(await found("Ökonomie"), ["Ökonomie A"]);
    assertEquals(await found("konomie a"), ["Ökonomie A"]);
    assertEquals(await found("V_1%"), ["dev_1%"]);
    assertEquals(await found("tEAM"), ["Team-x"]);
    assertEquals([await found("e%1"), await found("d_v")], [[], []]);
  });

  test("changesSince() tells each change, in order of revisions", async (store) => {
    await store.insertKey(storedKey("k1"), "hash1");
    const first = await store.changesSince(0);
    assertEquals(first.keys.map((k) => [k.id, k.secrets]), [["k1", [{ hash: "hash1", expiresAt: null }]]]);
    assertEquals((await store.changesSince(first.rev)).keys, []);
    const spendLimit = { amount: 5n, period: "week" as const };
    await store.updateKey("k1", (key) => ({ ...key, models: ["a/*"], spendLimit, revokedAt: NOW }));
    await store.addCredits("acme", { amount: 5n, now: NOW, note: "thanks" });
    const second = await store.changesSince(first.rev);
    assertEquals(second.keys[0].spendLimit, spendLimit);
    assertEquals(second.keys[0].models, ["a/*"]);
    assertEquals(second.keys[0].revokedAt, NOW);
    assertEquals(second.accounts, [{ name: "acme", unlimited: false }]);
  });

  test("changesSince() tells the revision of a store that has lost its last changes, which is lower", async (store) => {
    await store.insertKey(storedKey("k1"), "hash1");
    const { rev } = await store.changesSince(0);
    assert(rev > 0);
    const { rev: now, keys } = await store.changesSince(rev + 5);
    assertEquals([now, keys], [rev, []]);
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
    await store.updateKey("k1", (key) => ({ ...key, name: "dev", revokedAt: NOW }));
    await store.insertKey(storedKey("k2", { name: "dev" }), "hash2");
    assertEquals((await store.keyByHash("hash2"))?.id, "k2");
    assertEquals(await store.updateKey("k3", () => storedKey("k3")), false);
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
    const other = another();
    await other.prepare();
    const made = await Promise.all(
      [store, other].map((s, i) => s.shared("pepper", () => `made by ${i}`)),
    );
    assertEquals(made[0], made[1]);
  });

  test("shared() asks for nothing before the tables are known to be there", async (_store, another) => {
    await assertRejects(() => another().shared("pepper", () => "made"), StoreUnavailable);
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
