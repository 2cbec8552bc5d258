/** A gateway over a new database whose tables cannot be made at its start. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";

/** "sluice" in ASCII: the lock under which tables are made. */
const MIGRATION_LOCK = 0x736c75696365;

onCluster((cluster) => {
  Deno.test("a gateway starts although nobody can make its tables yet, and serves once they are made", async () => {
    const admin = postgres(cluster().url, { max: 1, onnotice() {} });
    await admin`CREATE DATABASE late`;
    const address = new URL(databaseOf(cluster().url, "late"));
    const locker = postgres(address.href, { max: 1, onnotice() {} });
    await locker`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    address.search = "?statement_timeout=500&lock_timeout=500";
    const gateway = await testGateway({ d: { api: "demo", url: "" } }, { store: { url: address.href } });
    try {
      assert(
        gateway.logged.some((line) => line.startsWith("The store is unavailable")),
        gateway.logged.join(),
      );
      await locker`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`;
      await eventually(() => gateway.gateway.accounts.storeUp());
      const answer = await gateway.post("/v1/chat/completions", {
        model: "d/model",
        messages: [{ role: "user", content: "hi" }],
      });
      assertEquals(answer.status, 200, await answer.text());
      await gateway.gateway.accounts.flush();
      assertEquals((await locker`SELECT 1 FROM generations`).length, 1);
    } finally {
      await gateway.close();
      await locker.end();
      await admin.end();
    }
  });
});
