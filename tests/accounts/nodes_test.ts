/** Three nodes over one PostgreSQL, and what happens to them when it goes away. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { Failure } from "../../src/exchange/failure.ts";
import type { AccountsConfig, AccountsOptions, Key, Reservation } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { type Cluster, onCluster } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { admitAtOnce, codeOf, configOf, endOf, open, requestOf, type Running, SECRET } from "./support.ts";

onCluster((cluster) => {
  function test(
    title: string,
    config: AccountsConfig,
    body: (nodes: Running[], cluster: Cluster) => Promise<void>,
    more: Partial<AccountsOptions> & { disk?: boolean; nodes?: number; timeOfNodes?: boolean } = {},
  ): void {
    Deno.test(`postgres: ${title}`, async () => {
      await cluster().start();
      const folder = Deno.makeTempDirSync({ prefix: "sluice-nodes-" });
      const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
      const { disk = true, nodes: count = 3, timeOfNodes = true, ...options } = more;
      const nodes: Running[] = [];
      try {
        for (let i = 0; i < count; i++) {
          const filePrefix = disk ? `${folder}/node${i}` : null;
          nodes.push(
            await open(openStore(cluster().url, { schema, filePrefix, timeOfNodes }), config, options),
          );
        }
        await body(nodes, cluster());
      } finally {
        for (const node of nodes) await node.close();
        Deno.removeSync(folder, { recursive: true });
      }
    });
  }

  const limited = configOf({ spend_limit: { amount: "1.00", period: "day" } });
  const keyOf = (node: Running) => node.authenticate(SECRET);
  const untilUp = (node: Running) =>
    eventually(async () => {
      await node.tick();
      return node.storeUp();
    });
  const settleAll = async (reservations: Reservation[]) => {
    for (const reservation of reservations) await reservation.settle(endOf({ input: 1 }));
  };

  test("admit() of a thousand at once on three nodes lets in a hundred", limited, async (nodes) => {
    const results = await Promise.all(
      nodes.map(async (node, i) => await admitAtOnce(node, await keyOf(node), i === 0 ? 334 : 333)),
    );
    const reservations = results.flatMap((r) => r.reservations);
    assertEquals(reservations.length, 100);
    for (const { refused } of results) {
      assert(
        [...refused.keys()].every((code) => code === "provider_rate_limited"),
        [...refused.keys()].join(),
      );
    }
    // What never ran is there for whichever node needs it.
    for (const reservation of reservations.slice(0, 40)) reservation.release();
    await settleAll(reservations.slice(40));
    for (const node of nodes) await node.flush();
    for (const node of nodes) node.clock.move(2000);
    const again = await admitAtOnce(nodes[2], await keyOf(nodes[2]), 100);
    assertEquals(again.reservations.length, 40);
    await settleAll(again.reservations);
    assertEquals((await nodes[2].keyStatus(await keyOf(nodes[2]))).spend.amount, "1.00");
    for (const node of nodes) {
      node.clock.move(2000);
      assertEquals(
        await codeOf(async () => node.admit(requestOf(await keyOf(node), 1))),
        "api_key_limit_exceeded",
      );
      assertEquals(node.openCount(), 0);
    }
  });

  test(
    "a slice that one node holds goes to the node that needs it",
    configOf({}, "1.00"),
    async ([a, b, c]) => {
      const held = await a.admit(requestOf(await keyOf(a), 30));
      const wanted = await b.admit(requestOf(await keyOf(b), 70));
      assertEquals(await codeOf(async () => c.admit(requestOf(await keyOf(c), 1))), "provider_rate_limited");
      held.release();
      c.clock.move(1000);
      const now = await c.admit(requestOf(await keyOf(c), 30));
      now.release();
      wanted.release();
    },
  );

  test(
    "requests a minute hold across nodes",
    configOf({ rate_limit: { requests_per_minute: 60 } }),
    async (nodes) => {
      const results = await Promise.all(
        nodes.map(async (node) => await admitAtOnce(node, await keyOf(node), 100)),
      );
      assertEquals(results.flatMap((r) => r.reservations).length, 60);
      for (const { refused } of results) {
        assert([...refused.keys()].every((code) => code === "provider_rate_limited"));
      }
      for (const reservation of results.flatMap((r) => r.reservations)) {
        await reservation.settle(endOf({ input: 1 }));
      }
      // What is under way has the time at which it began; on a clock that runs it could not be a whole minute late.
      for (const node of nodes) node.clock.move(30_000);
      for (const node of nodes) await node.flush();
      for (const node of nodes) node.clock.move(30_000);
      const next = await Promise.all(
        nodes.map(async (node) => await admitAtOnce(node, await keyOf(node), 30)),
      );
      assertEquals(next.flatMap((r) => r.reservations).length, 60);
      for (const reservation of next.flatMap((r) => r.reservations)) reservation.release();
    },
  );

  test(
    "requests a minute hold across nodes whose clocks are 65 s apart, and so does the next minute",
    configOf({ rate_limit: { requests_per_minute: 60, tokens_per_minute: 6000 } }),
    async (nodes, cluster) => {
      for (const [i, node] of nodes.entries()) node.clock.move((i - 1) * 65_000);
      const round = async () => {
        const results = await Promise.all(
          nodes.map(async (node) => await admitAtOnce(node, await keyOf(node), 40)),
        );
        const reservations = results.flatMap((r) => r.reservations);
        for (const [i, reservation] of reservations.entries()) {
          if (i % 2 === 0) await reservation.settle(endOf({ input: 1 }));
        }
        for (const code of results.flatMap((r) => [...r.refused.keys()])) {
          assertEquals(code, "provider_rate_limited");
        }
        return reservations.length;
      };
      assertEquals([await round(), await round()], [60, 0]);
      // Their own clocks go on, the database's stands still as good as.
      for (const node of nodes) node.clock.move(50_000);
      assertEquals(await round(), 0);
      for (const node of nodes) node.clock.move(20_000);
      assertEquals(await round(), 0);
      const sql = connect(cluster);
      const schemas =
        await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'budgets'`;
      for (const { s } of schemas) {
        await sql.unsafe(`UPDATE ${s}.budgets SET starts = starts - 70000 WHERE scope = 'rate'`);
      }
      await sql.end();
      assertEquals([await round(), await round()], [60, 0]);
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

  test("what a dead node held comes back, and the living are left alone", limited, async (nodes) => {
    const [a, b, c] = nodes;
    const lost = await a.admit(requestOf(await keyOf(a), 50));
    const kept = await b.admit(requestOf(await keyOf(b), 50));
    assertEquals(await codeOf(async () => c.admit(requestOf(await keyOf(c), 50))), "provider_rate_limited");
    // The first node stops beating: 70 turns are 35 seconds.
    for (let turn = 0; turn < 71; turn++) {
      await b.tick();
      await c.tick();
    }
    c.clock.move(2000);
    const taken = await c.admit(requestOf(await keyOf(c), 50));
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
    (await a.admit(requestOf(await keyOf(a), 48))).release();
  });

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

  test(
    "a rate holds across a node that ends within the minute, and the next minute has all of it",
    configOf({ rate_limit: { requests_per_minute: 10, tokens_per_minute: 1000 } }),
    async ([a, b]) => {
      const used = await admitAtOnce(a, await keyOf(a), 4);
      await used.reservations[0].settle(endOf({ input: 1 }));
      await a.close();
      const { reservations, refused } = await admitAtOnce(b, await keyOf(b), 20);
      assertEquals([reservations.length, [...refused.keys()]], [6, ["provider_rate_limited"]]);
      assertEquals(reservations.at(-1)?.rates?.requests?.remaining, 0);
      for (const reservation of reservations) reservation.release();
      b.clock.move(61_000);
      const next = await admitAtOnce(b, await keyOf(b), 20);
      assertEquals(next.reservations.length, 10);
      for (const reservation of next.reservations) reservation.release();
    },
    { nodes: 2 },
  );

  function connect(at: Cluster) {
    return postgres(at.url, { max: 1, onnotice() {} });
  }

  async function runningIds(at: Cluster): Promise<string[]> {
    const sql = connect(at);
    try {
      const schemas =
        await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'running'`;
      const ids: string[] = [];
      for (const { s } of schemas) {
        ids.push(...(await sql.unsafe(`SELECT id FROM ${s}.running`)).map((r) => String(r.id)));
      }
      return ids;
    } finally {
      await sql.end();
    }
  }

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
