/** What Gemini and Converse report of a call's tokens, whole and streamed, comes to the cost that their price lists say. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { eventMessage, joined } from "../support/event_stream.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

/** Millionths of a dollar a token, each unlike all sums of others. */
const PRICES = {
  prompt: 100,
  completion: 1_000,
  input_cache_read: 10,
  input_cache_write: 20_000,
  input_cache_write_1h: 500_000,
  internal_reasoning: 3_000,
  audio: 700,
  image_output: 90_000,
};
type Kind = keyof typeof PRICES;

interface Case {
  usage: Loose;
  tokens: Partial<Record<Kind, number>>;
  /** Of a model of OpenAI's. */
  openai?: boolean;
  /** What a stream reports where it is other than the whole answer. */
  streamed?: Loose;
}

const GEMINI: readonly Case[] = [
  {
    usage: { promptTokenCount: 30, candidatesTokenCount: 12, totalTokenCount: 42 },
    tokens: { prompt: 30, completion: 12 },
  },
  {
    usage: { promptTokenCount: 30, candidatesTokenCount: 12, thoughtsTokenCount: 7, totalTokenCount: 49 },
    tokens: { prompt: 30, completion: 12, internal_reasoning: 7 },
  },
  {
    usage: { promptTokenCount: 30, thoughtsTokenCount: 7, totalTokenCount: 37 },
    tokens: { prompt: 30, internal_reasoning: 7 },
  },
  {
    usage: {
      promptTokenCount: 30,
      cachedContentTokenCount: 20,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 12,
      totalTokenCount: 47,
    },
    tokens: { prompt: 15, input_cache_read: 20, completion: 12 },
  },
  {
    usage: {
      promptTokenCount: 30,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 22 }, { modality: "AUDIO", tokenCount: 8 }],
      candidatesTokenCount: 12,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 9 }, { modality: "TEXT", tokenCount: 3 }],
    },
    tokens: { prompt: 22, audio: 8, completion: 3, image_output: 9 },
  },
  {
    // Of the sound a cache held all but one token.
    usage: {
      promptTokenCount: 30,
      cachedContentTokenCount: 10,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 8 }, { modality: "TEXT", tokenCount: 22 }],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 7 }, { modality: "TEXT", tokenCount: 3 }],
      candidatesTokenCount: 12,
    },
    tokens: { prompt: 19, audio: 1, input_cache_read: 10, completion: 12 },
  },
];

const OPENAI = "us.openai.gpt-5.6-sol";

const CONVERSE: readonly Case[] = [
  { usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42 }, tokens: { prompt: 30, completion: 12 } },
  {
    usage: {
      inputTokens: 30,
      outputTokens: 12,
      cacheReadInputTokens: 9,
      cacheWriteInputTokens: 4,
      totalTokens: 55,
    },
    tokens: { prompt: 30, input_cache_read: 9, input_cache_write: 4, completion: 12 },
  },
  {
    usage: {
      inputTokens: 30,
      outputTokens: 12,
      cacheWriteInputTokens: 4,
      cacheDetails: [{ ttl: "1h", inputTokens: 3 }, { ttl: "5m", inputTokens: 1 }],
    },
    tokens: { prompt: 30, input_cache_write: 1, input_cache_write_1h: 3, completion: 12 },
  },
  {
    openai: true,
    usage: { inputTokens: 2, outputTokens: 12, cacheReadInputTokens: 9, cacheWriteInputTokens: 4 },
    streamed: { inputTokens: 15, outputTokens: 12, cacheReadInputTokens: 9, cacheWriteInputTokens: 4 },
    tokens: { prompt: 2, input_cache_read: 9, input_cache_write: 4, completion: 12 },
  },
];

function gemini(usage: Loose, stream: boolean): Response {
  const answer = { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
  if (!stream) return Response.json({ ...answer, usageMetadata: usage });
  const early = { promptTokenCount: usage.promptTokenCount };
  const chunks = [
    { candidates: [{ content: { parts: [{ text: "ok" }] } }], usageMetadata: early },
    { candidates: [{ finishReason: "STOP" }], usageMetadata: usage },
  ];
  return sseResponse(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`));
}

function converse(usage: Loose, stream: boolean): Response {
  if (!stream) {
    const message = { role: "assistant", content: [{ text: "ok" }] };
    return Response.json({ output: { message }, stopReason: "end_turn", usage });
  }
  const messages = [
    eventMessage("messageStart", { role: "assistant" }),
    eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "ok" } }),
    eventMessage("contentBlockStop", { contentBlockIndex: 0 }),
    eventMessage("messageStop", { stopReason: "end_turn" }),
    eventMessage("metadata", { usage }),
  ];
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  return new Response(joined(messages), { headers });
}

const APIS = [["gemini", GEMINI, gemini], ["bedrock-converse", CONVERSE, converse]] as const;

for (const [api, cases, answer] of APIS) {
  Deno.test(`${api}: each reported token is billed once, at the price of its kind`, async () => {
    let now: Case = cases[0];
    const provider = loopbackProvider(({ path }) => {
      const stream = /stream/i.test(path);
      return answer(stream ? now.streamed ?? now.usage : now.usage, stream);
    });
    const pricing = Object.fromEntries(
      Object.entries(PRICES).map(([kind, price]) => [kind, (price / 1e6).toFixed(6)]),
    );
    const gateway = await testGateway({
      p: { api, url: provider.url, model: { pricing } },
      openai: {
        api,
        url: provider.url,
        model: { pricing, routes: [{ provider: "openai", model: OPENAI }] },
      },
    });
    try {
      for (now of cases) {
        for (const stream of [false, true]) {
          const reply = await gateway.post("/v1/chat/completions", {
            model: now.openai ? "openai/model" : "p/model",
            stream,
            max_tokens: 50,
            messages: [{ role: "user", content: "hi" }],
          });
          await reply.text();
          const expected = Object.entries(now.tokens).reduce((sum, [k, n]) => sum + n * PRICES[k as Kind], 0);
          assertEquals(await costOf(gateway.url, reply), expected, `${stream} ${JSON.stringify(now.usage)}`);
        }
      }
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
}

/** What a call cost, in millionths of a dollar. */
async function costOf(url: string, answer: Response): Promise<number> {
  const headers = { authorization: `Bearer ${SECRET}` };
  const record = await fetch(`${url}/v1/generations/${answer.headers.get("x-request-id")}`, { headers });
  return Math.round(Number((await record.json()).cost) * 1e6);
}
