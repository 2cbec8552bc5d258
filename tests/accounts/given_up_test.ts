/** A node that was removed as dead although it is alive, and what keeps that from happening. */
import { assertEquals } from "@std/assert";
import type { Store } from "../../src/store/mod.ts";
import { postgresPlace } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { configOf, endOf, keyOf, open, requestOf, type Running } from "./support.ts";
import { connect, onThreeNodes, runningIds } from "./three_nodes.ts";

/** As the database does it, without anybody who records what the node ran. */
async function removeFrom(url: string, node: string): Promise<void> {
  const sql = connect({ url } as Parameters<typeof connect>[0]);
  try {
    const schemas =
      await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'nodes'`;
    for (const { s } of schemas) await sql.unsafe(`DELETE FROM ${s}.nodes WHERE id = '${node}'`);
  } finally {
    await sql.end();
  }
}

onThreeNodes((test, cluster) => {
  /** A call of `node` that the database knows of. */
  async function begun(node: Running) {
    const request = requestOf(await keyOf(node), 1);
    const reservation = await node.admit(request);
    await eventually(async () => {
      await node.flush();
      return (await runningIds(cluster())).includes(request.id);
    });
    return { id: request.id, reservation };
  }

  test(
    "no call of a living node is recorded by another one, though the node was removed again and again",
    configOf(),
    async ([a, b]) => {
      const { id, reservation } = await begun(a);
      for (let time = 0; time < 4; time++) {
        await removeFrom(cluster().url, a.node);
        // Searches are a minute of turns apart or less, heartbeats of the living one ten turns.
        for (let turn = 0; turn < 70; turn++) {
          await b.tick();
          if (turn % 2 === 0) await a.tick();
        }
        await b.flush();
        assertEquals((await b.generations({})).data, []);
      }
      await reservation.settle(endOf({ input: 5 }));
      await a.flush();
      assertEquals((await b.generations({})).data.map((g) => [g.id, g.status, g.cost]), [[
        id,
        "completed",
        "0.05",
      ]]);
    },
    { disk: false, nodes: 2 },
  );

  Deno.test("postgres: heartbeats go on while a turn waits for something slow", async () => {
    const here = postgresPlace(cluster);
    const store = here.open();
    let beats = 0;
    let hangs = false;
    const released = Promise.withResolvers<void>();
    const bent: Store = {
      ...store,
      heartbeat(node) {
        beats++;
        return store.heartbeat(node);
      },
      async changesSince(rev) {
        hangs = true;
        await released.promise;
        return await store.changesSince(rev);
      },
    };
    const service = await open(bent, configOf(), { ticking: true });
    try {
      await eventually(() => hangs);
      const before = beats;
      await eventually(() => beats >= before + 2);
    } finally {
      released.resolve();
      await service.close();
      here.remove();
    }
  });
});
