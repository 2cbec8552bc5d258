/** All rounds of a search go to the route that answered the first one. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { hitsOf, searchCall } from "./rig.ts";
import { apiOf, wholeOf } from "./rounds.ts";

const CALLS = 12;

/** Results of searches in a request, which has one more after each round. */
const roundOf = (seen: Seen) => seen.text.match(/"role":"tool"|"type":"tool_result"/g)?.length ?? 0;

/** The routes of the rounds of each call. @param fails whether a provider fails in a round */
async function routesOf(
  model: Record<string, unknown>,
  fails: (provider: string, round: number) => boolean = () => false,
): Promise<string[]> {
  const visits = new Map<string, string>();
  const provider = (name: string) =>
    loopbackProvider((seen) => {
      const [ticket] = /ticket-\d+/.exec(seen.text)!;
      const round = roundOf(seen);
      if (fails(name, round)) return new Response("down", { status: 500 });
      visits.set(ticket, (visits.get(ticket) ?? "") + name);
      const usage = { input: 10, output: 5 };
      return Response.json(wholeOf(
        apiOf(seen.path),
        round < 2
          ? { proof: `proof of ${name}`, calls: [searchCall(`query ${round}`)], usage }
          : { text: "Found.", usage },
      ));
    });
  await using a = provider("a");
  await using b = provider("b");
  await using engine = loopbackProvider(() => hitsOf("anything"));
  await using gateway = await testGateway({
    a: { api: "anthropic-messages", url: a.url },
    b: { api: "openai-chat", url: b.url },
  }, {
    search: { engine: "searxng", base_url: engine.url },
    models: [{
      id: "vendor/model",
      routes: [{ provider: "a", model: "model" }, { provider: "b", model: "model" }],
      capabilities: { features: ["tools", "reasoning"] },
      ...model,
    }],
  });
  for (let i = 0; i < CALLS; i++) {
    const response = await gateway.post("/v1/chat/completions", {
      model: "vendor/model",
      messages: [{ role: "user", content: `ticket-${i}` }],
      web_search_options: {},
      reasoning_effort: "low",
    });
    assertEquals([response.status, (await response.json()).choices?.[0].message.content], [200, "Found."]);
  }
  return [...visits.values()];
}

const WEIGHTED = [{ provider: "a", model: "model", weight: 1 }, { provider: "b", model: "model", weight: 1 }];

for (
  const [name, model] of [
    ["short prompts of weighted routes", { routes: WEIGHTED }],
    ["weighted routes without stickiness", { routes: WEIGHTED, cache: "off" }],
    ["routes in the order of their latency", { order: "latency" }],
  ] as const
) {
  Deno.test(`the rounds of a search stay at one provider: ${name}`, async () => {
    const visits = await routesOf(model);
    assertEquals(visits.length, CALLS);
    for (const one of visits) assertEquals(one, one[0].repeat(3));
  });
}

Deno.test("after a fallback the further rounds of a search stay at the route that answered", async () => {
  const visits = await routesOf({}, (provider, round) => provider === "a" && round === 0);
  assertEquals(visits, Array(CALLS).fill("bbb"));
});

Deno.test("a round of a search goes to another route if the one before it fails", async () => {
  const visits = await routesOf({}, (provider, round) => provider === "a" && round === 1);
  assertEquals(visits, Array(CALLS).fill("abb"));
});
