/** Calls are billed by the tier of service that the provider says it gave, whichever was asked for. */
import { assertEquals } from "@std/assert";
import { eventMessage, joined } from "../support/event_stream.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";

const PRICES = { default: 1, flex: 2, priority: 5 };
type Tier = keyof typeof PRICES;

const prices = (cents: number) => ({ prompt: `0.0${cents}`, completion: `0.0${cents}` });
const TOKENS = { input: 30, output: 12 };

/** What a provider answers in its own format, whole and as a stream. */
const ANSWERS = {
  "openai-chat": (tier: Tier, stream: boolean) => {
    const usage = { prompt_tokens: TOKENS.input, completion_tokens: TOKENS.output, total_tokens: 42 };
    const all = { id: "c", model: "m", service_tier: tier };
    if (!stream) {
      const message = { role: "assistant", content: "hello" };
      return Response.json({ ...all, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    }
    const chunks = [
      { ...all, choices: [{ index: 0, delta: { content: "hello" }, finish_reason: null }] },
      { ...all, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...all, choices: [], usage },
    ];
    return sseResponse([...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"]);
  },
  "openai-responses": (tier: Tier, stream: boolean) => {
    const response = {
      id: "r",
      object: "response",
      status: "completed",
      model: "m",
      service_tier: tier,
      output: [{
        type: "message",
        id: "msg",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "hello", annotations: [] }],
      }],
      usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output, total_tokens: 42 },
    };
    if (!stream) return Response.json(response);
    return sseResponse([
      `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response })}\n\n`,
    ]);
  },
  "gemini": (tier: Tier, stream: boolean) => {
    const told = {
      candidates: [{
        content: { role: "model", parts: [{ text: "hello" }] },
        finishReason: "STOP",
        index: 0,
      }],
      usageMetadata: {
        promptTokenCount: TOKENS.input,
        candidatesTokenCount: TOKENS.output,
        totalTokenCount: 42,
        trafficType: tier === "default" ? "ON_DEMAND" : `ON_DEMAND_${tier.toUpperCase()}`,
      },
    };
    return stream ? sseResponse([`data: ${JSON.stringify(told)}\n\n`]) : Response.json(told);
  },
  "bedrock-converse": (tier: Tier, stream: boolean) => {
    const told = {
      usage: { inputTokens: TOKENS.input, outputTokens: TOKENS.output, totalTokens: 42 },
      metrics: { latencyMs: 1 },
      serviceTier: { type: tier },
    };
    if (!stream) {
      const message = { role: "assistant", content: [{ text: "hello" }] };
      return Response.json({ output: { message }, stopReason: "end_turn", ...told });
    }
    const messages = [
      eventMessage("messageStart", { role: "assistant" }),
      eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hello" } }),
      eventMessage("contentBlockStop", { contentBlockIndex: 0 }),
      eventMessage("messageStop", { stopReason: "end_turn" }),
      eventMessage("metadata", told),
    ];
    return new Response(joined(messages), {
      headers: { "content-type": "application/vnd.amazon.eventstream" },
    });
  },
};

for (const api of ["openai-chat", "openai-responses", "gemini", "bedrock-converse"] as const) {
  Deno.test(`${api}: a call is billed by the tier that the provider says it gave`, async () => {
    let given: Tier = "default";
    const provider = loopbackProvider(({ body, path }) =>
      ANSWERS[api](given, body.stream === true || /converse-stream|streamGenerate/.test(path))
    );
    const gateway = await testGateway({
      p: {
        api,
        url: provider.url,
        model: {
          pricing: prices(PRICES.default),
          pricing_tiers: (["flex", "priority"] as const).map((tier) => ({
            service_tier: tier,
            ...prices(PRICES[tier]),
          })),
        },
      },
    });
    try {
      for (const stream of [false, true]) {
        // Twice each, and by turns: those that are like one before are not parsed.
        for (const tier of ["flex", "default", "priority", "flex", "default", "priority"] as const) {
          given = tier;
          for (const asked of [undefined, "priority"]) {
            const answer = await gateway.post("/v1/chat/completions", {
              model: "p/model",
              stream,
              service_tier: asked,
              max_tokens: 50,
              messages: [{ role: "user", content: "hi" }],
            });
            await answer.text();
            assertEquals(
              await costOf(gateway.url, answer),
              (TOKENS.input + TOKENS.output) * PRICES[tier],
              `${stream} ${tier} ${asked}`,
            );
          }
        }
      }
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
}

/** What a call cost, in hundredths. */
async function costOf(url: string, answer: Response): Promise<number> {
  const headers = { authorization: `Bearer ${SECRET}` };
  const record = await fetch(`${url}/v1/generations/${answer.headers.get("x-request-id")}`, { headers });
  return Math.round(Number((await record.json()).cost) * 100);
}
