/** A role of PostgreSQL that may not do what a gateway does: from the start on, or since somebody changed its rights. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import postgres from "postgres";
import { StoreForbidden, StoreUnavailable } from "../../src/store/engine.ts";
import { openStore, StoreUnfit } from "../../src/store/mod.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { databaseOf, makeCluster, postgresHere } from "../support/cluster.ts";
import { eventually, PATIENCE_MS } from "../support/time.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

interface Rig {
  /** Of the role's own. */
  url: string;
  /** As the superuser says it. */
  say(sql: string): Promise<unknown>;
}

function test(title: string, body: (rig: Rig) => Promise<void>): void {
  Deno.test({
    name: `postgres: ${title}`,
    ignore: postgresHere === null,
    async fn() {
      const cluster = await makeCluster({ connections: 20 });
      const sql = postgres(cluster.url, { max: 1, onnotice() {} });
      try {
        await sql.unsafe("CREATE ROLE gateway LOGIN; GRANT ALL ON SCHEMA public TO gateway");
        const url = `${cluster.url.replace("sluice@", "gateway@")}?statement_timeout=${PATIENCE_MS}`;
        await body({ url, say: (text) => sql.unsafe(text) });
      } finally {
        await sql.end();
        await cluster.remove();
      }
    },
  });
}

/** What takes a right away, and gives it back. */
const RIGHTS: Record<string, [string, string]> = {
  "to a table that records go to": [
    "ALTER TABLE generations OWNER TO sluice",
    "ALTER TABLE generations OWNER TO gateway",
  ],
  "to the table of nodes": ["ALTER TABLE nodes OWNER TO sluice", "ALTER TABLE nodes OWNER TO gateway"],
  "to the schema": [
    "ALTER TABLE budgets OWNER TO sluice; REVOKE ALL ON SCHEMA public FROM public, gateway",
    "ALTER TABLE budgets OWNER TO gateway; GRANT ALL ON SCHEMA public TO public, gateway",
  ],
  "to log in": [
    "ALTER ROLE gateway NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gateway'",
    "ALTER ROLE gateway LOGIN",
  ],
};

for (const [right, [takeAway, giveBack]] of Object.entries(RIGHTS)) {
  test(`without the right ${right} records wait, one line says so, and they go on with it`, async ({ url, say }) => {
    const service = await open(openStore(url), configOf({}, null));
    try {
      const call = async () => {
        const reservation = await service.admit(requestOf(await keyOf(service), 1));
        await reservation.settle(endOf({ input: 1 }));
      };
      await call();
      await service.flush();
      await say(takeAway);
      for (let i = 0; i < 20; i++) {
        await call();
        await assertRejects(() => service.flush(), StoreUnavailable);
      }
      assertEquals(service.pendingCount(), 20);
      const lines = service.warnings.filter((line) => !line.startsWith("A turn"));
      assertEquals(lines.length, 1, lines.join("\n"));
      assertMatch(lines[0], /^The store is unavailable \(.+\); records wait here/);
      // Who is thrown out hears of the lost connection first.
      if (!right.endsWith("log in")) assertMatch(lines[0], /permission denied|does not exist/);
      await say(giveBack);
      await eventually(async () => {
        await service.tick();
        return service.pendingCount() === 0;
      });
      assertEquals((await service.usage({ by: "key" })).data[0].generations, 21);
    } finally {
      await say(giveBack);
      await service.close();
    }
  });
}

test("a gateway whose role may not work with the database says so in words, and does not start", async ({ url, say }) => {
  const cases: [url: string, before: string, said: RegExp][] = [
    [url.replace("gateway@", "nobody@"), "", /role "nobody" does not exist/],
    [databaseOf(url, "nowhere"), "", /database "nowhere" does not exist/],
    [
      url,
      "REVOKE ALL ON SCHEMA public FROM public, gateway",
      /no schema has been selected|permission denied/,
    ],
  ];
  for (const [url, before, said] of cases) {
    if (before !== "") await say(before);
    const error = await assertRejects(() => open(openStore(url), configOf()), StoreUnfit);
    assertMatch(error.message, said);
    assertMatch(error.message, /^Cannot use the database: .*store\.url/);
  }
});

test("what a role may not do is told from what a statement got wrong", async ({ url, say }) => {
  const engine = openPostgres(url, { connections: 1 });
  try {
    await say("CREATE TABLE theirs (id TEXT PRIMARY KEY)");
    await assertRejects(() => engine.query("SELECT id FROM theirs"), StoreForbidden);
    await say("GRANT ALL ON theirs TO gateway; INSERT INTO theirs VALUES ('a')");
    const twice = await assertRejects(() => engine.query("INSERT INTO theirs VALUES ('a')"));
    assertEquals(twice instanceof StoreUnavailable, false);
  } finally {
    await engine.close();
  }
});
