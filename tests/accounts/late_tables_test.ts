/** A gateway over a new database whose tables cannot be made at its start. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";

/** "sluice" in ASCII: the lock under which tables are made. */
const MIGRATION_LOCK = 0x736c75696365;
const ADMIN = "admin-key-of-the-test-0001";

/** Bodies that operations take; all others get none. */
const BODIES: Record<string, unknown> = {
  "POST /v1/chat/completions": { model: "d/model", messages: [{ role: "user", content: "hi" }] },
  "POST /v1/messages": { model: "d/model", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  "POST /v1/messages/count_tokens": { model: "d/model", messages: [{ role: "user", content: "hi" }] },
  "POST /v1/responses": { model: "d/model", input: "hi" },
  "POST /v1/estimate": { model: "d/model", messages: [{ role: "user", content: "hi" }] },
  "POST /admin/keys": { name: "k" },
  "PATCH /admin/keys/{key}": { spend_limit: null },
  "POST /admin/keys/{key}/rotate": { overlap_seconds: 1 },
  "POST /admin/accounts": { name: "a", credits: "1" },
  "POST /admin/accounts/{account}/credits": { amount: "1" },
  "POST /admin/teams": { name: "t" },
  "PATCH /admin/teams/{team}": { spend_limit: null },
  "POST /admin/tokens": { name: "t", role: "auditor" },
};
/** What each of these asks the store for cannot be had without its tables. */
const NEEDS_STORE = [
  "POST /admin/keys",
  "PATCH /admin/keys/{key}",
  "DELETE /admin/keys/{key}",
  "POST /admin/keys/{key}/rotate",
  "POST /admin/accounts",
  "POST /admin/accounts/{account}/credits",
  "POST /admin/teams",
  "PATCH /admin/teams/{team}",
  "DELETE /admin/teams/{team}",
  "POST /admin/tokens",
  "DELETE /admin/tokens/{id}",
];

onCluster((cluster) => {
  async function withoutTables(
    database: string,
    body: (gateway: TestGateway, locker: postgres.Sql) => Promise<void>,
  ): Promise<void> {
    const admin = postgres(cluster().url, { max: 1, onnotice() {} });
    await admin.unsafe(`CREATE DATABASE ${database}`);
    const folder = await Deno.makeTempDir({ prefix: "sluice-late-" });
    const address = new URL(databaseOf(cluster().url, database));
    const locker = postgres(address.href, { max: 1, onnotice() {} });
    await locker`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    address.search = "?statement_timeout=500&lock_timeout=500";
    const gateway = await testGateway({ d: { api: "demo", url: "" } }, {
      store: { url: address.href, journal: `${folder}/node` },
      admin_key: ADMIN,
    });
    try {
      assert(
        gateway.logged.some((line) => line.startsWith("The store is unavailable")),
        gateway.logged.join(),
      );
      await body(gateway, locker);
    } finally {
      await gateway.close();
      await locker.end();
      await admin.end();
      await Deno.remove(folder, { recursive: true });
    }
  }

  Deno.test("a gateway starts although nobody can make its tables yet, and serves once they are made", async () => {
    await withoutTables("late", async (gateway, locker) => {
      await locker`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`;
      await eventually(() => gateway.gateway.accounts.storeUp());
      const answer = await gateway.post("/v1/chat/completions", {
        model: "d/model",
        messages: [{ role: "user", content: "hi" }],
      });
      assertEquals(answer.status, 200, await answer.text());
      await gateway.gateway.accounts.flush();
      assertEquals((await locker`SELECT 1 FROM generations`).length, 1);
    });
  });

  Deno.test("while there are no tables, nothing that is asked for is a fault of the gateway's own, and changes are refused with 503", async () => {
    await withoutTables("none", async (gateway, locker) => {
      const document = await (await fetch(`${gateway.url}/openapi.json`)).json();
      const faults: string[] = [];
      const asked = new Set<string>();
      for (const [path, operations] of Object.entries<Record<string, unknown>>(document.paths)) {
        for (const method of Object.keys(operations).map((name) => name.toUpperCase())) {
          if (!["GET", "POST", "PATCH", "DELETE", "PUT"].includes(method)) continue;
          const operation = `${method} ${path}`;
          const body = BODIES[operation];
          for (const resume of path.startsWith("/v1/") && method === "POST" ? [false, true] : [false]) {
            const aborted = new AbortController();
            const response = await fetch(gateway.url + path.replace(/\{\w+\}/g, "default"), {
              method,
              redirect: "manual",
              signal: aborted.signal,
              headers: {
                authorization: `Bearer ${path.startsWith("/v1/") ? SECRET : ADMIN}`,
                ...(body !== undefined && { "content-type": "application/json" }),
                ...(resume &&
                  { "x-svc-resume": "true", "idempotency-key": operation.replaceAll(/\W/g, "-") }),
              },
              body: body === undefined ? undefined : JSON.stringify(body),
            });
            // Some go on for as long as somebody listens.
            const text = response.status === 200 ? "" : await response.text();
            aborted.abort();
            asked.add(operation);
            if (response.status === 500) faults.push(`${operation}: ${text}`);
            if (NEEDS_STORE.includes(operation)) {
              const told = [
                response.status,
                JSON.parse(text).error.code,
                response.headers.get("retry-after"),
              ];
              assertEquals(told, [503, "service_unavailable", "2"], operation);
            }
          }
        }
      }
      assertEquals(faults, []);
      assertEquals(NEEDS_STORE.filter((operation) => !asked.has(operation)), []);
      await locker`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`;
      await eventually(() => gateway.gateway.accounts.storeUp());
    });
  });
});
