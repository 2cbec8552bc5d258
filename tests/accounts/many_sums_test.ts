/** Usage by what has more values than a page of a list has rows. */
import { assertEquals } from "@std/assert";
import { ADMINISTRATION } from "../../src/console/administration.ts";
import type { AdministrationContext, AdministrationEndpoint } from "../../src/http/endpoint.ts";
import { runCommand } from "../../src/commands/accounts.ts";
import { encodeRecord } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation } from "../store/samples.ts";
import { configOf, endOf, keyOf, NOON, open, requestOf } from "./support.ts";

const SESSIONS = 1500;

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: the command and an export tell all sums, each once, also while calls end`, async () => {
    const here = place();
    const store = here.open();
    const service = await open(store, configOf());
    try {
      await store.registerNode("other");
      const records = Array.from(
        { length: SESSIONS },
        (_, i) => encodeRecord(generation(`gen_${i}`, { session: `s${i}`, cost: BigInt(i) })),
      );
      await store.sync({ node: "other", seq: 1, now: NOON, records, leases: [] });

      const told = await runCommand({ command: "usage", by: "session", json: true }, service);
      const sessions = (JSON.parse(told) as { session: string }[]).map(({ session }) => session);
      assertEquals([sessions.length, new Set(sessions).size], [SESSIONS, SESSIONS]);
      const few = await runCommand(
        { command: "usage", by: "session", json: true, limit: 3 },
        service,
      );
      assertEquals(JSON.parse(few).length, 3);

      const list = { command: "generations", json: true } as const;
      for (const limit of [3, 1200, 100_000]) {
        const { data } = JSON.parse(await runCommand({ ...list, limit }, service));
        assertEquals(new Set(data.map(({ id }: { id: string }) => id)).size, Math.min(limit, SESSIONS));
      }

      const { handle } = ADMINISTRATION.find(({ path }) => path === "/admin/usage") as AdministrationEndpoint;
      const response = await handle({
        request: new Request("http://gateway/admin/usage?by=session", { headers: { accept: "text/csv" } }),
        administration: service,
      } as unknown as AdministrationContext);
      // The cheapest session becomes the dearest when the first rows have gone out.
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = (await reader.read()).value!;
      const labels = { session: "s0", tags: null };
      const reservation = await service.admit(requestOf(await keyOf(service), 100, { labels }));
      await reservation.settle(endOf({ input: 100 }));
      await service.flush();
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
      const exported = text.trim().split("\r\n").slice(1).map((line) => line.split(",")[0]);
      assertEquals([exported.length, new Set(exported).size], [SESSIONS, SESSIONS]);
    } finally {
      await service.close();
      here.remove();
    }
  });
});
