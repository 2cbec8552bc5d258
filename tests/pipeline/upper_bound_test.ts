/** What is reserved for a call is at least what the dearest provider bills for it, whatever the request holds. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { costAtMost, type Prices, priceTable } from "../../src/accounts/budgets/money.ts";
import type { Estimate } from "../../src/accounts/mod.ts";
import { longNumber } from "../../src/exchange/json.ts";
import { CONTEXT, highestUsageAnswer, MOST_OUTPUT, PRICES } from "../support/highest_usage_provider.ts";
import { type Api, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const APIS: Api[] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "bedrock-converse"];
const LONG = "word ".repeat(3000);
const SCHEMA = { type: "object", properties: { answer: { type: "string", description: LONG } } };
const png = Buffer.alloc(600, 7);
Buffer.from("89504e470d0a1a0a0000000d494844520000040000000300", "hex").copy(png);
const IMAGE = `data:image/png;base64,${png.toString("base64")}`;

interface Kind {
  path: string;
  body: Record<string, unknown>;
  /** APIs that take it; absent: all. */
  apis?: Api[];
}

const chat = (more: Record<string, unknown>, content: unknown = "Good morning"): Kind => ({
  path: "/v1/chat/completions",
  body: { max_tokens: 50, messages: [{ role: "user", content }], ...more },
});

const KINDS: Record<string, Kind> = {
  "a few words": chat({}),
  "Chinese": chat({}, "中文字".repeat(500)),
  "emoji": chat({}, "🙂👩‍👩‍👧‍👦".repeat(300)),
  "single letters": chat({}, "a b c d ".repeat(500)),
  "no cap": chat({ max_tokens: undefined }),
  "several answers": chat({ n: 4 }, LONG),
  "several answers without a cap": chat({ n: 3, max_tokens: undefined }),
  "an output schema": chat({
    response_format: { type: "json_schema", json_schema: { name: "s", schema: SCHEMA } },
  }),
  "tools": chat({
    tools: Array.from({ length: 20 }, (_, i) => ({
      type: "function",
      function: { name: `t${i}`, description: "Does something.", parameters: SCHEMA },
    })),
  }),
  "a custom tool with a grammar": chat({
    tools: [{
      type: "custom",
      custom: { name: "t", format: { type: "grammar", grammar: { syntax: "lark", definition: LONG } } },
    }],
  }),
  "an image": chat({}, [{ type: "image_url", image_url: { url: IMAGE } }, { type: "text", text: "What?" }]),
  "many short turns": chat({
    messages: Array.from({ length: 500 }, (_, i) => ({ role: i % 2 ? "assistant" : "user", content: "x" })),
  }),
  "a prediction": { ...chat({ prediction: { type: "content", content: LONG } }), apis: ["openai-chat"] },
  "stop sequences": { ...chat({ stop: [LONG] }), apis: ["openai-chat", "anthropic-messages"] },
  "a list of long numbers in an unknown field": {
    ...chat({ novel: [[longNumber("12345678901234567890")], "x"] }),
    apis: ["openai-chat"],
  },
  "an unknown field": { ...chat({ novel: { text: LONG } }), apis: ["openai-chat"] },
  "a compaction at the provider": {
    path: "/v1/messages",
    body: {
      max_tokens: 50,
      context_management: { edits: [{ type: "compact_20260112" }] },
      messages: [{ role: "user", content: LONG }],
    },
  },
  "a cache mark of an hour": {
    path: "/v1/messages",
    body: {
      max_tokens: 50,
      system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [{ role: "user", content: "hi" }],
    },
  },
  "a document with a title and a context": {
    path: "/v1/messages",
    body: {
      max_tokens: 50,
      messages: [{
        role: "user",
        content: [{
          type: "document",
          title: LONG,
          context: LONG,
          source: { type: "text", media_type: "text/plain", data: "text" },
        }, {
          type: "search_result",
          source: "https://a.test",
          title: LONG,
          content: [{ type: "text", text: "x" }],
        }],
      }],
    },
  },
  "instructions and an output format": {
    path: "/v1/responses",
    body: {
      max_output_tokens: 50,
      instructions: LONG,
      input: "hi",
      text: { format: { type: "json_schema", name: "s", schema: SCHEMA } },
    },
  },
};

async function billed(
  kind: Kind,
  api: Api,
  model: Record<string, unknown>,
): Promise<{ reserved: bigint; cost: number; status: number; sent: Record<string, unknown>[] }> {
  const provider = loopbackProvider((seen) => highestUsageAnswer(seen));
  const gateway = await testGateway({
    p: {
      api,
      url: provider.url,
      model: { pricing: PRICES, max_completion_tokens: MOST_OUTPUT, ...model },
      ...(api === "bedrock-converse" && { more: { preset: "bedrock", region: "eu-central-1" } }),
    },
  }, { accounts: [{ name: "default", credits: "1000" }] });
  const { accounts } = gateway.gateway;
  const { admit } = accounts;
  let reserved = 0n;
  accounts.admit = async (request) => {
    const estimate: Estimate = request.estimate;
    reserved = costAtMost(estimate, priceTable(request.prices as Prices));
    return await admit(request);
  };
  try {
    const response = await gateway.post(kind.path, { model: "p/model", ...kind.body });
    const text = await response.text();
    assertEquals(response.status, 200, text.slice(0, 300));
    await accounts.flush();
    const [{ cost }] = (await accounts.usage({ by: "key" })).data;
    return { reserved, cost: Number(cost), status: response.status, sent: provider.seen.map((s) => s.body) };
  } finally {
    await gateway.close();
    await provider.close();
  }
}

Deno.test("tools that run at the provider are reserved as often as they may read all of the context", async () => {
  const kind = (path: string, more: Record<string, unknown>) => ({ path, body: { max_tokens: 50, ...more } });
  const server = { type: "mcp", server_label: "elsewhere", server_url: "https://a.test" };
  const toolset = { type: "mcp_toolset", mcp_server_name: "elsewhere" };
  const messages = [{ role: "user", content: "hi" }];
  for (
    const [api, asked] of [
      ["anthropic-messages", kind("/v1/messages", { messages, tools: [toolset] })],
      ["openai-responses", kind("/v1/responses", { input: "hi", tools: [server], max_tokens: undefined })],
    ] as [Api, Kind][]
  ) {
    const { reserved, cost } = await billed(asked, api, { context_length: CONTEXT });
    assert(cost > 0.5 && cost <= Number(reserved) / 1e12, `${api}: ${cost} of ${Number(reserved) / 1e12}`);
  }
});

for (const [what, kind] of Object.entries(KINDS)) {
  Deno.test(`${what}: no provider bills more than was reserved`, async (t) => {
    for (const api of kind.apis ?? APIS) {
      await t.step(api, async () => {
        const { reserved, cost } = await billed(kind, api, {});
        assert(cost > 0 && cost <= Number(reserved) / 1e12, `${cost} of ${Number(reserved) / 1e12}`);
      });
    }
  });
}

Deno.test("a model whose maximum is not known is sent a cap where its output has a price, and only there", async () => {
  for (const api of APIS) {
    const kind = chat({ max_tokens: undefined });
    const priced = await billed(kind, api, { max_completion_tokens: null });
    const told = JSON.stringify(priced.sent[0]);
    assert(told.includes("16384"), told);
    assert(priced.cost <= Number(priced.reserved) / 1e12);
    const free = await billed(kind, api, {
      max_completion_tokens: null,
      pricing: { prompt: "0.001", completion: "0" },
    });
    assert(!JSON.stringify(free.sent[0]).includes("16384"));
  }
});

Deno.test("default_completion_tokens are sent as the cap of a request that names none, and of no other", async () => {
  for (const api of APIS) {
    const model = { default_completion_tokens: 777 };
    const cap = ({ sent: [body] }: { sent: Record<string, unknown>[] }) => JSON.stringify(body);
    assert(cap(await billed(chat({ max_tokens: undefined }), api, model)).includes("777"));
    assert(!cap(await billed(chat({}), api, model)).includes("777"));
  }
});
