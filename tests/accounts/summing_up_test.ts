/** What callers and operators see of a large store of 0.1.0 while its records are being summed up: limits hold, sums say what they lack. */
import { assert, assertEquals } from "@std/assert";
import { CONFIG_KEY } from "../../src/accounts/config.ts";
import { csv, wholeTable } from "../../src/console/table.ts";
import { runCommand } from "../../src/commands/accounts.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { restore010 } from "../support/released.ts";
import { codeOf, configOf, endOf, NOON, open, requestOf } from "./support.ts";

const HOUR = 3_600_000;
/** More than are read where a sum is asked for. */
const MANY = 100_000;
const FEW = 1000;
const FEW_SECRET = "sk_live_fewfewfewfewfewfewfewfewfewfewfewfewfew";
const CENT = 10_000_000_000;

/** Records of two keys, evenly over the fourteen days before noon, at a cent each. */
async function fill(here: Place): Promise<void> {
  await restore010(here, { rows: false });
  const engine = here.engine();
  const numbers = engine.kind === "sqlite"
    ? (count: number) =>
      `(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${
        count - 1
      }) SELECT i FROM n)`
    : (count: number) => `(SELECT i FROM generate_series(0, ${count - 1}) AS i)`;
  for (const [key, count] of [["dev", MANY], ["few", FEW]] as const) {
    await engine.query(
      `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream,
         status, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input,
         output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone)
       SELECT 'gen_${key}' || i, ${NOON} - 1 - i * ${
        Math.floor(14 * 24 * HOUR / count)
      }, 'key_config_${key}', '${key}',
         'acme', 'messages', 'm', 'a/b', 'p', 0, 'completed', 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ${CENT}, 1, 1, 0
       FROM ${numbers(count)} AS numbers`,
    );
  }
  await engine.close();
}

function config() {
  const dev = { spend_limit: { amount: "1000.02", period: "month" } };
  const few = CONFIG_KEY.parse({ name: "few", secret: FEW_SECRET, account: "acme" });
  const one = configOf(dev);
  return { ...one, keys: [...one.keys, few] };
}

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: while records of 0.1.0 are summed up limits hold, and sums say since when they are whole`, async () => {
    const here = place();
    await fill(here);
    const store = here.open();
    const service = await open(store, config());
    try {
      const [dev, few] = [
        await service.authenticate(configOf().keys[0].secret!),
        await service.authenticate(FEW_SECRET),
      ];
      // The limit knows all that was spent: two cents are left.
      const reservation = await service.admit(requestOf(dev, 2));
      assertEquals(await codeOf(() => service.admit(requestOf(dev, 3))), "api_key_limit_exceeded");
      await reservation.settle(endOf({ input: 2 }));
      assertEquals(await codeOf(() => service.admit(requestOf(dev, 1))), "api_key_limit_exceeded");

      const before = await service.usage({ by: "key" });
      assertEquals(before.incomplete_before, new Date(NOON).toISOString());
      // Of the records that are not summed up none is read.
      assertEquals(before.data.map(({ key, cost }) => [key, cost]), [["dev", "0.02"]]);
      const columns = Object.keys(before.data[0]);
      const table = await wholeTable(() => service.usage({ by: "key" }), columns);
      assertEquals(table.headers.get("x-incomplete-before"), before.incomplete_before);
      assertEquals(await table.text(), csv(before.data, columns));
      const said = await runCommand(
        { command: "usage", by: "key", from: undefined, to: undefined, json: false } as never,
        service,
      );
      assert(said.includes(`Records before ${before.incomplete_before}`), said);
      // What is newer is whole.
      const newer = await service.usage({ by: "key", from: new Date(NOON).toISOString() });
      assertEquals([newer.incomplete_before, newer.data[0].cost], [undefined, "0.02"]);

      const { spend } = await service.keyStatus(dev);
      assertEquals([spend.incomplete_before, spend.forecast], [before.incomplete_before, null]);
      const own = (await service.keyStatus(few)).spend;
      assertEquals([own.amount, own.incomplete_before], ["10.00", null]);
      const listed = (await service.listKeys()).data.map((key) => key.spend?.incomplete_before);
      assertEquals(listed, [before.incomplete_before, before.incomplete_before]);
      const statement = { account: "acme", month: "2026-01" };
      assertEquals(await codeOf(() => service.statement(statement)), "service_unavailable");
      // Lists are looked through as far as a search goes.
      const none = await service.generations({ model: "none", limit: 5 });
      assertEquals([none.data.length, none.next_cursor === null], [0, false]);

      await store.buildSums(60_000);
      // The newest are in first.
      const part = await service.usage({ by: "key" });
      assertEquals(part.incomplete_before, undefined);
      assertEquals(part.data.map(({ key, cost }) => [key, cost]), [["dev", "1000.02"], ["few", "10.00"]]);
      while (await store.buildSums(20_000));
      assertEquals((await service.usage({ by: "key" })).data, part.data);
      const { lines, foot } = await service.statement(statement);
      for await (const _ of lines);
      assertEquals((await foot()).totals.cost, "1010.02");
      assertEquals((await service.keyStatus(dev)).spend.amount, "1000.02");
    } finally {
      await service.close();
      here.remove();
    }
  });
});
