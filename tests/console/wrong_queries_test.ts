/** Refusals of queries and bodies of the administration: what they name. */
import { assertEquals } from "@std/assert";
import { ADMIN, withConsole } from "./rig.ts";

const BEARER = { authorization: `Bearer ${ADMIN}` };

Deno.test("a list of a time range that ends before it begins is refused, and names both ends", async () => {
  await withConsole(async (ask) => {
    for (const path of ["/admin/usage", "/admin/generations", "/admin/audit"]) {
      const { status, json } = await ask("GET", `${path}?from=2026-10-02&to=2026-10-01`, { headers: BEARER });
      assertEquals([status, json.error.code], [422, "validation_error"], path);
      assertEquals(
        json.error.message,
        'Cannot read to: expected a time later than from ("2026-10-02"), got "2026-10-01"',
      );
    }
  });
});

Deno.test("a refusal of several fields says how many, and each mistake names what was found", async () => {
  await withConsole(async (ask) => {
    const body = { name: "a", hedge: "yes", repair: 1 };
    const made = await ask("POST", "/admin/keys", { headers: BEARER, body });
    assertEquals(made.json.error.message, "Cannot read repair: expected true or false, got 1 (and 1 more)");
    const { json } = await ask("GET", "/admin/overview?range=5y", { headers: BEARER });
    assertEquals(
      json.error.extra.errors[0].msg,
      'expected one of 15m, 1h, 6h, 24h, 7d, 30d, 90d, 1y, got "5y"',
    );
    const scan = { request: {}, format: "xml" };
    const scanned = await ask("POST", "/admin/dlp/scan", { headers: BEARER, body: scan });
    assertEquals(
      scanned.json.error.extra.errors[0].msg,
      'expected one of chat_completions, messages, responses, got "xml"',
    );
  });
});
