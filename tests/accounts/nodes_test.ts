/** Three nodes over one PostgreSQL, and what happens to them when it goes away. */
import { assertEquals } from "@std/assert";
import { openCalls } from "../support/open_calls.ts";
import { eventually } from "../support/time.ts";
import { codeOf, configOf, endOf, requestOf } from "./support.ts";
import { admitted, admitTogether, connect, keyOf, LIMITED, onThreeNodes, settleAll } from "./three_nodes.ts";

onThreeNodes((test) => {
  test("admit() of a thousand at once on three nodes lets in a hundred", LIMITED, async (nodes) => {
    const reservations = await admitTogether(nodes, 334, 100);
    assertEquals(reservations.length, 100);
    // What never ran is there for whichever node needs it.
    for (const reservation of reservations.slice(0, 40)) reservation.release();
    await settleAll(reservations.slice(40));
    for (const node of nodes) await node.flush();
    for (const node of nodes) node.clock.move(2000);
    const again = await admitTogether([nodes[2]], 100, 40);
    assertEquals(again.length, 40);
    await settleAll(again);
    assertEquals((await nodes[2].keyStatus(await keyOf(nodes[2]))).spend.amount, "1.00");
    for (const node of nodes) {
      node.clock.move(2000);
      assertEquals(
        await codeOf(async () => node.admit(requestOf(await keyOf(node), 1))),
        "api_key_limit_exceeded",
      );
      assertEquals(await openCalls(node), 0);
    }
  });

  test(
    "a slice that one node holds goes to the node that needs it",
    configOf({}, "1.00"),
    async ([a, b, c]) => {
      const held = await a.admit(requestOf(await keyOf(a), 30));
      const wanted = await admitted(b, 70);
      assertEquals(await codeOf(async () => c.admit(requestOf(await keyOf(c), 1))), "provider_rate_limited");
      held.release();
      c.clock.move(1000);
      const now = await admitted(c, 30);
      now.release();
      wanted.release();
    },
  );

  test(
    "requests a minute hold across nodes",
    configOf({ rate_limit: { requests_per_minute: 60 } }),
    async (nodes) => {
      const reservations = await admitTogether(nodes, 100, 60);
      assertEquals(reservations.length, 60);
      await settleAll(reservations);
      // What is under way has the time at which it began; on a clock that runs it could not be a whole minute late.
      for (const node of nodes) node.clock.move(30_000);
      for (const node of nodes) await node.flush();
      for (const node of nodes) node.clock.move(30_000);
      const next = await admitTogether(nodes, 30, 60);
      assertEquals(next.length, 60);
      for (const reservation of next) reservation.release();
    },
  );

  test(
    "requests a minute hold across nodes whose clocks are 65 s apart, and so does the next minute",
    configOf({ rate_limit: { requests_per_minute: 60, tokens_per_minute: 6000 } }),
    async (nodes, cluster) => {
      for (const [i, node] of nodes.entries()) node.clock.move((i - 1) * 65_000);
      const round = async (expected: number) => {
        const reservations = await admitTogether(nodes, 40, expected);
        for (const [i, reservation] of reservations.entries()) {
          if (i % 2 === 0) await reservation.settle(endOf({ input: 1 }));
        }
        return reservations.length;
      };
      assertEquals([await round(60), await round(0)], [60, 0]);
      // Their own clocks go on, the database's stands still as good as.
      for (const node of nodes) node.clock.move(50_000);
      assertEquals(await round(0), 0);
      for (const node of nodes) node.clock.move(20_000);
      assertEquals(await round(0), 0);
      const sql = connect(cluster);
      const schemas =
        await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'budgets'`;
      for (const { s } of schemas) {
        await sql.unsafe(`UPDATE ${s}.budgets SET starts = starts - 70000 WHERE scope = 'rate'`);
      }
      await sql.end();
      assertEquals([await round(60), await round(0)], [60, 0]);
    },
    { timeOfNodes: false },
  );

  test("a revocation is heard without anybody polling", configOf(), async ([a, b]) => {
    await a.tick();
    await b.tick();
    const { secret } = await a.createKey({ name: "ci" });
    await b.authenticate(secret);
    await a.revokeKey("ci");
    await eventually(async () => await codeOf(() => b.authenticate(secret)) !== null);
  });

  test("what a dead node held comes back, and the living are left alone", LIMITED, async (nodes) => {
    const [a, b, c] = nodes;
    const lost = await admitted(a, 50);
    const kept = await admitted(b, 50);
    assertEquals(await codeOf(async () => c.admit(requestOf(await keyOf(c), 50))), "provider_rate_limited");
    // The first node stops beating: 70 turns are 35 seconds.
    for (let turn = 0; turn < 71; turn++) {
      await b.tick();
      await c.tick();
    }
    c.clock.move(2000);
    const taken = await admitted(c, 50);
    assertEquals(await codeOf(async () => c.admit(requestOf(await keyOf(c), 1))), "provider_rate_limited");
    // It was alive after all. What it ran is billed, though its slice is gone.
    await lost.settle(endOf({ input: 50 }));
    await a.flush();
    assertEquals((await c.keyStatus(await keyOf(c))).spend.amount, "0.50");
    assertEquals(await codeOf(async () => a.admit(requestOf(await keyOf(a), 1))), "provider_rate_limited");
    await kept.settle(endOf({ input: 1 }));
    await taken.settle(endOf({ input: 1 }));
    await b.flush();
    await c.flush();
    a.clock.move(5000);
    (await admitted(a, 48)).release();
  });

  test(
    "a rate holds across a node that ends within the minute, and the next minute has all of it",
    configOf({ rate_limit: { requests_per_minute: 10, tokens_per_minute: 1000 } }),
    async ([a, b]) => {
      const [used] = await admitTogether([a], 4, 4);
      await used.settle(endOf({ input: 1 }));
      await a.close();
      const reservations = await admitTogether([b], 20, 6);
      assertEquals(reservations.length, 6);
      assertEquals(reservations.at(-1)?.rates?.requests?.remaining, 0);
      for (const reservation of reservations) reservation.release();
      b.clock.move(61_000);
      const next = await admitTogether([b], 20, 10);
      assertEquals(next.length, 10);
      for (const reservation of next) reservation.release();
    },
    { nodes: 2 },
  );
});
