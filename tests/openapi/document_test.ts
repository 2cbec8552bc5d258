/** The API's document: it is well made, has every endpoint, and says what the gateway really answers. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ENDPOINTS } from "../../src/assemble.ts";
import { SCHEMAS } from "../../src/manual/openapi/document.ts";
import { ADMIN, type Ask, askerOf, cookieOf, withConsole } from "../console/rig.ts";
import { SECRET, type TestGateway } from "../support/gateway.ts";
import { document, pathOf, refused } from "./checking.ts";

Deno.test("the document passes the linter, without warnings", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config,
    absoluteRef: "openapi.json",
  });
  // Those that lead elsewhere have no answer of their own.
  const elsewhere = (await ENDPOINTS.all()).filter(({ answer: { status = 200 } }) =>
    status < 200 || status > 299
  )
    .map(({ path, method }) => `#/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}/responses`);
  assertEquals(
    problems.filter(({ ruleId, location }) =>
      !(ruleId === "operation-2xx-response" && elsewhere.includes(location[0].pointer!))
    ).map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  );
});

Deno.test("the document has every endpoint, and a schema for every name in the table", async () => {
  for (const { method, path, summary, request, answer } of (await ENDPOINTS.all())) {
    const label = `${method} ${path}`;
    const operation = document.paths[pathOf(path)]?.[method.toLowerCase()];
    assertEquals(operation?.summary, summary, label);
    for (const name of [request, answer.schema]) {
      assert(
        name === undefined || Object.hasOwn(SCHEMAS, name),
        `${label}: src/manual/openapi/{inputs,answers,admin_answers}.ts have no schema ${name}`,
      );
    }
  }
  const named = new Set(JSON.stringify(document).match(/#\/components\/schemas\/\w+/g));
  const unused = Object.keys(SCHEMAS).filter((name) => !named.has(`#/components/schemas/${name}`));
  assertEquals(unused, [], "schemas that nothing names");
});

Deno.test("GET /openapi.json is this document, in the open, unless server.docs is off", async () => {
  await withConsole(async (ask) => {
    const { status, json, headers } = await ask("GET", "/openapi.json");
    assertEquals([status, json.openapi, json], [200, "3.1.0", JSON.parse(JSON.stringify(document))]);
    const again = await ask("GET", "/openapi.json", { headers: { "if-none-match": headers.get("etag")! } });
    assertEquals(again.status, 304);
    for (const path of ["/openapi.json", "/config.schema.json", "/docs", "/console"]) {
      const tag = (await ask("GET", path)).headers.get("etag")!;
      const known = await ask("GET", path, { headers: { "if-none-match": tag } });
      assertEquals([known.status, refused("GET", path, known.status, known.json)], [304, []], path);
    }
    assertEquals(refused("GET", "/v1/generations/{id}/stream", 204, null), []);
  });
  await withConsole(async (ask) => {
    assertEquals((await ask("GET", "/openapi.json")).status, 404);
  }, { config: { server: { docs: false } } });
});

const MODEL = "demo/model";
const messages = [{ role: "user", content: "hi" }];
/** What is sent to an endpoint, where that is not nothing. */
const BODIES: Readonly<Record<string, unknown>> = {
  "/v1/chat/completions": { model: MODEL, max_tokens: 5, messages },
  "/v1/messages": { model: MODEL, max_tokens: 5, messages },
  "/v1/responses": { model: MODEL, max_output_tokens: 16, input: "hi" },
  "/v1/responses/compact": { model: MODEL, input: "hi" },
  "/v1/messages/count_tokens": { model: MODEL, messages },
  "/v1/responses/input_tokens": { model: MODEL, input: "hi" },
  "/v1/estimate": { model: MODEL, max_tokens: 5, messages },
  "POST /admin/keys": { name: "made", models: ["demo/*"], spend_limit: { amount: "5.00", period: "day" } },
  "PATCH /admin/keys/{key}": { repair: true },
  "/admin/tokens": { name: "made", role: "auditor" },
  "POST /admin/teams": { name: "made", spend_limit: { amount: "5.00", period: "day" } },
  "PATCH /admin/teams/{team}": { models: ["demo/*"] },
  "/admin/accounts": { name: "made", credits: "5.00" },
  "/admin/accounts/{account}/credits": { amount: "5.00" },
  "/admin/dlp/scan": { text: "4111 1111 1111 1111", dlp: { mode: "alert" } },
  "/console/session": { admin_key: ADMIN },
};
/** Those whose answers need what a test of their own has. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "GET /v1/responses": "an upgrade",
  "GET /v1/generations/{id}/stream": "a stream that was asked for so",
  "GET /admin/generations/{id}/payload": "payloads are kept only where the configuration says so",
  "GET /admin/live": "a stream without an end",
  "GET /console/oidc/start": "no identity provider",
  "GET /console/oidc/callback": "no identity provider",
  "GET /console/assets/{version}/{file}": "not JSON",
};

/** Of these the answers are of many kinds, or are documents of their own. */
const OPEN = ["/openapi.json", "/config.schema.json", "/healthz", "/readyz"];
/** Objects whose fields are names of the operator's or the caller's, or whose kind the document leaves open. */
const FREE = /\.(?:tags|pricing|prices|types|places|rules|left_out|fields|before|config\.\w+|steps\.\d+)$/;

/** The answer once for each object in it that the document describes, with a field there that it does not have. */
// deno-lint-ignore no-explicit-any
function* withMore(answer: any): Generator<{ at: string; answer: unknown }> {
  // deno-lint-ignore no-explicit-any
  function* objects(value: any, at: string): Generator<string> {
    if (typeof value !== "object" || value === null || FREE.test(at)) return;
    if (!Array.isArray(value)) yield at;
    const entries = Array.isArray(value) ? [...value.entries()].slice(0, 2) : Object.entries(value);
    for (const [name, inner] of entries) yield* objects(inner, `${at}.${name}`);
  }
  for (const at of objects(answer, "")) {
    const changed = structuredClone(answer);
    // deno-lint-ignore no-explicit-any
    const place = at.split(".").slice(1).reduce((one: any, name) => one[name], changed);
    place.made_up = { by: "the test" };
    yield { at, answer: changed };
  }
}

async function every(ask: Ask, gateway: TestGateway): Promise<void> {
  const admin = { authorization: `Bearer ${ADMIN}` };
  const chat = await ask("POST", "/v1/chat/completions", {
    body: BODIES["/v1/chat/completions"],
    headers: { authorization: `Bearer ${SECRET}`, "x-svc-tags": "env=test", "x-svc-session": "s1" },
  });
  const signedIn = await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
  // Another session, which is ended.
  await ask("POST", "/console/session", { body: { admin_key: ADMIN } });
  const [{ id: session }] = (await ask("GET", "/admin/sessions", { headers: admin })).json.data;
  const token = await ask("POST", "/admin/tokens", { body: { name: "t", role: "owner" }, headers: admin });
  const ids: Record<string, string> = {
    key: "made",
    team: "made",
    account: "made",
    provider: "demo",
    model: "demo%2Fmodel",
    id: chat.headers.get("x-request-id")!,
    page: "start",
  };
  const order = (method: string) => ["POST", "GET", "PATCH", "DELETE"].indexOf(method);
  const rows = (await ENDPOINTS.all()).toSorted((a, b) => order(a.method) - order(b.method));
  const mistakes: string[] = [];
  for (const { method, path: raw, credential } of rows) {
    const path = pathOf(raw);
    const label = `${method} ${path}`;
    if (label in ELSEWHERE) continue;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === "id" && path.startsWith("/admin/tokens")
        ? token.json.id
        : name === "id" && path.startsWith("/admin/sessions")
        ? session
        : ids[name] ?? "nothing") +
      (path.endsWith("/statement")
        ? `?month=${new Date().toISOString().slice(0, 7)}`
        : label === "DELETE /admin/sessions"
        ? "?member=nobody"
        : "");
    const headers: Record<string, string> = credential === "api_key"
      ? { authorization: `Bearer ${SECRET}` }
      : credential === "session" || path === "/console/session" && method === "DELETE"
      ? { cookie: cookieOf(signedIn), "x-svc-csrf": signedIn.json.csrf }
      : admin;
    const body = method === "POST" || method === "PATCH" ? BODIES[label] ?? BODIES[path] ?? {} : undefined;
    const answer = await ask(method, filled, { body, headers });
    if (answer.status >= 300) {
      mistakes.push(`${label}: ${answer.status} ${answer.text}`);
    } else {
      mistakes.push(...refused(method, path, answer.status, answer.json));
      if (credential !== "api_key" && answer.json !== null && !OPEN.includes(path)) {
        for (const more of withMore(answer.json)) {
          if (refused(method, path, answer.status, more.answer).length > 0) {
            continue;
          }
          mistakes.push(`${label}: a field that is not in the document passes at ${more.at}`);
        }
      }
    }
  }
  // Refusals: no credential, a wrong one, a wrong body, a wrong query.
  for (const [i, { method, path: raw, credential, request }] of rows.entries()) {
    // Each from an address of its own: wrong keys of one are answered late.
    const ask = askerOf(gateway, `10.0.0.${i}`);
    const path = pathOf(raw);
    const filled = path.replaceAll(/\{\w+\}/g, "nothing");
    const tries: [headers: Record<string, string>, body?: unknown][] = [[{}, {}]];
    const right: Record<string, string> = {
      authorization: `Bearer ${credential === "api_key" ? SECRET : ADMIN}`,
    };
    tries.push([{ authorization: "Bearer wrong" }, {}], [right, { model: 5, name: 5, role: 5, amount: 5 }]);
    if (`${method} ${path}` === "GET /admin/live") tries.pop();
    for (const [headers, body] of tries) {
      const sent = request === undefined ? undefined : body;
      const answer = await ask(method, `${filled}?limit=x`, { headers, body: sent });
      if (answer.status >= 400 && answer.json !== null) {
        mistakes.push(...refused(method, path, answer.status, answer.json));
      }
    }
  }
  assertEquals(mistakes, []);
}

Deno.test("what the gateway answers is what the document says, endpoint by endpoint", () =>
  withConsole(every));

Deno.test("a body of the administration may have the fields that the document names, and no others", () =>
  withConsole(async (ask) => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    // What a change is of is looked for first.
    await ask("POST", "/admin/teams", { headers, body: { name: "nothing" } });
    let bodies = 0;
    for (const { method, path, credential, request } of await ENDPOINTS.all()) {
      if (request === undefined || credential === "api_key") continue;
      const label = `${method} ${path}`;
      const { properties, additionalProperties } = SCHEMAS[request];
      assertEquals(additionalProperties, false, label);
      const answer = await ask(method, path.replaceAll(/\{[^}]+\}/g, "nothing"), {
        headers,
        body: { zzzzzz: 1 },
      });
      const { errors } = answer.json.error.extra;
      const { msg } = errors.find(({ loc }: { loc: string[] }) => loc[0] === "zzzzzz");
      const known = /^unknown field; known are (.*)$/.exec(msg)![1].split(", ");
      assertEquals(known.toSorted(), Object.keys(properties as object).toSorted(), label);
      bodies++;
    }
    assert(bodies >= 12, `${bodies}`);
  }));

Deno.test("the linter and the checker find what is wrong", async () => {
  const broken = structuredClone(document);
  delete broken.paths["/admin/keys"].get.responses["200"].description;
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(broken), config, absoluteRef: "x.json" });
  assert(problems.length > 0);
  assertMatch(refused("GET", "/admin/keys", 200, { data: [{ id: "x" }], next_cursor: null })[0], /required/);
  assertMatch(refused("GET", "/admin/keys", 401, { error: { code: "made_up", message: "x" } })[0], /code/);
});
