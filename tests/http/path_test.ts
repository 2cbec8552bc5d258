import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Endpoint, ServerState } from "../../src/http/endpoint.ts";
import { EndpointTable } from "../../src/http/endpoint_table.ts";
import { handler } from "../../src/http/handler.ts";
import { pathOf } from "../../src/http/path.ts";
import { OPERATION } from "../../src/http/surfaces.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";

Deno.test("pathOf() is the path alone, without a slash at its end", () => {
  for (
    const [url, path] of [
      ["http://x", "/"],
      ["http://x/", "/"],
      ["http://x/?a=/b/", "/"],
      ["http://x/v1/models/?limit=1", "/v1/models"],
      ["http://x/v1/models#a", "/v1/models"],
      ["http://[::1]:1/a//b", "/a//b"],
    ]
  ) assertEquals(pathOf(url), path, url);
});

Deno.test("a fault of a handler is logged by id, path and place, without its text and without a key", async () => {
  const logged: string[] = [];
  const failing: Endpoint = {
    method: "GET",
    path: "/fails/{name}",
    surface: OPERATION,
    credential: "none",
    summary: "Fails.",
    answer: {},
    handle() {
      throw new TypeError("password=hunter2");
    },
  };
  const kit = { now: Date.now, metrics: new Metrics(), log: (line: string) => logged.push(line) };
  const state: Partial<Record<keyof ServerState, unknown>> = { kit, corsOrigins: [] };
  const handle = handler(new EndpointTable([failing]), () => state as ServerState);
  const response = await handle(new Request("http://x/fails/sk_live_secret"));
  assertEquals([response.status, (await response.json()).error.code], [500, "internal_service_error"]);
  assertEquals(logged.length, 1);
  assertMatch(logged[0], /^gen_[0-9a-f]{32} \/fails\/\[withheld\]: TypeError: at /);
  assert(!logged[0].includes("hunter2"));
});
