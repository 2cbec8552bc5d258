import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";

Deno.test("GET /metrics is for this machine, and for the admin key", async () => {
  for (const adminKey of ["key", null]) {
    const { gateway, close } = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: adminKey });
    const get = async (hostname: string, headers: Record<string, string> = {}) => {
      const remoteAddr = { hostname, port: 1, transport: "tcp" } as const;
      const response = await gateway.handle(new Request("http://x/metrics", { headers }), { remoteAddr });
      const text = await response.text();
      return response.status === 200 ? text.includes("sluice_in_flight 0\n") : JSON.parse(text).error.code;
    };
    for (const own of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
      assertEquals(await get(own), true);
    }
    for (const other of ["10.0.0.1", "::2", "128.0.0.1", "1127.0.0.1"]) {
      assertEquals(await get(other), "authentication_required", other);
    }
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip"]) {
      assertEquals(await get("127.0.0.1", { [name]: "9.9.9.9" }), "authentication_required", name);
    }
    const withKey = (key: string) => get("10.0.0.1", { authorization: `Bearer ${key}` });
    assertEquals(await withKey("key"), adminKey === null ? "invalid_api_key" : true);
    assertEquals(await withKey("other"), "invalid_api_key");
    assertEquals(await withKey("null"), "invalid_api_key");
    const unknown = await gateway.handle(new Request("http://x/metrics"));
    assertEquals(unknown.status, 401, "an unknown address is not this machine");
    await close();
  }
});
