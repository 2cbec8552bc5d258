/** The tables of a store take longer to be made than a call would wait for. */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { openStore } from "../../src/store/mod.ts";
import { databaseOf, onCluster } from "../support/cluster.ts";

onCluster((cluster) => {
  Deno.test("steps of the schema may take longer than statements of calls may", async () => {
    const admin = postgres(cluster().url, { max: 1, onnotice() {} });
    await admin`CREATE DATABASE slow`;
    const url = databaseOf(cluster().url, "slow");
    const slow = postgres(url, { max: 1, onnotice() {} });
    await slow`CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(0.4); END $$`;
    await slow`CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE FUNCTION') EXECUTE FUNCTION slow()`;
    const address = new URL(url);
    address.search = "?statement_timeout=200";
    const store = openStore(address.href);
    try {
      await store.prepare();
      assertEquals(await store.teams(), []);
    } finally {
      await store.close();
      await slow.end();
      await admin.end();
    }
  });
});
