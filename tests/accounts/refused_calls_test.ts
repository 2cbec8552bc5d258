/** Calls that owe no record, at nodes that keep no journal, and what other nodes make of them where their node is killed. */
import { assertEquals } from "@std/assert";
import { openStore, type Store, StoreUnavailable } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

onCluster((cluster) => {
  Deno.test("postgres: a call whose refusal has gone out has no record, though its node was killed at that moment", async () => {
    await cluster().start();
    const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const place = () => openStore(cluster().url, { schema, filePrefix: null, timeOfNodes: true });
    let isDead = false;
    const dying = (store: Store): Store => ({
      ...store,
      sync: (request) => isDead ? Promise.reject(new StoreUnavailable("Killed.")) : store.sync(request),
    });
    const [killed, other] = [await open(dying(place()), configOf()), await open(place(), configOf())];
    try {
      const key = await keyOf(killed);
      const running = requestOf(key, 1);
      const refused = await killed.admit(requestOf(key, 1));
      const unused = await killed.admit(requestOf(key, 1));
      await killed.admit(running);
      // The store is told of what has begun together with a record that waits for it.
      await (await killed.admit(requestOf(key, 1))).settle(endOf({ input: 1 }));
      await Promise.all([refused.release("provider_rate_limited"), unused.settle(endOf(null))]);
      isDead = true;
      for (let turn = 0; turn < 75; turn++) await other.tick();
      await eventually(async () => (await other.generations({})).data.length >= 2);
      await other.flush();
      const { data } = await other.generations({});
      assertEquals(data.map(({ status }) => status).sort(), ["completed", "interrupted"]);
      assertEquals(data.find(({ status }) => status === "interrupted")!.id, running.id);
    } finally {
      for (const one of [other, killed]) await one.close();
    }
  });
});
