/**
 * Sums by day against sums of the rows themselves: over any span, whoever wrote the rows, and however far a store of the
 * release before has been taken in.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createBudgets } from "../../src/store/budgets.ts";
import type { Engine, Query } from "../../src/store/engine.ts";
import { keyUse } from "../../src/store/key_use.ts";
import { ofLabel } from "../../src/store/labels.ts";
import { encodeRecord, type Generation } from "../../src/store/mod.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { sumUsage } from "../../src/store/usage.ts";
import { onBothEngines } from "../support/cluster.ts";
import { NODE_010, registerNode010, restore010 } from "../support/released.ts";
import {
  actual,
  DAY,
  expected,
  filters,
  generationOf,
  labelled,
  MIDDLE,
  type Spec,
  spec,
  writeAs010,
} from "./sums_model.ts";

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: sums are those of the rows, whoever wrote them and however many are taken in`, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(spec, { maxLength: 12 }),
        fc.array(spec, { maxLength: 6 }),
        fc.array(labelled, { maxLength: 6 }),
        fc.array(filters, { minLength: 12, maxLength: 12 }),
        async (before, beside, after, asked) => {
          run++;
          const of = (kind: string, specs: Spec[]) =>
            specs.map((s, i) => generationOf(`${kind}${run}_${i}`, s));
          const all: Generation[] = [];
          const here = place();
          await restore010(here, { rows: false });
          const engine = here.engine();
          const store = here.open();
          const check = async () => {
            for (const filter of asked) assertEquals(await actual(store, filter), expected(all, filter));
          };
          try {
            all.push(...of("old", before));
            await writeAs010(engine, all);
            await registerNode010(engine);
            await store.prepare();
            await check();
            await store.registerNode("n");
            const records = of("new", after);
            await store.sync({
              node: "n",
              seq: 1,
              now: MIDDLE,
              records: records.map(encodeRecord),
              leases: [],
            });
            all.push(...records);
            const late = of("beside", beside);
            await writeAs010(engine, late);
            await writeAs010(engine, late);
            all.push(...late);
            do await check(); while (await store.buildSums(4));
            await check();
            assertEquals(await store.buildSums(4), false);
            // A second node that sends the same records again adds nothing.
            await store.sync({ node: "n", seq: 2, now: MIDDLE, records: all.map(encodeRecord), leases: [] });
            await check();
          } finally {
            await store.close();
            await engine.close();
            here.remove();
          }
        },
      ),
      { numRuns: name === "sqlite" ? 25 : 8 },
    );
  });

  Deno.test(`${name}: sums by any two dimensions begin and end within a day where their span does`, async () => {
    const here = place();
    const store = here.open();
    const NOON = Date.UTC(2026, 0, 31, 12);
    const HOUR = 3_600_000;
    const plain = { key: 1, model: 0, provider: 1, failed: false, tokens: 10, team: 1, session: 1, tag: 2 };
    const all = [-30, -3, -1, 0, 2, 5, 30].map((hours, i) =>
      generationOf(`g${i}`, { ...plain, at: NOON + hours * HOUR - MIDDLE, cost: 10n ** BigInt(i) })
    );
    try {
      await store.prepare();
      await store.registerNode("n");
      await store.sync({ node: "n", seq: 1, now: MIDDLE, records: all.map(encodeRecord), leases: [] });
      const times = [null, -50, -30, -2, -1, 0, 1, 3, 12, 20, 50].map((hours) =>
        hours === null ? null : NOON + hours * HOUR
      );
      const dimensions = ["key", "model", "day", "team", "session", "tag:env", "tag:it"] as const;
      const pairs = dimensions.flatMap((a, i) => dimensions.slice(i + 1).map((b) => [a, b]));
      for (const by of pairs) {
        for (const from of times) {
          for (const to of times) {
            if (from !== null && to !== null && from >= to) continue;
            const filter = { by, from, to };
            assertEquals(await actual(store, filter), expected(all, filter), `${by} ${from} ${to}`);
          }
        }
      }
    } finally {
      await store.close();
      here.remove();
    }
  });

  Deno.test(`${name}: what one session spent is found by its name, whatever the table holds when the plan is made`, async () => {
    const here = place();
    const store = here.open();
    const engine = here.engine();
    try {
      await store.prepare();
      const plan = engine.kind === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
      const rows = await engine.transaction(async (query) => {
        if (engine.kind === "postgres") await query("SET LOCAL enable_seqscan = off");
        return await query(
          `${plan} SELECT cost FROM label_sums WHERE ${ofLabel("'session'", "'s1'")} AND starts >= 0`,
        );
      });
      const text = rows.map((row) => Object.values(row).join(" ")).join("\n");
      assertMatch(text, /label_sums_pkey|PRIMARY KEY \(label=\? AND value=\?/);
      assertEquals(text.includes("label_sums_by_day"), false, text);
    } finally {
      await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: what keys used is found by the index of keys, not among the days of all keys`, async () => {
    const here = place();
    const store = here.open();
    const engine = here.engine();
    try {
      await store.prepare();
      const plans: string[] = [];
      const explained: Query = async (sql, params) => {
        if (sql.includes("sums AS s")) {
          const rows = await engine.transaction(async (query) => {
            if (engine.kind === "postgres") await query("SET LOCAL enable_seqscan = off");
            return await query(
              `${engine.kind === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN"} ${sql}`,
              params,
            );
          });
          plans.push(rows.map((row) => Object.values(row).join(" ")).join("\n"));
        }
        return await engine.query(sql, params);
      };
      const { kind } = engine;
      await keyUse(engine, explained, [{ id: "key_1", starts: 0, ends: 2 * DAY }]);
      const days = { from: 0, to: 20 * DAY };
      await sumUsage({ kind, query: explained }, { by: ["key"], ...days, keyId: "key_1" });
      await sumUsage({ kind, query: explained }, { by: ["model"], ...days, member: "ada" });
      assertEquals(plans.length, 3);
      for (const plan of plans) {
        assert(plan.includes("sums_of_key") && !/PRIMARY KEY \(kind=\? AND starts>/.test(plan), plan);
      }
    } finally {
      await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: two processes that take in old rows side by side count each once`, async () => {
    const here = place();
    await restore010(here, { rows: false });
    const engine = here.engine();
    const stores = [here.open(), here.open()];
    try {
      const old = Array.from({ length: 40 }, (_, i) =>
        generationOf(`g${i}`, {
          at: i * 1000,
          key: i % 3,
          model: 0,
          provider: 1,
          failed: false,
          tokens: 7,
          cost: 5n,
        }));
      await writeAs010(engine, old.slice(0, 30));
      await registerNode010(engine);
      await stores[0].prepare();
      await writeAs010(engine, old.slice(30));
      await Promise.all(stores.map(async (store) => {
        for (let step = 0; step < 200; step++) await store.buildSums(3);
      }));
      const [sum] = await stores[0].sumUsage({ by: ["model"], from: null, to: null });
      assertEquals([sum.generations, sum.input, sum.cost], [40, 280, 200n]);
      assertEquals(await stores[0].buildSums(3), false);
    } finally {
      for (const store of stores) await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: nothing is retired while rows are missing from the sums or a node of 0.1.0 lives`, async () => {
    const here = place();
    await restore010(here, { rows: false });
    const engine = here.engine();
    const store = here.open();
    try {
      const of = (id: string) =>
        generationOf(id, { at: 0, key: 1, model: 1, provider: 1, failed: false, tokens: 7, cost: 5n });
      await writeAs010(engine, [of("old")]);
      await registerNode010(engine);
      await store.prepare();
      const late = MIDDLE + 100 * DAY;
      assertEquals(await store.retireSome(late, 10), 0);
      while (await store.buildSums(10));
      assertEquals(await store.retireSome(late, 10), 0);
      // As 0.1.0 retires: it would take rows away that only its own sums hold.
      await assertRejects(() =>
        engine.query("INSERT INTO usage_days VALUES (0, 'k', 'k', 'a', 'm', 1, 0, 1, 0, 0, 1, 0, 0, 5)")
      );
      await store.removeNodes([NODE_010]);
      await writeAs010(engine, [of("beside")]);
      assertEquals(await store.retireSome(late, 10), 0);
      while (await store.buildSums(10));
      // A day that is not over when `before` comes stays whole.
      assertEquals(await store.retireSome(MIDDLE + DAY / 4, 10), 0);
      assertEquals(await store.retireSome(MIDDLE + DAY, 10), 2);
      const [sum] = await store.sumUsage({ by: ["key"], from: null, to: null });
      assertEquals([sum.generations, sum.cost], [2, 10n]);
      // Of a retired day no part can be told apart: it counts where it begins.
      const day = MIDDLE - MIDDLE % DAY;
      const count = async (from: number | null, to: number | null) =>
        (await store.sumUsage({ by: ["model"], from, to }))[0]?.generations ?? 0;
      assertEquals(await count(null, day + 1), 2);
      assertEquals(await count(day + 1, null), 0);
      assertEquals(await count(null, day), 0);
    } finally {
      await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: a budget that begins within its period reads no records once all are summed up`, async () => {
    const here = place();
    await restore010(here, { rows: false });
    const engine = here.engine();
    const store = here.open();
    try {
      const old = [0, 1, 2, 40].map((day) =>
        generationOf(`old${day}`, {
          at: -day * DAY,
          key: 1,
          model: day,
          provider: 1,
          failed: false,
          tokens: 7,
          cost: 5n,
        })
      );
      await writeAs010(engine, old);
      await store.prepare();
      const seen: string[] = [];
      const watched: Engine = Object.create(engine, {
        transaction: {
          value: <T>(work: (query: Query) => Promise<T>) =>
            engine.transaction((query) =>
              work((sql, params) => {
                seen.push(sql);
                return query(sql, params);
              })
            ),
        },
      });
      const spent = async (starts: number, ends: number | null) => {
        const id = crypto.randomUUID();
        seen.length = 0;
        await createBudgets(watched, [{ id, scope: "key", owner: "key_1", starts, ends, limit: 100n }]);
        const [row] = await engine.query("SELECT spent FROM budgets WHERE id = $1", [id]);
        return Number(row.spent);
      };
      const month = Date.UTC(2026, 0, 1);
      const spans = async () => [
        await spent(month, Date.UTC(2026, 1, 1)),
        await spent(month - 60 * DAY, null),
        await spent(MIDDLE - MIDDLE % DAY, MIDDLE - MIDDLE % DAY + DAY),
      ];
      assertEquals(await spans(), [15, 20, 5]);
      assert(seen.some((sql) => sql.includes("FROM generations")));
      while (await store.buildSums(10));
      assertEquals(await spans(), [15, 20, 5]);
      assertEquals(seen.filter((sql) => sql.includes("FROM generations")), []);
    } finally {
      await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: sums beyond 64 bits are neither wrong nor a failure`, async () => {
    const here = place();
    const store = here.open();
    try {
      await store.prepare();
      await store.registerNode("n");
      const huge = (id: string, model: number) => ({
        ...generationOf(id, {
          at: model * DAY,
          key: 1,
          model,
          provider: 1,
          failed: false,
          tokens: 1,
          cost: 9n * 10n ** 18n,
        }),
        usage: { ...NO_USAGE, input: 9_007_199_254_740_991 },
      });
      const records = [huge("a", 0), huge("b", 0), huge("c", 1)].map(encodeRecord);
      await store.sync({ node: "n", seq: 1, now: MIDDLE, records, leases: [] });
      await store.sync({ node: "n", seq: 2, now: MIDDLE, records: [encodeRecord(huge("d", 1))], leases: [] });
      const [sum] = await store.sumUsage({ by: ["key"], from: null, to: null });
      // Of each day no more than a row can hold.
      assertEquals(sum.cost, 2n * 9_200_000_000_000_000_000n);
      assertEquals(BigInt(sum.input), BigInt(4 * 9_007_199_254_740_991));
      // A budget that begins with all of it is spent.
      const budget = {
        id: "k:key_1:total",
        scope: "key",
        owner: "key_1",
        starts: 0,
        ends: null,
        limit: 100n,
      } as const;
      const leases = [{ budget, floor: 1n, exact: false }];
      const { grants } = await store.sync({ node: "n", seq: 3, now: MIDDLE, records: [], leases });
      assert(grants[0].spent > 9n * 10n ** 18n);
      assertEquals(grants[0].amount, 0n);
      assert(await store.retireSome(MIDDLE + 10 * DAY, 10) === 4);
    } finally {
      await store.close();
      here.remove();
    }
  });
});
