/** How often a gateway without calls asks a PostgreSQL that many share. */
import { assert, assertEquals } from "@std/assert";
import type { Store } from "../../src/store/mod.ts";
import { configOf, open } from "./support.ts";
import { onCluster, postgresPlace } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";

/** Names of methods, in the order in which they were called. */
function told(store: Store): { store: Store; calls: string[] } {
  const calls: string[] = [];
  const spied = new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        // To remove no nodes is nothing to ask.
        const nothing = Array.isArray(args[0]) && args[0].length === 0;
        if (!nothing) calls.push(String(name));
        return value.apply(target, args);
      };
    },
  });
  return { store: spied, calls };
}

/** What does not ask the database. */
const LOCAL = new Set(["listens", "chainWith", "listen"]);

onCluster((cluster) => {
  Deno.test("an idle node asks PostgreSQL some times with each heartbeat, and not between", async () => {
    const here = postgresPlace(cluster);
    const { store, calls } = told(here.open());
    const service = await open(store, configOf(), { ticking: true });
    try {
      const beats = () => calls.flatMap((name, i) => name === "heartbeat" ? [i] : []);
      await eventually(() => beats().length >= 3);
      const [, first, second] = beats();
      const asked = calls.slice(first, second).filter((name) => !LOCAL.has(name));
      // A heartbeat, what changed, what others want of leases.
      assert(asked.length <= 6, asked.join(", "));
      assertEquals(asked.filter((name) => name === "changesSince").length, 1);
    } finally {
      await service.close();
      here.remove();
    }
  });
});
