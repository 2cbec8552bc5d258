/** Every record stands in its node's chain of the day: what is done to the rows behind the gateway's back shows, with its place. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { contentOf } from "../../src/store/chain/links.ts";
import { encodeRecord, type Generation } from "../../src/store/mod.ts";
import { contentOfRow, decodeRecord } from "../../src/store/records.ts";
import { NOW } from "./samples.ts";
import { DAY, fill, kinds, onLedger, PLAIN, summed } from "./ledger_bench.ts";

/** What is recorded of a call whose node seems to have died. */
const PRESUMED: Partial<Generation> = {
  status: "interrupted",
  usage: null,
  provider: null,
  cost: 0n,
  ttftMs: null,
  latencyMs: 0,
};

const text = fc.string({ unit: "binary", maxLength: 12 }).map((t) =>
  // As records are cleaned: PostgreSQL has no place for NUL, UTF-8 none for half a pair.
  t.replaceAll("\0", "").toWellFormed()
);
const count = fc.oneof(fc.nat(), fc.constant(2 ** 53 - 1));
const money = fc.bigInt(-(2n ** 62n), 2n ** 62n);
const generations: fc.Arbitrary<Generation> = fc.record({
  id: fc.uuid().map((id) => `gen_${id}`),
  created: fc.nat(3 * DAY - 1).map((ms) => NOW + ms),
  keyId: text,
  key: text,
  account: text,
  format: fc.constantFrom("chat", "messages", "responses"),
  requestedModel: text,
  model: text,
  provider: fc.option(text),
  stream: fc.boolean(),
  status: fc.constantFrom("completed", "incomplete", "failed"),
  errorCode: fc.option(text),
  usage: fc.option(
    fc.record({ input: count, output: count, cached: count }).map((u) => ({ ...NO_USAGE, ...u })),
  ),
  estimated: fc.boolean(),
  searches: fc.nat(9),
  cost: fc.bigInt(0n, 2n ** 62n),
  ttftMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  latencyMs: fc.double({ min: -5, max: 1e6, noNaN: true }),
  clientGone: fc.boolean(),
  dlp: fc.option(fc.record({ mode: text, findings: fc.nat() })),
  tags: fc.option(fc.dictionary(text, text, { maxKeys: 3 })),
  session: fc.option(text),
  team: fc.option(text),
  priceVersion: fc.option(text),
  cacheSaved: fc.option(money),
  toolCalls: fc.option(fc.nat()),
  listCost: fc.option(fc.bigInt(0n, 2n ** 62n)),
}) as fc.Arbitrary<Generation>;

Deno.test("contentOf() is the same whether a later release's columns are missing or null", () => {
  assertEquals(contentOf('["a",1,null,"b"]'), '["a",1,null,"b"]');
  assertEquals(contentOf('["a",1,null,"b",null,null]'), '["a",1,null,"b"]');
  assertEquals(contentOf('["a",null]'), '["a"]');
  assertEquals(contentOf('["a",",null"]'), '["a",",null"]');
});

onLedger((test) => {
  test("an untouched ledger is intact, and another key proves nothing", async (bench) => {
    await fill(bench);
    const proof = await bench.proof();
    assertEquals([proof.faults, proof.records, proof.chained, proof.chains], [0, 15, 15, 4]);
    assertEquals([proof.unchained, proof.daysSummed], [0, 2]);
    const other = await bench.proof("another key");
    assertEquals([other.chained, other.faults], [0, 15 + 4]);
  });

  test("records of every content are read back as they were chained", async ({ store, here, proof }) => {
    await store.registerNode("node_a");
    const sample = fc.sample(generations, { numRuns: 150, seed: 7 });
    const records = sample.map((g) => encodeRecord(g));
    for (const [i, record] of records.entries()) assertEquals(decodeRecord(record.json).id, sample[i].id);
    for (let i = 0; i < records.length; i += 50) {
      await store.sync({
        node: "node_a",
        seq: i + 1,
        now: NOW,
        records: records.slice(i, i + 50),
        leases: [],
      });
    }
    const engine = here.engine();
    const rows = await engine.query("SELECT * FROM generations");
    await engine.close();
    const byId = new Map(rows.map((row) => [row.id, contentOfRow(row)]));
    for (const record of records) assertEquals(byId.get(record.id), contentOf(record.json));
    assertEquals((await proof()).shown.filter(({ kind }) => kind !== "sums differ"), []);
  });

  const CHANGES: [title: string, sql: string, expected: unknown[], sums: string[]][] = [
    ["a cost changed", "UPDATE generations SET cost = 4 WHERE id = 'gen_1'", [["changed", "node_a", 1]], [
      "cost",
    ]],
    [
      "a cost moved to another account",
      "UPDATE generations SET account = 'other' WHERE id = 'gen_6'",
      [["changed", "node_a", 3]],
      [],
    ],
    ["a time changed", "UPDATE generations SET created = created + 1 WHERE id = 'gen_1'", [[
      "changed",
      "node_a",
      1,
    ]], []],
    [
      "a label added",
      "UPDATE generations SET team = 'x' WHERE id = 'gen_11'",
      [["changed", "node_a", 5]],
      [],
    ],
    [
      "a record removed",
      "DELETE FROM generations WHERE id = 'gen_6'",
      [["removed", "node_a", 3]],
      ["cached", "cost", "generations", "input", "output"],
    ],
    [
      "the last one removed",
      "DELETE FROM generations WHERE id = 'gen_14'",
      [["removed", "node_b", 3]],
      ["cached", "cost", "generations", "input", "output"],
    ],
    [
      "one put in without a link",
      `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, stream, status,
         measured, searches, cost, latency_ms, client_gone, summed)
       VALUES ('gen_x', ${NOW}, 'key_1', 'dev', 'acme', 'chat', 'm', 'm', 0, 'completed', 1, 0, 0, 1, 0, 1)`,
      [["unchained", null, null]],
      ["generations"],
    ],
    [
      "one put in with the link of another",
      `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, stream, status,
         measured, searches, cost, latency_ms, client_gone, summed, chain)
       SELECT 'gen_x', created + 1, key_id, key_name, account, format, requested_model, model, stream, status,
         measured, searches, 0, latency_ms, client_gone, summed, chain FROM generations WHERE id = 'gen_1'`,
      [["inserted", "node_a", 1]],
      ["generations"],
    ],
    [
      "a link that is none",
      "UPDATE generations SET chain = 'nonsense' WHERE id = 'gen_1'",
      [["inserted", null, null], ["removed", "node_a", 1]],
      [],
    ],
    [
      "a link taken away",
      "UPDATE generations SET chain = NULL WHERE id = 'gen_1'",
      [["unchained", null, null], ["removed", "node_a", 1]],
      [],
    ],
    [
      "a chain's end moved back",
      "UPDATE chains SET length = length - 1 WHERE node = 'node_b' AND day < 1768435200000",
      [["end changed", "node_b", 2], ["inserted", "node_b", 3]],
      [],
    ],
    ["sums changed", "UPDATE sums SET cost = cost + 1 WHERE kind = 'day' AND starts > 1768435100000", [], [
      "cost",
    ]],
  ];
  for (const [title, sql, expected, sums] of CHANGES) {
    test(`${title} shows, with its place`, async (bench) => {
      await fill(bench);
      await bench.behind((query) => query(sql));
      const proof = await bench.proof();
      const found = kinds(proof);
      assertEquals(found.sort(), [...expected].sort());
      assertEquals(summed(proof), sums);
    });
  }

  test("two records that changed places show", async (bench) => {
    await fill(bench);
    await bench.behind(async (query) => {
      const [a, b] = await query(
        "SELECT id, chain FROM generations WHERE id IN ('gen_1', 'gen_3') ORDER BY id",
      );
      await query("UPDATE generations SET chain = $2 WHERE id = $1", [a.id, b.chain]);
      await query("UPDATE generations SET chain = $2 WHERE id = $1", [b.id, a.chain]);
    });
    // What stands behind them was chained to hashes that are still there.
    assertEquals(kinds(await bench.proof()).sort(), [["changed", "node_a", 1], ["changed", "node_a", 2]]);
  });

  test("a chain that was removed with its records shows by the sums", async (bench) => {
    await fill(bench);
    await bench.behind(async (query) => {
      const [{ id }] = await query("SELECT id FROM chains WHERE node = 'node_b' AND day >= 1768435200000");
      await query("DELETE FROM generations WHERE chain LIKE $1", [`${id} %`]);
      await query("DELETE FROM chains WHERE id = $1", [id]);
    });
    const proof = await bench.proof();
    assertEquals([kinds(proof), summed(proof).includes("cost")], [[], true]);
  });

  test("sums and budgets that somebody changes show, of each kind, also where no record is left", async (bench) => {
    await fill(bench);
    const budget = {
      scope: "key",
      owner: PLAIN.keyId,
      starts: NOW - NOW % DAY,
      ends: NOW - NOW % DAY + DAY,
    } as const;
    const owners = [
      ["s:one", "session", `${PLAIN.keyId}\nrun`],
      ["g:one", "tag", `${PLAIN.keyId}\nenv\nprod`],
      ["m:one", "team", "red"],
    ] as const;
    const leases = [
      { budget: { id: "k:one", limit: 100n, ...budget }, floor: 1n, exact: false },
      ...owners.map(([id, scope, owner]) => ({
        budget: { id, scope, owner, starts: 0, ends: null, limit: 100n },
        floor: 1n,
        exact: false,
      })),
    ];
    await bench.record("node_a", { id: "gen_labelled", session: "run", tags: { env: "prod" }, team: "red" });
    await bench.store.addCredits("acme", { amount: 50n, now: NOW, note: null });
    await bench.store.registerNode("n");
    await bench.store.sync({ node: "n", seq: 1, now: NOW, records: [], leases });
    while (await bench.store.retireSome(NOW, 100));
    assertEquals((await bench.proof()).faults, 0);
    const shown = async () =>
      (await bench.proof()).shown.map((fault) =>
        [
          fault.kind,
          "sums" in fault && fault.kind === "sums disagree" ? fault.sums : null,
        ].join(" ")
      ).sort();
    // Whatever is changed is put back, and then nothing shows.
    const changes: [change: string, ...shown: string[]][] = [
      [
        "UPDATE sums SET cost = cost + $1 WHERE kind = 'day' AND starts < $2",
        "sums disagree day",
        "sums disagree budget",
      ],
      ["UPDATE sums SET cost = cost + $1 WHERE kind = 'keys' AND starts < $2", "sums disagree keys"],
      ["UPDATE sums SET output = output + $1 WHERE kind = 'month'", "sums disagree month"],
      ["UPDATE sums SET failed = failed + $1 WHERE kind = 'models'", "sums disagree models"],
      ["UPDATE sums SET generations = generations + $1 WHERE kind = 'routes'", "sums disagree routes"],
      ["UPDATE budgets SET spent = spent - $1 WHERE scope = 'account'", "sums disagree budget"],
      ["UPDATE budgets SET spent = spent - $1 WHERE scope = 'key'", "sums disagree budget"],
      ["UPDATE budgets SET spent = spent - $1 WHERE scope = 'session'", "sums disagree budget"],
      ["UPDATE budgets SET spent = spent - $1 WHERE scope = 'tag'", "sums disagree budget"],
      ["UPDATE budgets SET spent = spent + $1 WHERE scope = 'team'", "sums disagree budget"],
      ["UPDATE accounts SET added = added + $1", "sums disagree credits"],
      ["UPDATE credit_additions SET amount = amount + $1", "sums disagree credits"],
      [
        "UPDATE sums SET cost = cost + $1 WHERE kind = 'keys' AND starts >= $2",
        "sums differ ",
        "sums disagree keys",
      ],
    ];
    for (const [change, ...expected] of changes) {
      const run = (by: number) =>
        bench.behind((query) => query(change, change.includes("$2") ? [by, NOW - NOW % DAY] : [by]));
      await run(7);
      assertEquals(await shown(), expected.sort(), change);
      await run(-7);
      assertEquals(await shown(), [], change);
    }
    // An account without its budget has all of its credits again.
    await bench.behind((query) => query("UPDATE budgets SET id = 'a:gone' WHERE id = 'a:acme'"));
    assertEquals(await shown(), ["sums disagree budget"]);
    await bench.behind((query) => query("UPDATE budgets SET id = 'a:acme' WHERE id = 'a:gone'"));
    // From one key to another, in all kinds: the records know better.
    await bench.behind((query) =>
      query("UPDATE sums SET key_id = 'key_other' WHERE kind <> 'day' AND starts >= $1", [NOW - NOW % DAY])
    );
    assert((await shown()).includes("sums differ "));
  });

  test("a record that comes twice has one link", async (bench) => {
    await bench.record("node_a", { id: "gen_twice" }, { id: "gen_b" });
    await bench.record("node_a", { id: "gen_c" }, { id: "gen_twice" }, { id: "gen_d", created: NOW + DAY });
    await bench.record("node_b", { id: "gen_twice" }, { id: "gen_b" });
    await bench.record("node_b", { id: "gen_e" }, { id: "gen_e" });
    const proof = await bench.proof();
    assertEquals([proof.faults, proof.records, proof.chained], [0, 5, 5]);
  });

  test("a real end that replaces a presumed one, and one that is withdrawn, leave a note", async (bench) => {
    await bench.record("node_a", { id: "gen_1" });
    await bench.record("node_b", { id: "gen_x", ...PRESUMED }, { id: "gen_2" }, { id: "gen_y", ...PRESUMED });
    await bench.record("node_a", { id: "gen_3" }, { id: "gen_x" }, { id: "gen_1" });
    await bench.store.sync({
      node: "node_a",
      seq: 3,
      now: NOW,
      records: [],
      leases: [],
      released: ["gen_y"],
    });
    await bench.record("node_b", { id: "gen_4" });
    const proof = await bench.proof();
    assertEquals([proof.shown, proof.records, proof.replaced], [[], 5, 2]);
    await bench.behind((query) => query("UPDATE removed SET data = '[]' WHERE id = 'gen_y'"));
    assertEquals(kinds(await bench.proof()), [["note changed", null, null], ["removed", "node_b", 3]]);
    await bench.behind((query) => query("DELETE FROM removed WHERE id = 'gen_x'"));
    assertEquals(kinds(await bench.proof()).filter(([kind]) => kind === "removed"), [
      ["removed", "node_b", 1],
      ["removed", "node_b", 3],
    ]);
  });

  test("records that retention deletes are not missed, those of the same chain's other days are", async (bench) => {
    await fill(bench);
    await bench.record("node_b", { id: "gen_x", ...PRESUMED, created: NOW - DAY });
    await bench.record("node_a", { id: "gen_x", created: NOW - DAY });
    while (await bench.store.retireSome(NOW, 2) > 0);
    const proof = await bench.proof();
    assertEquals([proof.shown, proof.records, proof.replaced], [[], 9, 0]);
    assertEquals(proof.retiredBefore, NOW - DAY / 2);
    await bench.behind((query) => query("DELETE FROM generations WHERE id = 'gen_1'"));
    assertEquals(kinds(await bench.proof()), [["removed", "node_a", 1]]);
  });

  test("what a node of 0.1.0 writes is chained when it is taken into the sums", async (bench) => {
    await bench.record("node_a", {});
    await bench.behind((query) =>
      query(
        `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, stream, status,
           measured, searches, cost, latency_ms, client_gone)
         VALUES ('gen_old', ${NOW}, 'key_1', 'dev', 'acme', 'chat', 'm', 'm', 0, 'completed', 1, 0, 9, 1, 0)`,
      )
    );
    await bench.behind((query) => query("UPDATE budgets SET spent = spent + 9 WHERE id = 'a:acme'"));
    const before = await bench.proof();
    assertEquals([before.shown, before.records, before.chained, before.daysSummed], [[], 2, 1, 0]);
    while (await bench.store.buildSums(10));
    const after = await bench.proof();
    assertEquals([after.shown, after.chained, after.daysSummed], [[], 2, 1]);
  }, { older: true });
});
