/** What a reload does not take over. */
import { assertEquals } from "@std/assert";
import { unappliedChanges } from "../../src/config/at_start.ts";
import { least, load } from "./example.ts";

const configOf = (more: object) => load({ ...least(), ...more }).config;

Deno.test("unappliedChanges() names each field that is read at the start alone and has another value", () => {
  const started = configOf({ server: { tls: { cert: "a.pem", key: "a.key" } } });
  assertEquals(unappliedChanges(started, started), []);
  const changed = configOf({
    server: { port: 1, max_messages: 5, idle_seconds: 5, workers: 2, cors_origins: ["*"] },
    store: { retention_days: 5, pepper: "0123456789abcdef" },
    logs: "json",
    admin_key: "0123456789abcdef",
  });
  const words = "the change needs a restart and is not applied";
  assertEquals(unappliedChanges(started, changed), [
    `server.port: ${words}`,
    `server.idle_seconds: ${words}`,
    `server.workers: ${words}`,
    `server.tls: ${words}`,
    `store.retention_days: ${words}`,
    `store.pepper: ${words}`,
    `logs: ${words}`,
  ]);
  const renewed = configOf({ server: { tls: { cert: "b.pem", key: "b.key" } } });
  assertEquals(unappliedChanges(started, renewed), []);
});
