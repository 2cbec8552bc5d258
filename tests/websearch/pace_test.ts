/** An engine that takes some requests a second, and says so with 429. */
import { assert, assertEquals } from "@std/assert";
import { openWebSearch } from "../../src/websearch/mod.ts";
import { Pace } from "../../src/websearch/pace.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const HIT = { url: "https://a.test/", title: "t", content: "c" };
const settings = (baseUrl: string) => ({
  engine: "searxng",
  baseUrl,
  apiKey: "",
  results: 3,
  timeoutMs: 10_000,
});

/** One request a second. Time passes by sleeping alone. */
function onePerSecond(refusal: Record<string, string>) {
  let time = 1_000_000;
  let last = -Infinity;
  const asleep: { until: number; wake(): void }[] = [];
  const server = loopbackProvider(() => {
    if (time - last < 1000) return new Response("slow down", { status: 429, headers: refusal });
    last = time;
    return Response.json({ results: [HIT] });
  });
  return {
    server,
    web: openWebSearch(settings(server.url), {
      now: () => time,
      sleep: (ms) => new Promise((wake) => void asleep.push({ until: time + ms, wake })),
    }),
    /** Wakes one after the other, each once all the others sleep or have their answer. */
    async run<T>(searches: Promise<T>[]): Promise<T[]> {
      let left = searches.length;
      for (const search of searches) void search.then(() => left--);
      for (;;) {
        await eventually(() => asleep.length >= left);
        const next = asleep.sort((a, b) => a.until - b.until).shift();
        if (next === undefined) return await Promise.all(searches);
        time = Math.max(time, next.until);
        next.wake();
      }
    },
  };
}

const REFUSALS: Record<string, string>[] = [{}, { "retry-after": "1" }, { "retry-after": "soon" }];

for (const refusal of REFUSALS) {
  Deno.test(`searches side by side take turns at an engine of one request a second that answers 429 with ${JSON.stringify(refusal)}`, async () => {
    const { server, web, run } = onePerSecond(refusal);
    const found = await run(["a", "b", "c", "d"].map((query) => web.search(query, {})));
    assertEquals(found.map(({ failed, hits }) => [failed, hits.length]), new Array(4).fill([false, 1]));
    // Three were refused, and asked again in their turns.
    assertEquals(server.seen.length, 7);
    await server.close();
  });
}

Deno.test("Pace gives each request the time until its turn, a second after the one before it", () => {
  let now = 5000;
  const pace = new Pace(() => now, 10_000);
  assertEquals(pace.take(15_000), 0);
  pace.limited(2);
  assertEquals([pace.take(15_000), pace.take(15_000)], [2100, 3200]);
  // The third turn is at 9300.
  assertEquals([pace.take(9300), pace.take(9301)], [null, 4300]);
  now = 20_000;
  assertEquals([pace.take(30_000), pace.take(30_000)], [0, 0]);
});

Deno.test("a search whose turn would come too late fails at once, and asks nobody", async () => {
  const lines: string[] = [];
  let time = 0;
  const server = loopbackProvider(() =>
    new Response("no", { status: 429, headers: { "retry-after": "30" } })
  );
  const web = openWebSearch(settings(server.url), {
    now: () => time,
    sleep: () => Promise.reject(new Error("nobody waits")),
    log: (line) => lines.push(line),
  });
  const refused = { hits: [], failed: true, why: "status_429" };
  assertEquals([await web.search("a", {}), await web.search("b", {})], [refused, refused]);
  assertEquals(server.seen.length, 1);
  time = 31_000;
  assertEquals(await web.search("c", {}), refused);
  assertEquals(server.seen.length, 2);
  // A clock that was set back keeps nobody away.
  time = -1e9;
  assertEquals(await web.search("d", {}), refused);
  assertEquals(server.seen.length, 3);
  assert(lines.every((line) => line.includes("asked too often")), lines.join("\n"));
  await server.close();
});
