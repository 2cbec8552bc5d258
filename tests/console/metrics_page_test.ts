import { assertEquals, assertThrows } from "@std/assert";
import { metricsPage } from "../../src/console/metrics_page.ts";
import { Failure } from "../../src/exchange/failure.ts";

Deno.test("metricsPage() is for the own machine, and for the admin key", () => {
  const get = (remote: string | null, adminKey: string | null, headers: Record<string, string> = {}) =>
    metricsPage(new Request("http://x/metrics", { headers }), remote, adminKey, () => "a 1\n").status;
  const refused = (...args: Parameters<typeof get>) =>
    assertEquals(assertThrows(() => get(...args), Failure).code, "authentication_required");
  for (const own of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) assertEquals(get(own, null), 200);
  for (const other of ["10.0.0.1", "::2", "128.0.0.1", "1127.0.0.1", null]) refused(other, "key");
  for (const name of ["x-forwarded-for", "forwarded", "x-real-ip"]) {
    refused("127.0.0.1", null, { [name]: "9.9.9.9" });
  }
  assertEquals(get("10.0.0.1", "key", { authorization: "Bearer key" }), 200);
  refused("10.0.0.1", "key", { authorization: "Bearer other" });
  refused("10.0.0.1", null, { authorization: "Bearer null" });
});
