import { assertEquals } from "@std/assert";
import type { IncomingRequest } from "../../src/http/endpoint.ts";
import { IncomingHeaders } from "../../src/transport/incoming.ts";
import { testGateway } from "../support/gateway.ts";

/** A request as it comes over a connection; a Request of the web has no host header. */
function asked(headers: Record<string, string> = {}): IncomingRequest {
  const { method, url, body, signal, arrayBuffer } = new Request("http://x/metrics");
  const fields = new IncomingHeaders(new Map(Object.entries({ host: "127.0.0.1:8787", ...headers })));
  return { method, url, body, signal, arrayBuffer, headers: fields };
}

Deno.test("GET /metrics is for everybody where the configuration says so", async () => {
  const { gateway, close } = await testGateway({ demo: { api: "demo", url: "" } }, {
    admin_key: "key",
    server: { metrics: "open" },
  });
  assertEquals((await gateway.handle(asked({ host: "gateway.example" }))).status, 200);
  await close();
});

Deno.test("GET /metrics is for the admin key, and without one for this machine", async () => {
  for (const adminKey of ["key", null]) {
    const { gateway, close } = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: adminKey });
    const get = async (hostname: string, headers: Record<string, string> = {}) => {
      const remoteAddr = { hostname, port: 1, transport: "tcp" } as const;
      const response = await gateway.handle(asked(headers), { remoteAddr });
      const text = await response.text();
      return response.status === 200 ? text.includes("sluice_in_flight 0\n") : JSON.parse(text).error.code;
    };
    for (const own of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
      assertEquals(await get(own), adminKey === null ? true : "authentication_required");
    }
    // nginx passes the address of its upstream as the host, but not every proxy does, and none needs to name the caller.
    for (const host of ["localhost:8787", "127.0.0.1", "[::1]:1", "LOCALHOST"]) {
      assertEquals(
        await get("127.0.0.1", { host }),
        adminKey === null ? true : "authentication_required",
        host,
      );
    }
    for (const host of ["gateway.example", "localhost.example", "127.0.0.1.example:80", "10.0.0.1", ""]) {
      assertEquals(await get("127.0.0.1", { host }), "authentication_required", host);
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
    const unknown = await gateway.handle(asked());
    assertEquals(unknown.status, 401, "an unknown address is not this machine");
    await close();
  }
});
