/** Rounds of a search whose prompt grows into a dearer price: what they may cost is set aside before each. */
import { assert, assertEquals } from "@std/assert";
import { readCaller } from "../corpus/caller.ts";
import { SECRET } from "../support/gateway.ts";
import { CALLERS, hitsOf, openSearchRig, searchCall } from "../websearch/rig.ts";
import { loopbackProvider } from "../support/provider.ts";

const TIER = 20_000;
const LIMIT = 1;
const STOPS = {
  chat_completions: "length",
  messages: "max_tokens",
  responses: "incomplete: max_output_tokens",
};

Deno.test("a search whose prompt grows into a dearer price ends, cut, before it passes the key's limit", async () => {
  const rig = await openSearchRig({
    models: [{
      id: "openai-chat/model",
      routes: [{ provider: "openai-chat", model: "model" }],
      pricing: { prompt: "0.000001", completion: "0.000002" },
      pricing_tiers: [{ above_input_tokens: TIER, prompt: "0.00002", completion: "0.00004" }],
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
      context_length: 400_000,
      max_completion_tokens: 1000,
    }],
    keys: CALLERS.map((caller, i) => ({
      name: caller,
      secret: `${SECRET.slice(0, -1)}${i}`,
      spend_limit: { amount: String(LIMIT), period: "total" },
    })),
  });
  try {
    rig.engine(() =>
      Response.json({
        results: [1, 2, 3, 4, 5].map((i) => ({
          url: `https://site.test/${i}`,
          title: `Page ${i}`,
          content: `Fact ${i} `.repeat(400),
        })),
      })
    );
    for (const [i, caller] of CALLERS.entries()) {
      const headers = { authorization: `Bearer ${SECRET.slice(0, -1)}${i}` };
      const inputs: number[] = [];
      const { response } = await rig.ask({ caller, api: "openai-chat", stream: i === 1 }, {
        wish: { search_context_size: "high" },
        cap: 1000,
        answer(round, told) {
          // Three bytes a token.
          const input = Math.ceil(JSON.stringify(told).length / 3);
          inputs.push(input);
          return round < 10
            ? { calls: [searchCall(`words ${round}`)], usage: { input, output: 5 } }
            : { text: "Done.", usage: { input, output: 5 } };
        },
      }, { headers });
      const read = await readCaller(caller, response, i === 1);
      if (read.kind !== "answer") throw new Error(JSON.stringify(read));
      assertEquals(read.choices[0].stop, STOPS[caller]);
      await rig.gateway.gateway.idle();
      const { spend } = await (await fetch(`${rig.gateway.url}/v1/key`, { headers })).json();
      assert(Number(spend.amount) <= LIMIT, `${caller}: ${spend.amount} is spent, inputs were ${inputs}`);
      assert(inputs.length > 2, `${caller}: it ended before it had searched twice`);
    }
  } finally {
    await rig.close();
  }
});

Deno.test("a search is set aside for at the general price where only some tiers, or other models, have a price of their own", async () => {
  const free = { prompt: "0", completion: "0" };
  const own = { ...free, web_search: "0.001" };
  const model = (id: string, more: Record<string, unknown>) => ({
    id: `openai-chat/${id}`,
    routes: [{ provider: "openai-chat", model: id }],
    capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
    context_length: 400_000,
    max_completion_tokens: 1000,
    ...more,
  });
  const engine = loopbackProvider(() => hitsOf("a"));
  const rig = await openSearchRig({
    search: { engine: "searxng", base_url: engine.url, price: "1" },
    models: [
      model("model", { pricing: free, pricing_tiers: [{ service_tier: "flex", ...own }] }),
      model("own", { pricing: own, pricing_tiers: [{ service_tier: "flex", ...free }] }),
      model("general", { pricing: free }),
    ],
    keys: [{ name: "k", secret: SECRET, spend_limit: { amount: "0.5", period: "total" } }],
  });
  const ask = async (more: Record<string, unknown>) => {
    const { response } = await rig.ask({ caller: "chat_completions", api: "openai-chat", stream: false }, {
      cap: 1000,
      more,
      answer: (round) =>
        round === 0
          ? { calls: [searchCall("words")], usage: { input: 9, output: 5 } }
          : { text: "Done.", usage: { input: 9, output: 5 } },
    });
    await response.text();
    await rig.gateway.gateway.idle();
    const headers = { authorization: `Bearer ${SECRET}` };
    const { spend } = await (await fetch(`${rig.gateway.url}/v1/key`, { headers })).json();
    return [response.status, spend.amount];
  };
  try {
    assertEquals(await ask({}), [429, "0.00"]);
    assertEquals(await ask({ service_tier: "flex" }), [429, "0.00"]);
    // The request names a further model, which has no price of a search.
    assertEquals(await ask({ model: "openai-chat/own", models: ["general"] }), [429, "0.00"]);
    // A tier without such a price has that of its model.
    assertEquals(await ask({ model: "openai-chat/own", service_tier: "flex" }), [200, "0.001"]);
  } finally {
    await rig.close();
    await engine.close();
  }
});
