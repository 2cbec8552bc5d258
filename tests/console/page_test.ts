import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { get } from "node:http";
import { COPIES, PACKAGES } from "../../.deploy/page_packages.ts";
import { FILES } from "../../src/console/page_files.ts";
import { testGateway } from "../support/gateway.ts";

const ROOT = new URL("../../src/console/page/", import.meta.url);

async function page(
  config: Record<string, unknown>,
  { path = "/console", ...init }: RequestInit & { path?: string } = {},
): Promise<Response & { body_: string }> {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, config);
  const response = await fetch(`${gateway.url}${path}`, init);
  const body_ = await response.text();
  await gateway.close();
  return Object.assign(response, { body_ });
}

const ADMIN = { admin_key: "the-admin-key" };

Deno.test("GET /console is a document whose parts all come from here, and without the admin key", async () => {
  const { status, body_: html } = await page(ADMIN);
  assertEquals(status, 200);
  assert(!html.includes("the-admin-key"));
  assert(!/https?:\/\//.test(html));
  assert(!/\s(?:on\w+|style)\s*=/.test(html), "nothing inline, which the policy would refuse");
  const addresses = [...html.matchAll(/(?:(?:src|href)="|": ")([^"]+)"/g)].map(([, address]) => address);
  assert(addresses.length > 8, html);
  const version = /\/console\/assets\/(\w{16})\//.exec(html)![1];
  for (const address of addresses) {
    assert(Object.hasOwn(FILES, address.replace(`/console/assets/${version}/`, "")), address);
  }
});

Deno.test("the page's list has all files of its folder, and each is served as it is", async () => {
  const names: string[] = [];
  const walk = (folder: URL, inside: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      if (isDirectory) walk(new URL(`${name}/`, folder), `${inside}${name}/`);
      else if (!/^index\.html$|^browser\.json$|\.LICENSE$/.test(name)) names.push(inside + name);
    }
  };
  walk(ROOT, "");
  assertEquals(
    Object.keys(FILES).sort(),
    names.sort(),
    "src/console/page_files.ts lists each file of src/console/page/",
  );
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, ADMIN);
  const html = await (await fetch(`${gateway.url}/console`)).text();
  const folder = /\/console\/assets\/\w+\//.exec(html)![0];
  const types: Record<string, string> = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
  for (const [name, text] of Object.entries(FILES)) {
    const response = await fetch(`${gateway.url}${folder}${name}`, {
      headers: { "accept-encoding": "gzip" },
    });
    assertEquals(await response.text(), text, name);
    assert(response.headers.get("content-type")!.startsWith(types[name.split(".").at(-1)!]), name);
    assertEquals(response.headers.get("x-content-type-options"), "nosniff");
    assertEquals(Deno.readTextFileSync(new URL(name, ROOT)), text);
  }
  for (const missing of [`${folder}nothing.js`, `${folder}toString`, "/console/assets/other/main.js"]) {
    const response = await fetch(gateway.url + missing);
    await response.body?.cancel();
    assertEquals(response.status, 404, missing);
  }
  await gateway.close();
});

Deno.test("every module of the page imports files that are there, and packages of the import map", async () => {
  const { body_: html } = await page(ADMIN);
  const mapped = Object.keys(JSON.parse(/<script type="importmap">([^]*?)<\/script>/.exec(html)![1]).imports);
  for (const [name, text] of Object.entries(FILES)) {
    if (!name.endsWith(".js") || name.startsWith("packages/")) continue;
    for (
      const [, specifier] of text.matchAll(
        /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|\bimport\("([^"]+)"\)(?=\s*[,.)])(?<!\{import\("[^"]+"\))/gm,
      )
    ) {
      if (specifier === undefined) continue;
      if (!specifier.startsWith(".")) assert(mapped.includes(specifier), `${name}: ${specifier}`);
      else {assert(
          Object.hasOwn(FILES, new URL(specifier, `file:///${name}`).pathname.slice(1)),
          `${name}: ${specifier}`,
        );}
    }
  }
});

Deno.test("the page's scripts make no markup of texts, and keep no secret", () => {
  for (const [name, text] of Object.entries(FILES)) {
    if (!name.endsWith(".js") || name.startsWith("packages/")) continue;
    assert(
      !/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text),
      `${name}: answers are shown as text`,
    );
    assert(!/sessionStorage|document\.cookie|indexedDB/.test(text), `${name}: the key stays in memory`);
    if (name !== "lib/hooks.js") {
      assert(!/localStorage/.test(text), `${name}: useStored keeps what may be kept`);
    }
  }
});

Deno.test("GET /console lets its own files run, and nothing else", async () => {
  const { headers, body_: html } = await page(ADMIN);
  const policy = headers.get("content-security-policy")!;
  const directives = Object.fromEntries(
    policy.split("; ").map((d) => [d.split(" ")[0], d.split(" ").slice(1).join(" ")]),
  );
  const map = /<script type="importmap">([^]*?)<\/script>/.exec(html)![1];
  assertEquals(directives["default-src"], "'none'");
  assertEquals(
    directives["script-src"],
    `'self' 'sha256-${createHash("sha256").update(map).digest("base64")}'`,
  );
  assertEquals(directives["style-src"], "'self'");
  assertEquals(directives["frame-ancestors"], "'none'");
  assert(!policy.includes("unsafe"));
  assertEquals(headers.get("x-content-type-options"), "nosniff");
});

Deno.test("a browser that has the page as it is gets no second copy, and its files it keeps", async () => {
  const first = await page(ADMIN);
  assertEquals(first.headers.get("cache-control"), "private, no-cache");
  const etag = first.headers.get("etag")!;
  const again = await page(ADMIN, { headers: { "if-none-match": `"other", ${etag}` } });
  assertEquals([again.status, again.headers.get("etag")], [304, etag]);
  assert(again.headers.has("content-security-policy"));
  assertEquals((await page(ADMIN, { headers: { "if-none-match": '"other"' } })).status, 200);
  const path = /\/console\/assets\/\w+\/main\.js/.exec(first.body_)![0];
  assertEquals(
    (await page(ADMIN, { path })).headers.get("cache-control"),
    "public, max-age=31536000, immutable",
  );
});

Deno.test("the packed page and the plain one have tags of their own, and q=0 refuses the packed one", async () => {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, ADMIN);
  // Not `fetch`, which unpacks the answer.
  const as = (encoding: string, more: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Headers }>((resolve, reject) => {
      const headers = { "accept-encoding": encoding, ...more };
      get(`${gateway.url}/console`, { headers, agent: false }, (reply) => {
        reply.resume();
        const told = Object.entries(reply.headers).map((
          [name, value],
        ): [string, string] => [name, String(value)]);
        reply.on("end", () => resolve({ status: reply.statusCode!, headers: new Headers(told) }));
      }).on("error", reject);
    });
  const plain = await as("identity");
  const packed = await as("br, gzip;q=0.5");
  assertEquals([plain.headers.get("content-encoding"), packed.headers.get("content-encoding")], [
    null,
    "gzip",
  ]);
  const [tag, packedTag] = [plain, packed].map(({ headers }) => headers.get("etag")!);
  assert(tag !== packedTag, tag);
  for (
    const [encoding, told, status] of [
      ["identity", tag, 304],
      ["gzip", packedTag, 304],
      ["x-gzip", packedTag, 304],
      ["gzip", tag, 200],
      ["identity", packedTag, 200],
      ["gzip", `${tag}, W/${packedTag}`, 304],
      ["gzip", "*", 304],
    ] as const
  ) {
    const again = await as(encoding, { "if-none-match": told });
    assertEquals(again.status, status, `${encoding} ${told}`);
    assertEquals(again.headers.get("vary"), "accept-encoding");
  }
  for (const encoding of ["gzip;q=0", "gzip ; q=0.000, identity", "notgzip", "gzipped", ""]) {
    assertEquals((await as(encoding)).headers.get("content-encoding"), null, encoding);
  }
});

Deno.test("/console is not there without an admin key, and only to be read", async () => {
  assertEquals((await page({})).status, 404);
  assertEquals((await page(ADMIN, { method: "HEAD" })).status, 200);
  const refused = await page(ADMIN, { method: "POST" });
  assertEquals([refused.status, refused.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
});

Deno.test("the page's copies of packages are what the packages of deno.json hold: else `deno task page-packages`", () => {
  for (const [name, text] of Object.entries(COPIES)) {
    assertEquals(Deno.readTextFileSync(new URL(name, PACKAGES)) === text, true, name);
    const licence = Deno.readTextFileSync(new URL(`${name.split(/[.-]/)[0]}.LICENSE`, PACKAGES));
    assert(/MIT|Apache/.test(licence), name);
  }
});
