import { assert, assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { type Query, StoreUnavailable } from "../../src/store/engine.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { eventually, pause } from "../support/time.ts";
import { type Cluster, onCluster } from "../support/cluster.ts";

/** Ends a backend from outside, as an operator or a failing server would. */
async function terminate(cluster: Cluster, pid: number): Promise<void> {
  const sql = postgres(cluster.url, { max: 1, onnotice() {} });
  try {
    await sql`SELECT pg_terminate_backend(${pid})`;
  } finally {
    await sql.end();
  }
}

function hasIpv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    console.warn("This machine has no ::1: a database there is not tried.");
    return false;
  }
}

onCluster((cluster) => {
  Deno.test("openPostgres() outlives connections that break in the middle of a transaction", async () => {
    const engine = openPostgres(cluster().url, { connections: 2 });
    for (let i = 0; i < 12; i++) {
      await assertRejects(() =>
        engine.transaction(async (query) => {
          const [{ pid }] = await query("SELECT pg_backend_pid() AS pid");
          await terminate(cluster(), Number(pid));
          // At once, and after the driver has heard of it: it breaks in a different place each time.
          await pause(i);
          await query("SELECT 1");
        }), StoreUnavailable);
      assertEquals((await engine.query("SELECT 2 AS x"))[0].x, 2n);
    }
    await engine.close();
  });

  Deno.test("openPostgres() ends long work whose connection breaks, wherever it is, and goes on", async () => {
    const engine = openPostgres(cluster().url, { connections: 3 });
    const breakOff = async (query: Query, nth: number) => {
      const [{ pid }] = await query("SELECT pg_backend_pid() AS pid");
      await terminate(cluster(), Number(pid));
      await pause(nth);
    };
    const works: Record<string, (nth: number) => Promise<unknown>> = {
      "a transaction": (nth) =>
        engine.longTransaction(async (query) => {
          await breakOff(query, nth);
          await query("SELECT 1");
        }),
      "a snapshot": (nth) =>
        engine.snapshot(async ({ query, stream }) => {
          for await (const _ of stream("SELECT i FROM generate_series(1, 100000) AS i")) {
            await breakOff(query, nth);
          }
        }),
      "a statement": (nth) => {
        const running = engine.longQuery!(`SELECT pg_sleep(600), ${nth}`);
        const ended = assertRejects(() => running);
        return eventually(async () => {
          const found = await engine.query(
            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'",
          );
          if (found.length > 0) await terminate(cluster(), Number(found[0].pid));
          return found.length > 0;
        }).then(() => ended).then(() => running);
      },
    };
    for (const [what, work] of Object.entries(works)) {
      for (let nth = 0; nth < 6; nth++) {
        await assertRejects(() => work(nth), StoreUnavailable, undefined, what);
        const [{ x }] = await engine.longQuery!("SELECT 2 AS x");
        assertEquals(x, 2n);
      }
    }
    await engine.close();
  });

  Deno.test("openPostgres() reaches a server by name, by addresses of both kinds, and by its socket", async () => {
    const { url, folder } = cluster();
    const { port } = new URL(url);
    const at = [
      `localhost:${port}/postgres`,
      `127.0.0.1:${port}/postgres?sslmode=prefer`,
      `localhost:${port}/postgres?host=${encodeURIComponent(folder)}`,
      `localhost/postgres?host=${folder}&port=${port}&application_name=other`,
    ];
    if (hasIpv6()) at.push(`[::1]:${port}/postgres`);
    for (const rest of at) {
      const engine = openPostgres(`postgres://sluice@${rest}`);
      try {
        assertEquals((await engine.query("SELECT 1 AS x"))[0].x, 1n, rest);
      } finally {
        await engine.close();
      }
    }
    const nowhere = openPostgres(`postgres:///postgres?host=${folder}&port=1`);
    const error = await assertRejects(() => nowhere.query("SELECT 1"), StoreUnavailable);
    assert(/ENOENT|No such file/.test(error.reason), error.reason);
    await nowhere.close();
  });

  Deno.test("openPostgres() runs a long statement before any other has opened a connection", async () => {
    const engine = openPostgres(cluster().url);
    try {
      assertEquals((await engine.longQuery!("SELECT 1 AS x"))[0].x, 1n);
    } finally {
      await engine.close();
    }
  });

  Deno.test("openPostgres() works again after the server was away, and hears others again", async () => {
    const engine = openPostgres(cluster().url);
    const other = openPostgres(cluster().url);
    const heard: string[] = [];
    await engine.listen((message) => heard.push(message));
    for (let round = 0; round < 3; round++) {
      let answered = 0;
      const busy = Array.from({ length: 8 }, () =>
        engine.transaction(async (query) => {
          for (;; answered++) await query("SELECT 1");
        }).catch((error) => error));
      await eventually(() => answered > 100);
      await cluster().stop();
      for (const error of await Promise.all(busy)) assert(error instanceof StoreUnavailable, String(error));
      await assertRejects(() => engine.query("SELECT 1"), StoreUnavailable);
      await cluster().start();
      const message = `round ${round}`;
      await eventually(async () => {
        await engine.query("SELECT 1").catch(() => {});
        await other.transaction((query) => other.notify(query, message)).catch(() => {});
        return heard.includes(message);
      });
    }
    await engine.close();
    await other.close();
  });

  Deno.test("openPostgres() passes on what is not the connection's fault", async () => {
    const engine = openPostgres(cluster().url);
    const error = await assertRejects(() => engine.query("SELECT 1 / 0"));
    assert(!(error instanceof StoreUnavailable));
    await engine.close();
  });
});
