/** The key of a search engine is told to nobody else, although the engine may repeat what it was sent. */
import { assert, assertEquals } from "@std/assert";
import { disguises } from "../../src/outgoing/disguises.ts";
import { openWebSearch } from "../../src/websearch/mod.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("hits never contain the engine's key, in whatever encoding the engine repeats it", async () => {
  const apiKey = "tvly-/key+of=the&gateway 0123";
  const server = loopbackProvider(({ headers }) => {
    const token = headers.get("authorization")!;
    const spellings = [apiKey, encodeURIComponent(apiKey), btoa(apiKey), btoa(`a${apiKey}`), btoa(token)];
    const results = spellings.map((spelling, i) => ({
      url: `https://example.com/${i}?q=${encodeURIComponent(apiKey)}`,
      title: spelling,
      content: `You sent ${spelling}.`,
    }));
    return Response.json({ results });
  });
  const web = openWebSearch(
    { engine: "tavily", baseUrl: server.url, apiKey, results: 10, timeoutMs: 5000 },
    { now: () => 0 },
  );
  const { hits } = await web.search("x", {});
  await server.close();
  assertEquals(hits.length, 5);
  for (const [i, { url, title, text }] of hits.entries()) {
    for (const told of [title, text, decodeURIComponent(url)]) {
      assert(told.includes("[withheld]") && !disguises(told, [apiKey]), `${i}: ${told}`);
    }
  }
});
