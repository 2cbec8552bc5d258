/** A budget that is made while records of its owner are on their way begins with all of them, and makes nobody wait for long. */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import type { Engine, Query } from "../../src/store/engine.ts";
import { encodeRecord } from "../../src/store/mod.ts";
import { sync } from "../../src/store/sync.ts";
import { onCluster, postgresPlace } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { generation, NOW } from "./samples.ts";
import { keyBudget, nodeOf } from "./support.ts";

/** An engine whose transactions stop behind the statement that locks budgets, until they are let go on. */
function stopping(engine: Engine, stopped: () => Promise<void>): Engine {
  const watched = (query: Query): Query => async (sql, params) => {
    const rows = await query(sql, params);
    if (/FROM budgets\s/.test(sql) && sql.includes("FOR UPDATE")) await stopped();
    return rows;
  };
  return new Proxy(engine, {
    get(engine, name) {
      const value = Reflect.get(engine, name, engine);
      if (name === "transaction") {
        return (work: (query: Query) => Promise<unknown>) =>
          engine.transaction((query) => work(watched(query)));
      }
      return typeof value === "function" ? value.bind(engine) : value;
    },
  });
}

onCluster((cluster) => {
  Deno.test("postgres: a budget that is made while records are written begins with them", async () => {
    const place = postgresPlace(cluster);
    const [store, engine] = [place.open(), place.engine()];
    try {
      await store.prepare();
      for (const node of ["a", "b"]) await store.registerNode(node);
      const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = stopping(engine, async () => {
        reached.resolve();
        await goOn.promise;
      });
      const records = [encodeRecord(generation("g1", { cost: 20n }))];
      // The account's budget is there, so that the first try is the one that writes.
      await nodeOf(store, "b").record(generation("g0", { cost: 1n, keyId: "key_2" }));
      const recorded = sync(slow, { node: "a", seq: 1, now: NOW, records, leases: [] }, "");
      await reached.promise;
      let made = false;
      const b = nodeOf(store, "b");
      await b.at(5);
      const asked = store.sync({
        node: "b",
        seq: 6,
        now: NOW,
        records: [],
        leases: [{ budget: keyBudget(100n), floor: 1n, exact: false }],
      }).finally(() => made = true);
      const waits = async () =>
        Number(
          (await engine.query("SELECT COUNT(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))[0]
            .n,
        ) > 0;
      await eventually(async () => made || await waits());
      goOn.resolve();
      await recorded;
      assertEquals((await asked).grants[0].spent, 20n);
      const again = { budget: keyBudget(100n), floor: 1n, exact: false };
      const { grants } = await store.sync({ node: "b", seq: 7, now: NOW, records: [], leases: [again] });
      assertEquals(grants[0].spent, 20n);
    } finally {
      await engine.close();
      await store.close();
      place.remove();
    }
  });

  Deno.test("postgres: a budget can be made, and records written, while the table of records is cleaned up", async () => {
    const place = postgresPlace(cluster);
    const store = place.open();
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    try {
      await store.prepare();
      await store.registerNode("a");
      const a = nodeOf(store, "a");
      await a.record(generation("g1", { cost: 20n }));
      await sql.begin(async (tx) => {
        // The lock of VACUUM, of ANALYZE, and of an index that is made beside writers.
        await tx.unsafe(
          `LOCK TABLE ${place.address.schema}.generations IN SHARE UPDATE EXCLUSIVE MODE`,
        );
        assertEquals((await a.ask(keyBudget(100n), 1n)).spent, 20n);
        await a.record(generation("g2", { cost: 3n }));
      });
      assertEquals((await a.ask(keyBudget(100n), 1n)).spent, 23n);
    } finally {
      await sql.end();
      await store.close();
      place.remove();
    }
  });
});
