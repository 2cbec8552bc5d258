/** PostgreSQL with fewer connections than it is asked for, one that has become a standby, and addresses as hosts give them. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { StoreForbidden, StoreUnavailable } from "../../src/store/engine.ts";
import { openStore } from "../../src/store/mod.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { type Cluster, makeCluster, postgresHere } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";

/** Three of them are for the superuser, which tests are. */
const MOST = 8;

function test(title: string, body: (cluster: Cluster) => Promise<void>): void {
  Deno.test({
    name: title,
    ignore: postgresHere === null,
    async fn() {
      const cluster = await makeCluster({ connections: MOST });
      try {
        await body(cluster);
      } finally {
        await cluster.remove();
      }
    },
  });
}

/** Takes so many of the server's connections. */
async function occupy(cluster: Cluster, count: number): Promise<() => Promise<void>> {
  const taken = Array.from({ length: count }, () => postgres(cluster.url, { max: 1, onnotice() {} }));
  for (const sql of taken) await sql`SELECT 1`;
  return async () => void await Promise.all(taken.map((sql) => sql.end()));
}

test("openPostgres() does all of its work with one connection where the server has no other, and listens once it has", async (cluster) => {
  const leave = await occupy(cluster, MOST - 1);
  const engine = openPostgres(cluster.url, { connections: 4 });
  const heard: string[] = [];
  try {
    const [{ pid }] = await engine.query("SELECT pg_backend_pid() AS pid");
    await engine.listen((message) => heard.push(message));
    assertEquals(engine.listens, false);
    const works = Array.from(
      { length: 20 },
      (_, i) =>
        i % 2 === 0
          ? engine.query("SELECT pg_backend_pid() AS pid")
          : engine.transaction((query) => query("SELECT pg_backend_pid() AS pid")),
    );
    // What works goes on working: it is the same connection all the time.
    for (const rows of await Promise.all(works)) assertEquals([...rows], [{ pid }]);
    await leave();
    await eventually(async () => {
      await engine.transaction((query) => engine.notify(query, "hello"));
      return heard.includes("hello");
    });
    assert(engine.listens);
    assertEquals((await engine.query("SELECT pg_backend_pid() AS pid"))[0].pid, pid);
  } finally {
    await leave();
    await engine.close();
  }
});

test("openPostgres() keeps its connections where only the one that listens is lost, and listens again", async (cluster) => {
  const engine = openPostgres(cluster.url, { connections: 4 });
  const sql = postgres(cluster.url, { max: 1, onnotice() {} });
  const heard: string[] = [];
  try {
    await engine.listen((message) => heard.push(message));
    await engine.transaction(async (query) => {
      const [{ pid }] = await query("SELECT pg_backend_pid() AS pid");
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`;
      await eventually(() => !engine.listens);
      assertEquals((await query("SELECT pg_backend_pid() AS pid"))[0].pid, pid);
    });
    await eventually(async () => {
      await engine.transaction((query) => engine.notify(query, "hello"));
      return heard.includes("hello");
    });
  } finally {
    await sql.end();
    await engine.close();
  }
});

test("openPostgres() leaves a server that has become a standby for the one that is primary now", async (cluster) => {
  const engine = openPostgres(cluster.url, { connections: 3 });
  try {
    await engine.query("CREATE TABLE things (n bigint)");
    // As on a primary that was demoted without its connections being closed: each of them can only read from here on.
    const bothBegun = Promise.withResolvers<void>();
    let begun = 0;
    const pids = await Promise.all([1, 2].map(() =>
      engine.transaction(async (query) => {
        if (++begun === 2) bothBegun.resolve();
        await bothBegun.promise;
        await query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
        return (await query("SELECT pg_backend_pid() AS pid"))[0].pid;
      })
    ));
    assertEquals(new Set(pids).size, 2);
    await assertRejects(() => engine.query("INSERT INTO things VALUES (1)"), StoreUnavailable);
    await engine.query("INSERT INTO things VALUES (2)");
    assertEquals((await engine.query("SELECT n FROM things")).map(({ n }) => n), [2n]);
  } finally {
    await engine.close();
  }
});

test("openPostgres() takes addresses with what libpq keeps to itself, and asks for TLS where they say so", async (cluster) => {
  for (
    const settings of [
      "channel_binding=prefer",
      "sslmode=disable&channel_binding=require&gssencmode=disable&keepalives=1",
      "ssl=false",
      "ssl=prefer&application_name=other",
      "target_session_attrs=read-write",
    ]
  ) {
    const engine = openPostgres(`${cluster.url}?${settings}`);
    try {
      assertEquals((await engine.query("SELECT 1 AS x"))[0].x, 1n, settings);
    } finally {
      await engine.close();
    }
  }
  for (const settings of ["ssl=true", "ssl=no-verify", "sslmode=require"]) {
    const engine = openPostgres(`${cluster.url}?${settings}`);
    try {
      // This server speaks no TLS.
      await assertRejects(() => engine.query("SELECT 1"), StoreUnavailable, undefined, settings);
    } finally {
      await engine.close();
    }
  }
});

test("openPostgres() goes to the host and the port that an address names as libpq's parameters", async (cluster) => {
  const address = new URL(cluster.url);
  const { hostname, port } = address;
  // As libpq has it, they win.
  for (const host of [hostname, cluster.folder]) {
    const engine = openPostgres(
      `postgres://sluice@h.invalid:1/postgres?host=${encodeURIComponent(host)}&port=${port}`,
    );
    try {
      assertEquals((await engine.query("SELECT 1 AS x"))[0].x, 1n, host);
    } finally {
      await engine.close();
    }
  }
});

test("a store is prepared over the one connection that a role may have", async (cluster) => {
  const sql = postgres(cluster.url, { max: 1, onnotice() {} });
  await sql`CREATE ROLE narrow LOGIN CONNECTION LIMIT 1`;
  await sql`CREATE DATABASE narrow OWNER narrow`;
  const address = new URL(cluster.url);
  [address.username, address.pathname] = ["narrow", "/narrow"];
  const store = openStore(address.href, { connections: 4 });
  try {
    await store.prepare();
    assertEquals(await store.teams(), []);
  } finally {
    await store.close();
    await sql.end();
  }
});

test("openPostgres() waits for a server that lets nobody in any more, and tells of a role that it never let in", async (cluster) => {
  const sql = postgres(cluster.url, { max: 1, onnotice() {} });
  const address = new URL(cluster.url);
  address.username = "app";
  await sql`CREATE ROLE app LOGIN`;
  const engine = openPostgres(address.href, { connections: 3 });
  const late = openPostgres(address.href, { connections: 3 });
  try {
    await engine.query("SELECT 1 AS x");
    await sql`ALTER ROLE app NOLOGIN`;
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`;
    for (let i = 0; i < 3; i++) await assertRejects(() => engine.query("SELECT 1"), StoreUnavailable);
    const error = await assertRejects(() => late.query("SELECT 1"));
    assert(error instanceof StoreForbidden);
    await sql`ALTER ROLE app LOGIN`;
    assertEquals((await engine.query("SELECT 2 AS x"))[0].x, 2n);
  } finally {
    await sql.end();
    await engine.close();
    await late.close();
  }
});
