import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { testGateway } from "../support/gateway.ts";

async function page(
  config: Record<string, unknown>,
  method = "GET",
  headers: HeadersInit = {},
): Promise<Response> {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, config);
  const response = await fetch(`${gateway.url}/console`, { method, headers });
  const text = await response.text();
  await gateway.close();
  return new Response(method === "HEAD" || response.status === 304 ? null : text, response);
}

const scriptOf = (html: string) => /<script type="module">([^]*)<\/script>/.exec(html)![1];

Deno.test("GET /console is one page without anything from elsewhere, and without the admin key", async () => {
  const response = await page({ admin_key: "the-admin-key" });
  assertEquals(response.status, 200);
  const html = await response.text();
  assert(!html.includes("the-admin-key"));
  assert(!/\b(?:src|href)\s*=\s*["'](?!#)/.test(html), "no address but places within the page");
  assert(!/https?:\/\//.test(html));
  assert(!/\son\w+\s*=/.test(html), "no inline handlers, which the policy would refuse");
  assert(
    !/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/.test(html),
    "answers are shown as text",
  );
  assert(!/localStorage|sessionStorage|document\.cookie/.test(html), "the key stays in memory");
});

Deno.test("GET /console lets its own script and style run, and nothing else", async () => {
  const response = await page({ admin_key: "the-admin-key" });
  const html = await response.text();
  const policy = response.headers.get("content-security-policy")!;
  const directives = Object.fromEntries(
    policy.split("; ").map((d) => [d.split(" ")[0], d.split(" ").slice(1).join(" ")]),
  );
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  assertEquals(directives["default-src"], "'none'");
  assertEquals(directives["script-src"], hash(scriptOf(html)));
  assertEquals(directives["style-src"], hash(/<style>([^]*)<\/style>/.exec(html)![1]));
  assertEquals(directives["frame-ancestors"], "'none'");
  assertEquals(response.headers.get("x-content-type-options"), "nosniff");
  assertEquals((html.match(/<(?:script|style|link)\b/g) ?? []).sort(), ["<script", "<style"]);
});

Deno.test("the page's script is JavaScript, and every field that it reaches for exists", async () => {
  const html = await (await page({ admin_key: "the-admin-key" })).text();
  const script = scriptOf(html);
  new Function(script);
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, id] of script.matchAll(/\b(?:at|table|onSubmit)\("([^"]+)"/g)) assert(ids.has(id), id);
  for (const [, id] of html.matchAll(/(?:aria-labelledby|href)="#?([^"]+)"/g)) assert(ids.has(id), id);
  assertEquals(
    (html.match(/<input/g) ?? []).length,
    (html.match(/<label>[^<]*<input/g) ?? []).length,
    "every field has a label",
  );
});

Deno.test("a browser that has the page as it is gets no second copy, and none is kept unasked", async () => {
  const config = { admin_key: "the-admin-key" };
  const first = await page(config);
  assertEquals(first.headers.get("cache-control"), "private, no-cache");
  const etag = first.headers.get("etag")!;
  const again = await page(config, "GET", { "if-none-match": `"other", ${etag}` });
  assertEquals([again.status, again.headers.get("etag")], [304, etag]);
  assert(again.headers.has("content-security-policy"));
  assertEquals((await page(config, "GET", { "if-none-match": '"other"' })).status, 200);
});

Deno.test("/console is not there without an admin key, and only to be read", async () => {
  assertEquals((await page({})).status, 404);
  assertEquals((await page({ admin_key: "the-admin-key" }, "HEAD")).status, 200);
  const refused = await page({ admin_key: "the-admin-key" }, "POST");
  assertEquals([refused.status, refused.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
});
