/** Usage by two labels is read from the records, so many of them at most; what is left out is said. */
import { assertEquals } from "@std/assert";
import { runCommand } from "../../src/commands/accounts.ts";
import { encodeRecord } from "../../src/store/mod.ts";
import { recordsFrom } from "../../src/store/usage_dimensions.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation } from "../store/samples.ts";
import { configOf, NOON, open } from "./support.ts";

const CALLS = 10;

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: usage by two labels says from when on it is whole, and a command reads all`, async () => {
    const here = place();
    const store = here.open();
    const service = await open(store, configOf());
    const engine = here.engine();
    try {
      await store.registerNode("other");
      const records = Array.from({ length: CALLS }, (_, i) =>
        encodeRecord(generation(`gen_${i}`, {
          created: NOON - i * 1000,
          cost: 1_000_000_000_000n,
          session: `s${i % 2}`,
          tags: { env: "test" },
        })));
      await store.sync({ node: "other", seq: 1, now: NOON, records, leases: [] });
      const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
      assertEquals(await recordsFrom(engine.query, all, CALLS), null);
      // The newest four are read.
      const from = await recordsFrom(engine.query, all, 4);
      assertEquals(from, NOON - 4000 + 1);

      const by = "session,tag:env";
      const rows = (list: { data: unknown[] }) =>
        list.data.map((row) => {
          const { session, generations, cost } = row as Record<string, unknown>;
          return [session, generations, cost];
        });
      const whole = [["s0", 5, "5.00"], ["s1", 5, "5.00"]];
      const before = await service.usage({ by });
      assertEquals(rows(before), whole);
      assertEquals(before.incomplete_before, undefined);
      // As if these were too many.
      store.usageFrom = () => Promise.resolve(from);
      const bounded = await service.usage({ by });
      assertEquals(rows(bounded), [["s0", 2, "2.00"], ["s1", 2, "2.00"]]);
      assertEquals(bounded.incomplete_before, new Date(from!).toISOString());
      const command = { command: "usage", by, json: true } as Parameters<typeof runCommand>[0];
      assertEquals(rows({ data: JSON.parse(await runCommand(command, service)) }), whole);
    } finally {
      await engine.close();
      await service.close();
      here.remove();
    }
  });

  Deno.test(`${name}: only of two labels without sums the records are asked how far they can be read`, async () => {
    const here = place();
    const store = here.open();
    try {
      await store.prepare();
      await store.registerNode("other");
      const records = [encodeRecord(generation("gen_1", { session: "s" }))];
      await store.sync({ node: "other", seq: 1, now: NOON, records, leases: [] });
      for (const by of [["session"], ["team", "tag:a"], ["session", "model"], ["tag:a", "tag:b"]] as const) {
        assertEquals(await store.usageFrom({ by, from: null, to: null }), null);
      }
    } finally {
      await store.close();
      here.remove();
    }
  });
});
