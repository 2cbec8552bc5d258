/** Stores as released versions leave them are brought up to date, and everything that was in them is answered as before. */
import { assertEquals, assertObjectMatch, assertRejects } from "@std/assert";
import type { Query } from "../../src/store/engine.ts";
import { verify } from "../../src/store/care/mod.ts";
import { chainKeyOf, type Store } from "../../src/store/mod.ts";
import { codeOf, configOf, endOf, NOON, open, requestOf } from "../accounts/support.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { NODE_010, registerNode010, restore010 } from "../support/released.ts";
import released from "../support/released/0.1.0.json" with { type: "json" };

/** What a node writes whose schema has version 3. */
const COLUMNS_OF_V3 =
  "id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status, error_code, " +
  "measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning, " +
  "audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings";

const PEPPER = "pepper of the schema of 0.1.0";
const CONFIG = configOf({ spend_limit: { amount: "50", period: "month" } }, "100");
/** The node that is gone is taken for dead after six heartbeats, of which one comes with every tenth turn. */
const TURNS_UNTIL_DEAD = 71;

onBothEngines(({ name, place }) => {
  function test(title: string, body: (store: Store, here: Place) => Promise<void>): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      try {
        await restore010(here);
        await body(here.open(), here);
      } finally {
        here.remove();
      }
    });
  }

  test("a store of 0.1.0 answers as 0.1.0 did, and is proved", async (store, here) => {
    const service = await open(store, CONFIG, { pepper: PEPPER });
    try {
      service.clock.move(3_600_000);
      const ci = await service.authenticate("sk_live_cicicicicicicicicici");
      assertEquals(
        await codeOf(() => service.authenticate("sk_live_gonegonegonegonegone")),
        "invalid_api_key",
      );
      assertEquals(
        await codeOf(() => service.authenticate("sk_live_olderolderolderolder")),
        "invalid_api_key",
      );
      const answers = async () => ({
        byKey: (await service.usage({ by: "key" })).data,
        byModel: (await service.usage({ by: "model" })).data,
        byDay: (await service.usage({ by: "day" })).data,
        credits: await service.credits("acme"),
        status: await service.keyStatus(ci),
        keys: (await service.listKeys()).data.sort((a, b) => a.source + a.id < b.source + b.id ? -1 : 1),
        generations: (await service.generations({})).data,
      });
      // Before, while and after its rows are taken into the sums.
      do assertObjectMatch(await answers(), released); while (await store.buildSums(1));
      const { shown } = await verify(here.address, () => Promise.resolve(chainKeyOf(PEPPER)));
      assertEquals(shown, []);
    } finally {
      await service.close();
    }
  });

  test("a node of an older release goes on writing its records beside this one", async (store, here) => {
    const service = await open(store, CONFIG, { pepper: PEPPER });
    const engine = here.engine();
    try {
      const values = [
        "gen_older",
        NOON,
        "key_a",
        "a",
        "acme",
        "messages",
        "m",
        "m",
        "p",
        0,
        "completed",
        null,
        1,
      ];
      const zeros = new Array(12).fill(0);
      await engine.query(
        `INSERT INTO generations (${COLUMNS_OF_V3}, summed)
         VALUES (${values.concat(zeros, [7, 1, 1, 0]).map((_, i) => `$${i + 1}`).join(", ")}, NULL, NULL, 1)`,
        values.concat(zeros, [7, 1, 1, 0]),
      );
      assertObjectMatch(await service.generation("gen_older"), {
        tags: {},
        session: null,
        team: null,
        price_version: null,
        cache_saved: null,
      });
    } finally {
      await engine.close();
      await service.close();
    }
  });

  test("a store of 0.1.0 goes on counting, and gets back what a dead node held", async (store) => {
    const service = await open(store, CONFIG, { pepper: PEPPER });
    try {
      const ci = await service.authenticate("sk_live_cicicicicicicicicici");
      const request = () => requestOf(ci, 100, { created: NOON });
      assertEquals(await codeOf(() => service.admit(request())), "provider_rate_limited");
      for (let turn = 0; turn < TURNS_UNTIL_DEAD; turn++) await service.tick();
      // A refusal stands for a moment.
      service.clock.move(1000);
      const reservation = await service.admit(request());
      await reservation.settle(endOf({ input: 100 }));
      const { spend } = await service.keyStatus(ci);
      assertEquals([spend.amount, spend.remaining], ["1.023866", "19.476134"]);
      assertEquals((await service.credits("acme")).balance, "111.470124999999");
    } finally {
      await service.close();
    }
  });

  /** What a node of 0.1.0 writes; `summed` is a column that it knows nothing of. */
  const write010 = (query: Query, id: string) =>
    query(
      `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream, status,
         measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, output, reasoning,
         audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone)
       VALUES ('${id}', ${NOON}, 'key_a', 'a', 'acme', 'messages', 'm', 'm', 'p', 0, 'completed',
         1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1, 1, 0)`,
    );

  Deno.test(`${name}: what a registered node of 0.1.0 writes is counted until it leaves, and afterwards none can come`, async () => {
    const here = place();
    await restore010(here, { rows: false });
    const engine = here.engine();
    const store = here.open();
    try {
      await registerNode010(engine);
      await store.prepare();
      const late = async () => Number((await engine.query("SELECT COUNT(*) AS n FROM unsummed"))[0].n);
      await write010(engine.query, "gen_late");
      assertEquals(await late(), 1);
      assertEquals(await store.endUpdate(), name === "postgres");
      await write010(engine.query, "gen_later");
      assertEquals(await late(), 2);
      await store.removeNodes([NODE_010]);
      assertEquals(await store.endUpdate(), true);
      assertEquals(await store.endUpdate(), true);
      // Written down before it was over: that is counted all the same.
      while (await store.buildSums(1));
      const [sum] = await store.sumUsage({ by: ["model"], from: null, to: null });
      assertEquals([sum.generations, sum.input], [2, 10]);
      if (name === "sqlite") await assertRejects(() => registerNode010(engine), Error, "newer release");
      await store.registerNode("node_new");
    } finally {
      await store.close();
      await engine.close();
      here.remove();
    }
  });

  Deno.test(`${name}: a store that no node of 0.1.0 is registered on keeps nothing for one`, async () => {
    for (const released of [true, false]) {
      const here = place();
      if (released) await restore010(here, { rows: false });
      const engine = here.engine();
      const store = here.open();
      try {
        await store.prepare();
        if (engine.kind === "sqlite") {
          const rows = await engine.query(
            "SELECT name FROM sqlite_schema WHERE name IN ('generations_unsummed', 'generations_by_model')",
          );
          assertEquals(rows, []);
          await assertRejects(() => registerNode010(engine), Error, "newer release");
        }
        await store.registerNode("node_new");
        assertEquals(await store.endUpdate(), true);
      } finally {
        await store.close();
        await engine.close();
        here.remove();
      }
    }
  });
});
