/** By what nodes know of each other that they are alive, and what a node does that was removed as dead. */
import { assertEquals } from "@std/assert";
import { onBothEngines } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { configOf, open } from "./support.ts";

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: a node that was removed as dead registers with its next heartbeat, and publishes its status again`, async () => {
    const here = place();
    const store = here.open();
    const node = await open(store, configOf(), { about: () => "status" });
    const other = await open(here.open(), configOf());
    try {
      const listed = async () => (await other.nodes()).find((one) => one.node === node.node)?.about;
      assertEquals(await listed(), "status");
      await store.removeNodes([node.node]);
      assertEquals(await listed(), undefined);
      for (let turn = 0; turn < 11; turn++) await node.tick();
      await eventually(async () => await listed() === "status");
    } finally {
      await node.close();
      await other.close();
      here.remove();
    }
  });

  Deno.test(`${name}: a transaction of a node is a sign of life for the others`, async () => {
    const here = place();
    const store = here.open();
    try {
      await store.prepare();
      for (const node of ["a", "b"]) await store.registerNode(node);
      const seen = async () => (await store.heartbeat("b")).get("a");
      const before = await seen();
      assertEquals(await seen(), before);
      await store.sync({ node: "a", seq: 1, now: 0, records: [], leases: [] });
      assertEquals(await seen() === before, false);
    } finally {
      await store.close();
      here.remove();
    }
  });
});
