/**
 * Where only some of a call's provider calls report their tokens, the rest is an estimate: each call costs what its own size, tier and
 * request cost.
 */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { openSearchRig, searchCall } from "../websearch/rig.ts";

/** Tokens of input above which all is dearer: more than one round has, less than all of them together. */
const TIER = 150;
const USUAL = { prompt: 0.001, completion: 0.002, request: 0.01 };
const text = (prices: Record<string, number>) =>
  Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, String(price)]));
const MODEL = {
  pricing: text(USUAL),
  pricing_tiers: [{ above_input_tokens: TIER, ...text({ prompt: 1, completion: 1, request: 1 }) }],
  capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
  context_length: 100_000,
  max_completion_tokens: 100,
};
const SEARCH = 0.005;

interface Billed {
  usage: { input_tokens: number; output_tokens: number };
  usage_estimated: boolean;
  searches: number;
  cost: string;
}

function assertUsual({ usage, searches, cost }: Billed, requests: number, what: string): void {
  const { input_tokens: input, output_tokens: output } = usage;
  const wanted = input * USUAL.prompt + output * USUAL.completion + requests * USUAL.request +
    searches * SEARCH;
  assertEquals(Number(cost), Number(wanted.toFixed(9)), `${what}: ${JSON.stringify(usage)}`);
}

Deno.test("rounds of a search that report nothing cost what a round of their size costs", async () => {
  const rig = await openSearchRig({
    models: [{ id: "openai-chat/model", routes: [{ provider: "openai-chat", model: "model" }], ...MODEL }],
  });
  try {
    const reported = { input: 10, output: 3 };
    for (
      const usages of [
        [null, null, null],
        [reported, null, null],
        [null, reported, null],
        [reported, reported, null],
        [null, null, reported],
        [reported, reported, reported],
      ]
    ) {
      for (const stream of [true, false]) {
        const what = `${JSON.stringify(usages)} ${stream}`;
        const { response } = await rig.ask({ caller: "chat_completions", api: "openai-chat", stream }, {
          answer: (round, _told, ticket) => ({
            ...(round < 2 ? { calls: [searchCall(`${ticket} ${round}`)] } : { text: "Done with it." }),
            usage: usages[round],
          }),
        });
        const answer = await response.text();
        assertEquals(response.status, 200, answer);
        await rig.gateway.gateway.idle();
        const record = await rig.record(response) as unknown as Billed;
        assertUsual(record, 3, what);
        const silent = usages.filter((usage) => usage === null).length;
        assertEquals(record.usage_estimated, silent > 0, what);
        if (silent === 3) assert(record.usage.input_tokens > TIER, JSON.stringify(record.usage));
      }
    }
  } finally {
    await rig.close();
  }
});

Deno.test("several answers whose counts are none cost what an estimate of each costs", async () => {
  const provider = loopbackProvider(async (seen) => {
    const answer = leastAnswer(seen);
    const text = (await answer.text()).replaceAll('"output_tokens":1', '"output_tokens":"many"');
    return new Response(text, { headers: answer.headers });
  });
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url, model: MODEL } });
  try {
    for (const content of ["hi", "some more words than that, so that the input is estimated as well"]) {
      const response = await gateway.post("/v1/chat/completions", {
        model: "p/model",
        n: 3,
        messages: [{ role: "user", content }],
      });
      const answer = await response.text();
      assertEquals(response.status, 200, answer);
      await gateway.gateway.idle();
      await gateway.gateway.accounts.flush();
      const id = response.headers.get("x-request-id")!;
      const record = await gateway.gateway.accounts.generation(id) as unknown as Billed;
      assertEquals(record.usage_estimated, true);
      assert(record.usage.output_tokens > 0, JSON.stringify(record.usage));
      assertUsual(record, 3, content);
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
});
