/** Three nodes while their PostgreSQL is away or silent, and nodes without a disk. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Key } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { eventually } from "../support/time.ts";
import { codeOf, configOf, endOf, open, requestOf, type Running, SECRET } from "./support.ts";
import { connect, keyOf, onThreeNodes, runningIds, untilUp } from "./three_nodes.ts";

onThreeNodes((test, cluster) => {
  test(
    "with PostgreSQL away, known keys work within what was leased, unknown ones get 503",
    configOf({
      spend_limit: { amount: "100", period: "day" },
    }),
    async ([a], cluster) => {
      const { secret } = await a.createKey({ name: "ci" });
      const key = await keyOf(a);
      const other = await a.authenticate(secret);
      await (await a.admit(requestOf(key, 1))).settle(endOf({ input: 1 }));
      const { key: unseen, secret: unseenSecret } = await a.createKey({ name: "unseen" });
      await a.flush();
      await cluster.stop();
      await a.tick();
      assertEquals(a.storeUp(), false);
      assertEquals((await a.authenticate(unseenSecret)).id, unseen.id);
      const unknown = await assertRejects(
        async () => await a.authenticate("sk_live_" + "u".repeat(40)),
        Failure,
      );
      assertEquals([unknown.code, typeof unknown.retryAfter], ["service_unavailable", "number"]);
      const ids: string[] = [];
      for (let i = 0; i < 20; i++) {
        const request = requestOf(i % 2 === 0 ? key : other, 1);
        ids.push(request.id);
        await (await a.admit(request)).settle(endOf({ input: 1 }));
      }
      // What it knows of the limit is too old now to refuse for good.
      a.clock.move(2000);
      const beyond = await assertRejects(async () => await a.admit(requestOf(key, 10_000)), Failure);
      assertEquals(beyond.code, "service_unavailable");
      assertEquals(await codeOf(() => a.generations({})), "service_unavailable");
      assertEquals(await codeOf(() => a.createKey({ name: "more" })), "service_unavailable");
      assertEquals(a.pendingCount(), 20);

      await cluster.start();
      await untilUp(a);
      await a.flush();
      assertEquals(a.pendingCount(), 0);
      for (const id of ids) assertEquals((await a.generation(id)).cost, "0.01");
      assertEquals((await a.usage({ by: "key" })).data.reduce((n, d) => n + d.generations, 0), 21);
      assertEquals((await a.keyStatus(key)).spend.amount, "0.11");
      (await a.admit(requestOf(key, 9000))).release();
    },
    { nodes: 1 },
  );

  test(
    "with PostgreSQL away too long, keys of the store are no longer trusted",
    configOf(),
    async ([a], cluster) => {
      const { secret } = await a.createKey({ name: "ci" });
      await a.authenticate(secret);
      await cluster.stop();
      await a.tick();
      a.clock.move(59_000);
      await a.authenticate(secret);
      a.clock.move(2000);
      assertEquals(await codeOf(() => a.authenticate(secret)), "service_unavailable");
      await a.authenticate(SECRET);
      await cluster.start();
      await untilUp(a);
      await a.authenticate(secret);
    },
    { nodes: 1, offlineMs: 60_000 },
  );

  test("a database that does not answer keeps nobody waiting", configOf({}, "10"), async ([a], cluster) => {
    const { secret } = await a.createKey({
      name: "ci",
      account: "acme",
      rate_limit: { requests_per_minute: 5 },
    });
    const warm = await keyOf(a);
    const admits = async (key: Key) =>
      await codeOf(async () => (await a.admit(requestOf(key, 1))).release()) === null;
    await eventually(() => admits(warm));
    const key = await a.authenticate(secret);
    const sql = connect(cluster);
    const [{ s: schema }] =
      await sql`SELECT nspname AS s FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE relname = 'nodes' ORDER BY c.oid DESC LIMIT 1`;
    let letGo = () => {};
    const done = new Promise<void>((resolve) => letGo = resolve);
    let locked = () => {};
    const isLocked = new Promise<void>((resolve) => locked = resolve);
    const frozen = sql.begin(async (tx) => {
      await tx.unsafe(`LOCK TABLE ${schema}.nodes IN ACCESS EXCLUSIVE MODE`);
      locked();
      await done;
    });
    await isLocked;
    // Budgets that are here go on; one that is not is refused when the call's own bound is reached.
    for (let i = 0; i < 5; i++) await (await a.admit(requestOf(warm, 1))).settle(endOf({ input: 1 }));
    assertEquals(await codeOf(() => a.admit(requestOf(key, 1))), "service_unavailable");
    letGo();
    await frozen;
    await sql.end();
    await a.flush();
    await eventually(() => admits(key));
    assertEquals((await a.credits("acme")).spent, "0.05");
  }, { nodes: 1, waitMs: 100 });

  test(
    "without a disk it stops admitting before it would lose a record",
    configOf(),
    async ([a], cluster) => {
      const key = await keyOf(a);
      await cluster.stop();
      await a.tick();
      let settled = 0;
      let refusal: string | null = null;
      // Each takes some 200 bytes of the 20,000.
      while (refusal === null && settled < 1000) {
        refusal = await codeOf(async () => {
          const reservation = await a.admit(requestOf(key, 1));
          await reservation.settle(endOf({ input: 1 }));
          settled++;
        });
      }
      assertEquals(refusal, "service_unavailable");
      assert(settled > 5);
      assertEquals(a.pendingCount(), settled);
      await cluster.start();
      await untilUp(a);
      await a.flush();
      assertEquals((await a.usage({ by: "key" })).data[0].generations, settled);
      (await a.admit(requestOf(key, 1))).release();
    },
    { nodes: 1, disk: false, outboxBytes: 20_000 },
  );

  test("without a disk, what a dead node ran is recorded by another, once", configOf(), async (nodes) => {
    const [a, b, c] = nodes;
    const requests = [
      requestOf(await keyOf(a), 1),
      requestOf(await keyOf(a), 1),
      requestOf(await keyOf(a), 1),
      requestOf(await keyOf(a), 1),
    ];
    const reservations = [];
    for (const request of requests) reservations.push(await a.admit(request));
    await reservations[0].settle(endOf({ input: 1 }));
    await reservations[1].release();
    await a.flush();
    // It tells the store in its own time what runs and what no longer does.
    const wanted = JSON.stringify([false, false, true, true]);
    await eventually(async () => {
      const running = await ran(a);
      return JSON.stringify(requests.map(({ id }) => running.includes(id))) === wanted;
    });
    for (let turn = 0; turn < 75; turn++) {
      await b.tick();
      await c.tick();
    }
    await b.flush();
    await c.flush();
    const { data } = await b.generations({});
    assertEquals(
      data.map((g) => [g.id, g.status]).sort(),
      [
        [requests[0].id, "completed"],
        [requests[2].id, "interrupted"],
        [requests[3].id, "interrupted"],
      ].sort(),
    );
    // It was only frozen: its own end takes the place of what was presumed, once, and is billed.
    await reservations[2].settle(endOf({ input: 5 }));
    // This one reached no provider, so nothing is owed for it.
    await reservations[3].release();
    await a.flush();
    await eventually(async () => (await b.generations({})).data.length === 2);
    const later = (await b.generations({})).data;
    assertEquals(
      later.map((g) => [g.id, g.status, g.cost]).sort(),
      [[requests[0].id, "completed", "0.01"], [requests[2].id, "completed", "0.05"]].sort(),
    );
    const { data: [sum] } = await b.usage({ by: "key" });
    assertEquals([sum.generations, sum.failed, sum.cost, sum.input_tokens], [2, 0, "0.06", 6]);

    /** Ids that the store knows as running. */
    async function ran(node: Running): Promise<string[]> {
      await node.flush();
      return await runningIds(cluster());
    }
  }, { disk: false });

  test(
    "without a disk, what a dead node ran is recorded although the node that removed it dies too",
    configOf(),
    async ([a, b]) => {
      const request = requestOf(await keyOf(a), 1);
      const reservation = await a.admit(request);
      await eventually(async () => {
        await a.flush();
        return (await runningIds(cluster())).includes(request.id);
      });
      const sql = connect(cluster());
      try {
        const schemas =
          await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'running'`;
        for (const { s } of schemas) {
          await sql.unsafe(
            `DELETE FROM ${s}.nodes WHERE id IN (SELECT node FROM ${s}.running WHERE id = '${request.id}')`,
          );
        }
      } finally {
        await sql.end();
      }
      for (let turn = 0; turn <= 120; turn++) await b.tick();
      await b.flush();
      assertEquals((await b.generations({})).data.map((g) => [g.id, g.status]), [[
        request.id,
        "interrupted",
      ]]);
      // It was only frozen: its own end takes the place of what was presumed.
      await reservation.settle(endOf({ input: 5 }));
      await a.flush();
      assertEquals((await b.generations({})).data.map((g) => [g.id, g.status]), [[request.id, "completed"]]);
      assert(!(await runningIds(cluster())).includes(request.id));
    },
    { disk: false, nodes: 2 },
  );

  test(
    "without a disk, what runs when a node ends is recorded as interrupted, at once",
    configOf(),
    async ([a, b]) => {
      const key = await keyOf(a);
      const running = [requestOf(key, 1), requestOf(key, 1)];
      const [first] = [await a.admit(running[0]), await a.admit(running[1])];
      await a.flush();
      const released = await a.admit(requestOf(key, 1));
      await a.flush();
      await released.release();
      await a.close();
      // Nobody is told of it any more.
      await first.settle(endOf({ input: 1 }));
      const { data } = await b.generations({});
      assertEquals(
        data.map((g) => [g.id, g.status, g.cost]).sort(),
        running.map(({ id }) => [id, "interrupted", "0.00"]).sort(),
      );
      const left = await runningIds(cluster());
      for (const { id } of running) assert(!left.includes(id));
    },
    { disk: false, nodes: 2 },
  );

  Deno.test("postgres: a node that starts while it is away serves keys of the file, and the rest later", async () => {
    await cluster().stop();
    const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const a = await open(openStore(cluster().url, { schema }), configOf());
    try {
      const key = await a.authenticate(SECRET);
      assertEquals(await codeOf(() => a.authenticate("sk_live_" + "u".repeat(40))), "service_unavailable");
      await (await a.admit(requestOf(key, 1))).settle(endOf({ input: 1 }));
      await cluster().start();
      await untilUp(a);
      await a.flush();
      assertEquals((await a.generations({})).data.length, 1);
      assertEquals(await codeOf(() => a.authenticate("sk_live_" + "u".repeat(40))), "invalid_api_key");
    } finally {
      await a.close();
    }
  });
});
