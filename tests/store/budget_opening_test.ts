/** The budget of a key with many records of 0.1.0 is exact, whatever is written and summed up while they are counted. */
import { assertEquals } from "@std/assert";
import { openBudget } from "../../src/store/budget_opening.ts";
import type { Query } from "../../src/store/engine.ts";
import { encodeRecord } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { registerNode010, restore010 } from "../support/released.ts";
import { generation, NOW } from "./samples.ts";

const DAY = 86_400_000;
const ROWS = 600;
const COST = 1000;

onBothEngines(({ name, place }) => {
  for (const when of [1, 2, 3, 4]) {
    Deno.test(`${name}: a key's budget counts each record once that is summed up or written at its ${when}. read`, async () => {
      const here = place();
      await restore010(here, { rows: false });
      const engine = here.engine();
      const old = (id: string, created: number, key = "key_1") =>
        engine.query(
          `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider,
             stream, status, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input,
             output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone)
           VALUES ('${id}', ${created}, '${key}', 'dev', 'acme', 'messages', 'm', 'a/b', 'p', 0, 'completed', 1, 1, 0, 0,
             0, 0, 0, 0, 0, 0, 0, 0, 0, ${COST}, 1, 1, 0)`,
        );
      const today = NOW - NOW % DAY;
      for (let i = 0; i < ROWS; i++) {
        await old(`gen_old${i}`, today + i * 1000, i % 3 === 0 ? "key_2" : "key_1");
      }
      await old("gen_before", today - 1);
      await registerNode010(engine);
      const store = here.open();
      try {
        await store.prepare();
        await store.registerNode("node");
        let seq = 0;
        let reads = 0;
        /** What others do meanwhile: records are summed up, a node of each release writes one. */
        const meanwhile = async () => {
          for (let step = 0; step < 3; step++) await store.buildSums(60);
          // Between those that are summed up and those that are not.
          await old("gen_late", today + 450_500);
          const record = encodeRecord(generation("gen_new", { created: today + 100, cost: BigInt(COST) }));
          await store.sync({ node: "node", seq: ++seq, now: NOW, records: [record], leases: [] });
          await store.buildSums(60);
        };
        const read: Query = async (sql, params) => {
          const rows = await engine.query(sql, params);
          if (++reads === when) await meanwhile();
          return rows;
        };
        const budget = { id: "k:1", scope: "key", owner: "key_1", starts: today, ends: today + DAY } as const;
        await openBudget(engine, read, { ...budget, limit: 10n });
        const spent = async () =>
          Number((await engine.query("SELECT spent FROM budgets WHERE id = 'k:1'"))[0].spent);
        assertEquals(await spent(), (ROWS / 3 * 2 + 2) * COST);
        // Once more changes nothing.
        await openBudget(engine, engine.query, { ...budget, limit: 10n });
        while (await store.buildSums(500));
        assertEquals(await spent(), (ROWS / 3 * 2 + 2) * COST);
        const [sum] = await store.sumUsage({ by: ["key"], from: today, to: null, keyId: "key_1" });
        assertEquals(Number(sum.cost), (ROWS / 3 * 2 + 2) * COST);
      } finally {
        await engine.close();
        await store.close();
        here.remove();
      }
    });
  }
});
