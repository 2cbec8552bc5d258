/** Queries and lists that are longer than an engine takes: it refuses them, and the model would be told that nothing was found. */
import { assert, assertEquals } from "@std/assert";
import type { SearchOptions } from "../../src/exchange/prompt.ts";
import { openWebSearch } from "../../src/websearch/mod.ts";
import { loopbackProvider } from "../support/provider.ts";

const WORDS = Array.from({ length: 80 }, (_, i) => `w${i}`).join(" ");
const LONG = "word ".repeat(90).trim();
const HOSTS = Array.from({ length: 12 }, (_, i) => `${"very-long-name-of-a-host-".repeat(2)}${i}.example`);

async function asked(engine: string, query: string, options: SearchOptions): Promise<string> {
  const server = loopbackProvider(() => Response.json({ web: { results: [] }, query: { search: [] } }));
  const settings = { engine, baseUrl: server.url, apiKey: "k", results: 3, timeoutMs: 5000 };
  await openWebSearch(settings, { now: () => 0 }).search(query, options);
  await server.close();
  const { searchParams } = new URL(server.seen[0].path, "http://x");
  return searchParams.get("q") ?? searchParams.get("srsearch") ?? "";
}

Deno.test("brave gets at most 400 characters and 50 words, operators included", async () => {
  for (const query of ["short", WORDS, LONG, "x".repeat(500), "😀".repeat(250)]) {
    for (
      const options of [{}, { allowedDomains: HOSTS }, { blockedDomains: HOSTS }, { allowedDomains: ["a.b"] }]
    ) {
      const sent = await asked("brave", query, options);
      assert(sent.length <= 400 && sent.split(/\s+/).length <= 50, sent);
      assert(sent.isWellFormed() && sent.slice(0, 4) === query.slice(0, 4), sent);
      assertEquals(sent.includes("site:"), Object.keys(options).length > 0, sent);
      assertEquals(sent.split("(").length, sent.split(")").length, sent);
    }
  }
  assertEquals(
    await asked("brave", "news", { allowedDomains: ["a.b"], blockedDomains: ["c.d"] }),
    "news site:a.b -site:c.d",
  );
  assertEquals(await asked("brave", WORDS, {}), WORDS.split(" ").slice(0, 50).join(" "));
});

Deno.test("mediawiki gets at most 300 characters", async () => {
  assertEquals(await asked("mediawiki", LONG, {}), LONG.slice(0, 300));
  const emoji = await asked("mediawiki", `x${"😀".repeat(200)}`, {});
  assert(emoji.length <= 300 && emoji.isWellFormed());
});

Deno.test("tavily gets at most 300 domains that are wanted and 150 that are not, and hits are filtered by all", async () => {
  const hosts = Array.from({ length: 400 }, (_, i) => `h${i}.test`);
  const hit = (host: string) => ({ url: `https://${host}/`, title: host, content: "" });
  const server = loopbackProvider(() =>
    Response.json({ results: ["h1.test", "h399.test", "a.test"].map(hit) })
  );
  const settings = { engine: "tavily", baseUrl: server.url, apiKey: "k", results: 3, timeoutMs: 5000 };
  const web = openWebSearch(settings, { now: () => 0 });
  const titles = async (options: SearchOptions) =>
    (await web.search("x", options)).hits.map(({ title }) => title);
  assertEquals(await titles({ allowedDomains: hosts }), ["h1.test", "h399.test"]);
  assertEquals(await titles({ blockedDomains: hosts }), ["a.test"]);
  const [{ include_domains }, { exclude_domains }] = server.seen.map(({ body }) =>
    body as Record<string, string[]>
  );
  assertEquals([include_domains.length, exclude_domains.length], [300, 150]);
  await server.close();
});
