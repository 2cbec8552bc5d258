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
import {
  encodeRecord,
  type Generation,
  type Store,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageFilter,
} from "../../src/store/mod.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { sumUsage } from "../../src/store/usage.ts";
import { onBothEngines } from "../support/cluster.ts";
import { NODE_010, registerNode010, restore010 } from "../support/released.ts";

const DAY = 86_400_000;
/** The end of January: spans of days, months and parts of both lie around it. */
const MIDDLE = Date.UTC(2026, 0, 31, 12);
const SPAN = 70 * DAY;

interface Spec {
  at: number;
  key: number;
  model: number;
  provider: number;
  failed: boolean;
  tokens: number;
  cost: bigint;
  team?: number;
  session?: number;
  tag?: number;
  saved?: bigint;
}

const spec: fc.Arbitrary<Spec> = fc.record({
  at: fc.integer({ min: -SPAN, max: SPAN }),
  key: fc.integer({ min: 0, max: 2 }),
  model: fc.integer({ min: 0, max: 1 }),
  provider: fc.integer({ min: 0, max: 2 }),
  failed: fc.boolean(),
  tokens: fc.integer({ min: 0, max: 1000 }),
  cost: fc.bigInt({ min: 0n, max: 10n ** 13n }),
});

const labelled: fc.Arbitrary<Spec> = fc.tuple(
  spec,
  fc.record({
    team: fc.integer({ min: 0, max: 2 }),
    session: fc.integer({ min: 0, max: 3 }),
    tag: fc.integer({ min: 0, max: 3 }),
    saved: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 18n }),
  }),
).map(([plain, labels]) => ({ ...plain, ...labels }));

function generationOf(id: string, s: Spec): Generation {
  return {
    id,
    created: MIDDLE + s.at,
    keyId: `key_${s.key}`,
    key: `name${s.key}`,
    account: `account${s.key % 2}`,
    format: "messages",
    requestedModel: "x",
    model: `a/${s.model}`,
    provider: s.provider === 0 ? null : `p${s.provider}`,
    stream: false,
    status: s.failed ? "failed" : "completed",
    errorCode: null,
    usage: s.tokens === 0
      ? null
      : { ...NO_USAGE, input: s.tokens, cached: 1, output: 2 * s.tokens, reasoning: 3 },
    estimated: false,
    searches: s.tokens % 3,
    cost: s.cost,
    ttftMs: null,
    latencyMs: 1,
    clientGone: false,
    dlp: null,
    tags: s.tag ? { env: `v${s.tag}`, ...(s.tag > 1 && { it: 'quoted "value"' }) } : null,
    session: s.session ? `s${s.session}` : null,
    team: s.team ? `t${s.team}` : null,
    priceVersion: null,
    cacheSaved: s.saved ?? null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
  };
}

const COLUMNS_OF_010 =
  "id, created, key_id, key_name, account, format, requested_model, model, provider, stream, " +
  "status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, " +
  "output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings";

/** Writes generations as a node of 0.1.0 does. */
async function writeAs010(engine: Engine, generations: readonly Generation[]): Promise<void> {
  for (const g of generations) {
    const values = JSON.parse(encodeRecord(g).json).slice(0, 31);
    await engine.query(
      `INSERT INTO generations (${COLUMNS_OF_010}) VALUES (${
        values.map((_: unknown, i: number) => `$${i + 1}`).join(", ")
      })
       ON CONFLICT (id) DO NOTHING`,
      values,
    );
  }
}

/** Groups to what they sum up, as the rows themselves say. */
function expected(all: readonly Generation[], { by, from, to, keyId }: UsageFilter): Map<string, string> {
  const sums = new Map<
    string,
    { generations: number; failed: number; input: number; searches: number; cost: bigint; saved: bigint }
  >();
  for (const g of all) {
    if (g.created < (from ?? 0) || g.created >= (to ?? Infinity)) continue;
    if (keyId !== undefined && g.keyId !== keyId) continue;
    const of: Partial<Record<UsageDimension, string>> = {
      team: g.team ?? "",
      session: g.session ?? "",
      "tag:env": g.tags?.env ?? "",
      "tag:it": g.tags?.it ?? "",
      key: g.keyId,
      model: g.model,
      day: new Date(g.created).toISOString().slice(0, 10),
      account: g.account,
      provider: g.provider ?? "",
      format: g.format,
    };
    const name = by.map((dimension) => of[dimension]).join(" ");
    const sum = sums.get(name) ?? { generations: 0, failed: 0, input: 0, searches: 0, cost: 0n, saved: 0n };
    sums.set(name, sum);
    sum.generations++;
    if (g.status === "failed") sum.failed++;
    sum.input += g.usage?.input ?? 0;
    sum.searches += g.searches;
    sum.cost += g.cost;
    sum.saved += g.cacheSaved ?? 0n;
  }
  return new Map([...sums].map(([name, s]) => [name, Object.values(s).join(" ")]));
}

async function actual(store: Store, filter: UsageFilter): Promise<Map<string, string>> {
  return new Map((await store.sumUsage(filter)).map(({ of, ...s }) => [
    filter.by.map((name) => name === "key" ? of.keyId : of[name]).join(" "),
    [s.generations, s.failed, s.input, s.searches, s.cost, s.cacheSaved].join(" "),
  ]));
}

const dimension: fc.Arbitrary<UsageDimension> = fc.constantFrom(
  ...USAGE_DIMENSIONS.filter((name) => name !== "tag:NAME"),
  "tag:env",
  "tag:it",
);
const time = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -SPAN, max: SPAN }).map((at) => MIDDLE + at),
  // Beginnings of days and months.
  fc.integer({ min: -70, max: 70 }).map((day) => Math.floor(MIDDLE / DAY) * DAY + day * DAY),
  fc.integer({ min: -3, max: 3 }).map((month) => Date.UTC(2026, month, 1)),
);
const filters = fc.record({
  by: fc.uniqueArray(dimension, { minLength: 1, maxLength: 2 }),
  from: time,
  to: time,
  keyId: fc.oneof(fc.constant(undefined), fc.constant("key_1")),
});

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
