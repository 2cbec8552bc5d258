/** Who may read payloads, and where they are on several machines. */
import { assertEquals, assertMatch } from "@std/assert";
import { payloadLog } from "../../src/assembly/payload_log.ts";
import { PAYLOADS } from "../../src/payloads/config.ts";
import { nodeName } from "../../src/payloads/mod.ts";
import { generationId } from "../../src/exchange/request_ids.ts";
import { SECRET } from "../support/gateway.ts";
import { onBothEngines } from "../support/cluster.ts";
import { S3_KEYS } from "./s3_server.ts";
import { ADMIN, keeping, PAYLOAD_KEY } from "./support.ts";

const CHAT = { model: "p/model", messages: [{ role: "user", content: "hi" }] };

for (const readers of [["owner"], ["owner", "auditor"], []]) {
  Deno.test(`roles that read payloads: ${readers.join(", ") || "none"}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await keeping({
        payloads: { to: `file:${folder}`, key: PAYLOAD_KEY, readers },
        keys: [{ name: "test", secret: SECRET, payloads: true }],
      }, async ({ gateway }) => {
        const response = await gateway.post("/v1/chat/completions", CHAT);
        await response.text();
        const id = response.headers.get("x-request-id");
        await gateway.gateway.idle();
        for (const role of ["owner", "operator", "auditor"]) {
          const made = await fetch(`${gateway.url}/admin/tokens`, {
            method: "POST",
            headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
            body: JSON.stringify({ name: role, role }),
          });
          const { secret, token } = await made.json();
          const read = await fetch(`${gateway.url}/admin/generations/${id}/payload`, {
            headers: { authorization: `Bearer ${secret ?? token}` },
          });
          const json = await read.json();
          assertEquals(read.status === 403, !readers.includes(role), `${role}: ${JSON.stringify(json)}`);
          if (read.status === 403) assertMatch(json.error.message, /payloads\.readers/);
        }
        const audit = await fetch(`${gateway.url}/admin/audit?kind=admin`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        });
        const { data }: { data: Record<string, string>[] } = await audit.json();
        const refused = data.filter(({ route }) => route === "GET /admin/generations/{id}/payload")
          .filter(({ action }) => action !== "payload.read");
        assertEquals(
          refused.map((entry) => [entry.role, entry.target, entry.result]).sort(),
          ["auditor", "operator", "owner"].filter((role) => !readers.includes(role))
            .map((role) => [role, id, "permission_denied"]),
        );
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("a payload of what is no generation's id is not found, also while the storage is away", async () => {
  // Nothing listens at this port.
  const away = { to: "s3://kept", endpoint: "http://127.0.0.1:1", region: "eu-central-1", ...S3_KEYS };
  await keeping({ payloads: { ...away, key: PAYLOAD_KEY } }, async ({ payload }) => {
    assertEquals((await payload(generationId(Date.UTC(2026, 5, 15)))).status, 503);
    for (const id of ["x", "%25", "a%00b", "..%2F..%2Fetc", `GEN_${"0".repeat(32)}`, "x".repeat(5000)]) {
      const { status, json } = await payload(id);
      assertEquals([status, json.error.code], [404, "not_found"], id);
    }
  });
});

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: a node that does not have a payload in its files knows who has`, async () => {
    const here = place();
    const store = here.open();
    const folder = await Deno.makeTempDir();
    const now = Date.UTC(2026, 5, 15);
    try {
      await store.prepare();
      const section = PAYLOADS.parse({ to: `file:${folder}`, key: PAYLOAD_KEY });
      const log = await payloadLog(section, { now: () => now, log() {}, store, sweeps: false });
      const id = generationId(now);
      log.add(id, "key", 1, () => "x");
      await log.close();
      // Nodes over one SQLite file are on one machine.
      assertEquals(await store.payloadPlace(id), name === "postgres" ? nodeName() : null);
      assertEquals(await store.payloadPlace(generationId(now)), null);
      await store.insertPayloadPlaces([{ id, created: now, place: "another" }]);
      assertEquals(await store.payloadPlace(id), name === "postgres" ? nodeName() : "another");
      assertEquals(await store.retirePayloadPlaces(now + 1, 10), 1);
      assertEquals(await store.payloadPlace(id), null);
    } finally {
      await store.close();
      here.remove();
      await Deno.remove(folder, { recursive: true });
    }
  });
});
