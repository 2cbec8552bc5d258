/** Budgets that nodes share by leases: what they are given, what they spend, and what comes back. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { accountBudget, decodeRecord, encodeRecord, StaleSync } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation, NOW } from "./samples.ts";
import { keyBudget, nodeOf, rate, testsOn } from "./support.ts";

const DAY = 86_400_000;

onBothEngines((ground) => {
  const test = testsOn(ground);

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

  test("sync() takes what a dead node's records cost off that node's leases, and not off those of the node that delivers them", async (store) => {
    for (const name of ["dead", "b", "c"]) await store.registerNode(name);
    const [dead, b, c] = ["dead", "b", "c"].map((name) => nodeOf(store, name));
    await dead.ask(keyBudget(100n), 60n, { exact: true });
    assertEquals((await b.ask(keyBudget(100n), 40n)).amount, 40n);
    const left = { ...decodeRecord(encodeRecord(generation("g1", { cost: 25n })).json), holder: "dead" };
    await b.deliver([left]);
    // Of the dead node's 60 there are 35 left, of the other's all.
    const grant = await c.ask(keyBudget(100n), 10n);
    assertEquals([grant.amount, grant.spent, grant.others], [0n, 25n, 75n]);
    await store.removeNodes(["dead"]);
    assertEquals((await c.ask(keyBudget(100n), 1000n)).amount, 35n);
    assertEquals((await b.ask(keyBudget(100n), 40n)).amount, 40n);
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
});
