import { setImmediate } from "node:timers";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import { PAGES } from "../../src/manual/pages.ts";
import { testGateway } from "../support/gateway.ts";

async function served(
  paths: Record<string, RequestInit>,
  config: Record<string, unknown> = {},
): Promise<Response[]> {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, config);
  const responses: Response[] = [];
  for (const [path, init] of Object.entries(paths)) {
    const response = await fetch(`${gateway.url}${path}`, init);
    const text = await response.text();
    responses.push(new Response([204, 304].includes(response.status) ? null : text, response));
  }
  await gateway.close();
  return responses;
}

Deno.test("the manual is served without a credential, under a policy that runs no script", async () => {
  const paths = PAGES.map((page) => `/docs/${page.name}`);
  const responses = await served(Object.fromEntries(["/docs", "/docs/", ...paths].map((path) => [path, {}])));
  for (const [i, response] of responses.entries()) {
    assertEquals(response.status, 200, paths[i - 2]);
    assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy")!;
    assertMatch(policy, /^default-src 'none'; style-src 'self';/);
    assert(!policy.includes("unsafe"));
    const html = await response.text();
    assert(html.startsWith("<!doctype html>"));
    assert(!/<script|<style|\sstyle=|\son\w+=/.test(html));
    // Nothing comes from elsewhere; links may lead there.
    for (const [, address] of html.matchAll(/<(?:link|img)[^>]* (?:href|src)="([^"]*)"/g)) {
      assertMatch(address, /^(?:\/docs\/style\.css|data:,)$/);
    }
  }
});

Deno.test("a document that a crowd asks for is made once, and none is made in another's turn", async () => {
  const { digest } = crypto.subtle;
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  let made = 0;
  /** Documents made in one turn of the event loop. */
  let inTurn = 0, most = 0;
  crypto.subtle.digest = (...given) => {
    made++;
    most = Math.max(most, ++inTurn);
    setImmediate(() => inTurn = 0);
    return digest.apply(crypto.subtle, given);
  };
  try {
    // No other test of this file asks for these.
    const pages = ["alerts", "budgets", "glossary", "hosting", "limits", "payloads"];
    const answers = await Promise.all(
      pages.flatMap((page) => Array.from({ length: 20 }, () => `/docs/${page}.md`)).map(async (path) => {
        const response = await gateway.gateway.handle(new Request(`http://h${path}`));
        return [path, response.status, await response.text()].join(" ");
      }),
    );
    assertEquals([made, most, new Set(answers).size], [pages.length, 1, pages.length]);
    assert(answers.every((answer) => answer.includes(" 200 #")));
    assertEquals((await gateway.gateway.handle(new Request("http://h/docs/none"))).status, 404);
    assertEquals(made, pages.length);
  } finally {
    crypto.subtle.digest = digest;
    await gateway.close();
  }
});

Deno.test("a page that the reader has is not sent again", async () => {
  const [first] = await served({ "/docs/clients": {} });
  const tag = first.headers.get("etag")!;
  const [same, other, head] = await served({
    "/docs/clients": { headers: { "if-none-match": tag } },
    "/docs/start": { headers: { "if-none-match": tag } },
    "/docs/search": { method: "HEAD" },
  });
  assertEquals([same.status, other.status, head.status], [304, 200, 200]);
  assertEquals(same.headers.get("etag"), tag);
});

Deno.test("a page is also served as Markdown, with its stylesheet beside it, and what is missing says so", async () => {
  const [text, style, missing, posted] = await served({
    "/docs/reference/errors.md": {},
    "/docs/style.css": {},
    "/docs/no-such-page": {},
    "/docs/search": { method: "POST" },
  });
  assertEquals(text.headers.get("content-type"), "text/markdown; charset=utf-8");
  assertMatch(await text.text(), /^# Error codes\n/);
  assertEquals(style.headers.get("content-type"), "text/css; charset=utf-8");
  assertEquals(missing.status, 404);
  assertMatch(await missing.text(), /no such page/);
  assertEquals(posted.status, 405);
});

Deno.test("the configuration's JSON Schema describes every section", async () => {
  const [response] = await served({ "/config.schema.json": {} });
  assertEquals(response.headers.get("content-type"), "application/schema+json");
  const schema = await response.json();
  assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  for (const section of ["server", "store", "providers", "models", "keys", "$schema"]) {
    assert(schema.properties[section].description, section);
  }
});

Deno.test("server.docs: false turns the manual and the schema off", async () => {
  const responses = await served({ "/docs": {}, "/docs/start": {}, "/config.schema.json": {} }, {
    server: { docs: false },
  });
  assertEquals(responses.map((r) => r.status), [404, 404, 404]);
});

Deno.test("the page of administration names every endpoint", async () => {
  const { text } = PAGES.find((page) => page.name === "administration")!;
  const missing = (await ENDPOINTS.all()).filter(({ method, path }) => {
    const base = path.replace("/docs/{page+}", "/docs").replaceAll("+}", "}");
    const rows = text.split("\n").filter((line) => line.includes(`${base}\``) || line.includes(`${base}?`));
    return !rows.some((row) => row.includes(method));
  });
  assertEquals(missing.map(({ method, path }) => `${method} ${path}`), []);
});
