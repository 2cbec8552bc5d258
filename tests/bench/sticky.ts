/**
 * What it saves to send the turns of a conversation to one route: four providers on loopback that cache prompts by their
 * beginning, asked by a gateway whose routes are sticky, and by one whose routes are drawn at random.
 *
 *     deno run -A tests/bench/sticky.ts
 */
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const PROVIDERS = 4;
const CONVERSATIONS = 40;
const TURNS = 10;
const TOKENS_A_TURN = 500;
const PRICING = { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" };

/** Caches the messages of every request; what a later one begins with is read from the cache. */
function cachingProvider() {
  const cached = new Set<string>();
  return loopbackProvider(({ body }) => {
    const messages = body.messages as unknown[];
    let hit = 0;
    for (let n = 1; n <= messages.length; n++) if (cached.has(JSON.stringify(messages.slice(0, n)))) hit = n;
    for (let n = 1; n <= messages.length; n++) cached.add(JSON.stringify(messages.slice(0, n)));
    return Response.json({
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "Go on." }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: messages.length * TOKENS_A_TURN,
        completion_tokens: 10,
        total_tokens: messages.length * TOKENS_A_TURN + 10,
        prompt_tokens_details: { cached_tokens: hit * TOKENS_A_TURN },
      },
    });
  });
}

async function measure(cache: "sticky" | "off") {
  const providers = Array.from({ length: PROVIDERS }, cachingProvider);
  const gateway = await testGateway({}, {
    providers: Object.fromEntries(
      providers.map(({ url }, i) => [`p${i}`, { api: "openai-chat", base_url: url }]),
    ),
    models: [{
      id: "v/m",
      routes: providers.map((_, i) => ({ provider: `p${i}`, model: "m", weight: 1 })),
      pricing: PRICING,
      cache,
    }],
  });
  await Promise.all(Array.from({ length: CONVERSATIONS }, async (_, c) => {
    const messages: unknown[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      messages.push({ role: "user", content: `Conversation ${c}, turn ${turn}` });
      const response = await gateway.post("/v1/chat/completions", { model: "v/m", messages, max_tokens: 50 });
      messages.push((await response.json()).choices[0].message);
    }
  }));
  await gateway.gateway.accounts.flush();
  const { data: [sum] } = await gateway.gateway.accounts.usage({ by: "model" });
  await gateway.close();
  await Promise.all(providers.map((provider) => provider.close()));
  return { hits: sum.cached_tokens / sum.input_tokens, cost: Number(sum.cost) };
}

if (import.meta.main) {
  const [sticky, random] = [await measure("sticky"), await measure("off")];
  const line = (name: string, { hits, cost }: typeof sticky) =>
    console.log(
      `${name}  ${(100 * hits).toFixed(1)} % of input tokens from the cache, cost ${cost.toFixed(3)}`,
    );
  line("sticky", sticky);
  line("random", random);
  console.log(`sticky routes cost ${(100 * (1 - sticky.cost / random.cost)).toFixed(0)} % less`);
}
