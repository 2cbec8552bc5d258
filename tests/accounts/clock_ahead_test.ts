/** A node whose clock has run ahead, among others over one PostgreSQL. */
import { assertEquals } from "@std/assert";
import type { AccountsOptions } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { StoppedClock } from "../support/time.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

const YEAR = 365 * 86_400_000;

onCluster((cluster) => {
  Deno.test("postgres: a node whose clock is a year ahead deletes nothing that is not past its time", async () => {
    const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const store = openStore(cluster().url, { schema });
    const now = (await store.time())!;
    await store.close();
    const node = async (ahead: number) => {
      const options: Partial<AccountsOptions> = { clock: new StoppedClock(now + ahead), retentionDays: 30 };
      return await open(openStore(cluster().url, { schema }), configOf({}, "10"), options);
    };
    const [right, ahead] = [await node(0), await node(YEAR)];
    try {
      for (const created of [now, now - 40 * 86_400_000]) {
        const call = await right.admit(requestOf(await keyOf(right), 1, { created }));
        await call.settle(endOf({ input: 1 }));
      }
      await right.flush();
      await ahead.keepHouse();
      const { data } = await right.generations({});
      assertEquals(data.map(({ created }) => Date.parse(created)), [now]);
      assertEquals((await right.usage({ by: "model" })).data[0].generations, 2);
    } finally {
      await right.close();
      await ahead.close();
    }
  });
});
