/** PostgreSQL behind a pooler: what a session may take is set all the same, and connections that share sessions are refused. */
import { assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { StoreUnfit } from "../../src/store/engine.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { openSocket } from "../../src/store/postgres/socket.ts";
import { openStore } from "../../src/store/mod.ts";
import { type Cluster, makeCluster, postgresHere } from "../support/cluster.ts";
import { openPooler } from "../support/pooler.ts";
import { eventually } from "../support/time.ts";

const BOUNDS =
  `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
  current_setting('idle_in_transaction_session_timeout') AS idle`;
const USUAL = { statement: "5s", lock: "5s", idle: "10s" };

function test(title: string, body: (cluster: Cluster) => Promise<void>): void {
  Deno.test({
    name: title,
    ignore: postgresHere === null,
    async fn() {
      const cluster = await makeCluster();
      try {
        await body(cluster);
      } finally {
        await cluster.remove();
      }
    },
  });
}

test("openPostgres() bounds each session where a pooler takes no settings with its start, and hears others", async (cluster) => {
  const pooler = openPooler(cluster.url, "session");
  const engine = openPostgres(pooler.url, { connections: 4 });
  const heard: string[] = [];
  try {
    await engine.examine!();
    const all = await Promise.all([1, 2, 3].map(() => engine.transaction((query) => query(BOUNDS))));
    for (const [row] of all) assertEquals({ ...row }, USUAL);
    // A read for an operator has other bounds, and leaves the usual ones.
    await engine.longQuery!("SELECT 1 AS x");
    assertEquals({ ...(await engine.query(BOUNDS))[0] }, USUAL);
    await engine.listen((message) => heard.push(message));
    await eventually(async () => {
      await engine.transaction((query) => engine.notify(query, "hello"));
      return heard.includes("hello");
    });
  } finally {
    await engine.close();
    await pooler.close();
  }
});

Deno.test("openSocket() gives a socket that errors of the driver can name", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const address = { host: ["127.0.0.1"], port: [port] };
  const socket = await openSocket(address, { sslMode: null, timeoutMs: 60_000, opening: "", onClosed() {} });
  const there = await listener.accept();
  try {
    assertEquals([socket.host, socket.port], ["127.0.0.1", port]);
  } finally {
    socket.destroy();
    there.close();
    listener.close();
  }
});

test("openPostgres() takes the bounds of a session from its address, and does not wait less for an answer", async (cluster) => {
  const engine = openPostgres(`${cluster.url}?statement_timeout=20000&lock_timeout=1234`, { connections: 2 });
  try {
    const bounds = { statement: "20s", lock: "1234ms", idle: "10s" };
    assertEquals({ ...(await engine.query(BOUNDS))[0] }, bounds);
    await engine.longQuery!("SELECT 1 AS x");
    assertEquals({ ...(await engine.query(BOUNDS))[0] }, bounds);
  } finally {
    await engine.close();
  }
});

test("a store behind a pooler that shares connections between transactions is refused before anything is written", async (cluster) => {
  const pooler = openPooler(cluster.url, "transaction");
  const sql = postgres(cluster.url, { max: 1, onnotice() {} });
  for (const connections of [2, 4]) {
    const store = openStore(pooler.url, { connections });
    try {
      await assertRejects(() => store.prepare(), StoreUnfit, "session mode");
    } finally {
      await store.close();
    }
  }
  try {
    assertEquals([...await sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`], []);
  } finally {
    await sql.end();
    await pooler.close();
  }
});
