/** What holds for every endpoint of the table, and for those to come: credentials, methods, descriptions, metric labels. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import type { Endpoint, ServerState } from "../../src/http/endpoint.ts";
import { EndpointTable } from "../../src/http/endpoint_table.ts";
import { CATALOG, OPERATION } from "../../src/http/surfaces.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";

const ALL = await ENDPOINTS.all();
const ADMIN = "the-admin-key";
/** Nobody is there. */
const OIDC = { issuer: "http://127.0.0.1:1", client_id: "x", roles: { claim: "roles", map: {} } };
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The path with something in each place. */
const filled = (path: string) => path.replaceAll(/\{\w+\+?\}/g, "nothing");

async function withGateway(
  config: Record<string, unknown>,
  test: (
    ask: (method: string, path: string, headers?: Record<string, string>) => Promise<Response>,
    gateway: TestGateway,
  ) => Promise<void>,
): Promise<void> {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, config);
  try {
    await test(async (method, path, headers = {}) => {
      const response = await gateway.gateway.handle(
        new Request(`http://gateway${filled(path)}`, {
          method,
          headers,
          body: method === "POST" || method === "PATCH" ? "{}" : null,
        }),
      );
      // One that tells of events as they happen does not end by itself.
      const endless = response.headers.get("content-type") === "text/event-stream";
      const text = endless ? (await response.body?.cancel(), "") : await response.text();
      return new Response([204, 304].includes(response.status) ? null : text, response);
    }, gateway);
  } finally {
    await gateway.close();
  }
}

Deno.test("every endpoint checks the credential that its row names", () =>
  withGateway({ admin_key: ADMIN }, async (ask) => {
    for (const { method, path, credential } of ALL) {
      const label = `${method} ${path}`;
      const none = await ask(method, path);
      if (credential === "none") {
        assert(none.status !== 401, label);
        continue;
      }
      assertEquals(none.status, 401, label);
      for (const wrong of ["sk_live_wrong", "wrong", credential === "api_key" ? ADMIN : SECRET]) {
        assertEquals((await ask(method, path, { authorization: `Bearer ${wrong}` })).status, 401, label);
      }
      if (credential === "session") continue;
      const right = credential === "api_key" ? SECRET : ADMIN;
      const answer = await ask(method, path, { authorization: `Bearer ${right}` });
      assert(answer.status !== 401, `${label} ${await answer.text()}`);
    }
  }));

Deno.test("without an admin key its endpoints are not there, whatever the method", () =>
  withGateway({}, async (ask) => {
    const hidden = ALL.filter((e) => e.credential === "admin_key" || e.path === "/console");
    assert(hidden.length > 10);
    for (const { path } of hidden) {
      for (const method of [...METHODS, "OPTIONS"]) {
        assertEquals((await ask(method, path)).status, 404, `${method} ${path}`);
      }
    }
  }));

Deno.test("every path says which methods it has, and refuses the others before it asks for a credential", () =>
  withGateway({ admin_key: ADMIN, oidc: OIDC }, async (ask) => {
    for (const path of new Set(ALL.map((e) => e.path))) {
      const here = ALL.filter((e) => e.path === path).map((e) => e.method as string);
      const allow = [...here, ...(here.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
      const options = await ask("OPTIONS", path);
      assertEquals([options.status, options.headers.get("allow")], [204, allow], path);
      for (const method of METHODS.filter((m) => !here.includes(m))) {
        const refused = await ask(method, path);
        const { error } = await refused.json();
        const label = `${method} ${path}`;
        assertEquals([refused.status, refused.headers.get("allow")], [405, allow], label);
        assertEquals(error.code, "method_not_allowed", label);
        assertStringIncludes(error.message, allow, label);
        assertEquals(refused.headers.get("x-should-retry"), null, label);
        assertMatch(refused.headers.get("x-request-id") ?? "", /^gen_/, label);
      }
      if (!here.includes("GET")) continue;
      const [head, get] = [await ask("HEAD", path), await ask("GET", path)];
      assertEquals([head.status, await head.text()], [get.status, ""], path);
    }
  }));

Deno.test("every answer has ids, and counts for the surface of its row", () =>
  withGateway({ admin_key: ADMIN }, async (ask, { url }) => {
    const counts = async () => {
      const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN}` } }))
        .text();
      const found = text.matchAll(/^sluice_responses_total\{surface="(\w+)",status="\d+"\} (\d+)$/gm);
      return [...found].reduce<Record<string, number>>(
        (sums, [, surface, n]) => ({ ...sums, [surface]: (sums[surface] ?? 0) + Number(n) }),
        {},
      );
    };
    for (const { method, path, surface, credential } of ALL) {
      const before = await counts();
      const key = credential === "api_key" ? SECRET : ADMIN;
      const answer = await ask(method, path, { authorization: `Bearer ${key}` });
      assertMatch(answer.headers.get("x-request-id") ?? "", /^gen_[0-9a-f]{32}$/, path);
      assertEquals(answer.headers.get("request-id"), answer.headers.get("x-request-id"), path);
      const after = await counts();
      // Looking counts for `other` too.
      const looked = surface.name === "other" ? 1 : 0;
      assertEquals(after[surface.name] - (before[surface.name] ?? 0) - looked, 1, `${method} ${path}`);
    }
  }));

Deno.test("every row says what an API document needs", () => {
  for (const { method, path, summary, parameters = [], request, answer } of ALL) {
    const label = `${method} ${path}`;
    assertMatch(summary, /^[A-Z].+\.$/, label);
    assertMatch(path, /^(?:\/(?:[\w.]+|\{\w+\+?\}))+$/, label);
    const placeholders = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
    const inPath = parameters.filter((p) => p.in === "path").map((p) => p.name);
    assertEquals(inPath, placeholders, label);
    for (const { description } of parameters) assertMatch(description, /^[A-Z].+\.$/, label);
    assertEquals(new Set(parameters.map((p) => p.name)).size, parameters.length, label);
    if (method === "GET" || method === "DELETE") assertEquals(request, undefined, label);
    else assert(request, `${label} names the schema of its body`);
    assert(answer.schema ?? answer.types, `${label} says what it answers`);
  }
});

const STATE = { adminKey: null, oidc: null } as ServerState;

function row(path: string, more: Partial<Endpoint> = {}): Endpoint {
  const made = {
    method: "GET",
    path,
    surface: OPERATION,
    credential: "none",
    summary: "Tests.",
    answer: {},
    handle: () => new Response(),
    ...more,
  };
  return made as Endpoint;
}

Deno.test("EndpointTable finds fixed paths before patterns, and decodes what stands in a pattern's places", () => {
  const table = new EndpointTable([
    row("/a/{one}"),
    row("/a/b"),
    row("/a.b/{one}/c/{two}"),
    row("/m/{rest+}"),
  ]);
  const parameters = (path: string) => table.at(path)?.parametersOf(path);
  assertEquals(parameters("/a/b"), {});
  assertEquals(parameters("/a/x%2Fy%20z"), { one: "x/y z" });
  assertEquals(parameters("/a.b/1/c/2"), { one: "1", two: "2" });
  assertEquals(parameters("/m/x/y"), { rest: "x/y" });
  for (const none of ["/a", "/a/", "/a/b/c", "/axb/1/c/2", "/a.b/1/c", "/m", "/m/", "/x/a/b"]) {
    assertEquals(table.at(none), undefined, none);
  }
  for (const broken of ["/a/%", "/a/%00", "/a/%7f", "/m/x/%zz"]) {
    assertThrows(() => parameters(broken), Error, "nothing of this name", broken);
  }
});

Deno.test("EndpointTable joins the rest of its rows once, when somebody asks, and tries again after it could not", async () => {
  let asked = 0;
  const table = new EndpointTable([row("/a")], () => {
    asked++;
    return asked === 1 ? Promise.reject(new Error("no file")) : Promise.resolve([row("/b"), row("/c/{one}")]);
  });
  assertEquals([table.at("/a") === undefined, table.at("/b"), asked], [false, undefined, 0]);
  await assertRejects(() => table.restJoined()!, Error, "no file");
  await Promise.all([table.restJoined(), table.restJoined(), table.all()]);
  assertEquals([table.restJoined(), asked], [null, 2]);
  assertEquals(["/b", "/c/1", "/d"].map((path) => table.at(path) !== undefined), [true, true, false]);
  assertEquals((await table.all()).map(({ path }) => path), ["/a", "/b", "/c/{one}"]);
  const twice = new EndpointTable([row("/a")], () => Promise.resolve([row("/a")]));
  await assertRejects(() => twice.all(), Error, "GET /a stands in the table twice");
});

Deno.test("EndpointTable refuses a row that stands there already, and a path of two surfaces", () => {
  assertThrows(() => new EndpointTable([row("/a"), row("/a")]), Error, "GET /a stands in the table twice");
  assertThrows(
    () => new EndpointTable([row("/a"), row("/a", { method: "POST", surface: CATALOG })]),
    Error,
    "/a belongs to two surfaces",
  );
});

Deno.test("EndpointTable leaves out what does not exist under a configuration", () => {
  const table = new EndpointTable([
    row("/a", { credential: "admin_key" }),
    row("/a", { method: "POST" }),
    row("/b", { credential: "admin_key", exists: () => true } as Partial<Endpoint>),
    row("/c", { exists: () => false }),
  ]);
  assertEquals(table.at("/a")!.allowed(STATE), "POST, OPTIONS");
  assertEquals(table.at("/a")!.endpoint("GET", STATE), undefined);
  assertEquals(table.at("/a")!.allowed({ ...STATE, adminKey: "x" }), "GET, POST, HEAD, OPTIONS");
  assertEquals(table.at("/b")!.allowed(STATE), "GET, HEAD, OPTIONS");
  assertEquals(table.at("/c")!.allowed(STATE), null);
});
