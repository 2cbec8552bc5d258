/**
 * OpenAI's tool `image_generation`: the tokens of the model for images stand in `tool_usage`, beside the usage of the answer. They are
 * billed at the prices of that model, or else of the model that answers.
 */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "admin-key-of-image-tokens";
const IMAGES = {
  input_tokens: 50,
  input_tokens_details: { image_tokens: 40, text_tokens: 10 },
  output_tokens: 200,
  output_tokens_details: { image_tokens: 200, text_tokens: 0 },
  total_tokens: 250,
};
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};

interface Used {
  usage?: Record<string, unknown>;
  images?: Record<string, unknown>;
}

function answer(
  stream: boolean,
  model: string | undefined,
  { usage = USAGE, images = IMAGES }: Used,
): Response {
  const item = { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" };
  const response = {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "chatting",
    output: [item],
    tools: [{ type: "image_generation", ...(model && { model }) }],
    usage,
    tool_usage: { image_gen: images, web_search: { num_requests: 0 } },
  };
  if (!stream) return Response.json(response);
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, result: null } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  return new Response(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
    {
      headers: { "content-type": "text/event-stream" },
    },
  );
}

const REQUEST = {
  model: "p/chatting",
  input: "draw",
  max_output_tokens: 16,
  tools: [{ type: "image_generation", model: "drawing" }],
};

const PAINTING = {
  ...REQUEST,
  model: "p/painting",
  tools: [{ type: "image_generation", model: "painting" }],
};

function open(url: string, more: Record<string, unknown> = {}) {
  const entry = (id: string, model: string, pricing: Record<string, string>) => ({
    id,
    routes: [{ provider: "p", model }],
    context_length: 10_000,
    max_completion_tokens: 1000,
    pricing,
  });
  return testGateway({ p: { api: "openai-responses", url } }, {
    admin_key: ADMIN,
    models: [
      entry("p/chatting", "chatting", { prompt: "0.001", completion: "0.01", image_output: "0.02" }),
      entry("p/drawing", "drawing", {
        prompt: "0.0001",
        image: "0.0003",
        completion: "0.5",
        image_output: "0.1",
      }),
      entry("p/painting", "painting", { prompt: "0.00001", completion: "0.0001", image_output: "0.001" }),
    ],
    ...more,
  });
}

async function ask(
  { stream, named, usage }: {
    stream: boolean;
    /** The model in the tool that the provider names; undefined: none. */
    named?: string;
    usage?: Record<string, unknown>;
  },
) {
  await using provider = loopbackProvider(({ body }) => answer(body.stream === true, named, { usage }));
  await using gateway = await open(provider.url);
  const response = await gateway.post("/v1/responses", { ...REQUEST, stream });
  const text = await response.text();
  const record = await fetch(`${gateway.url}/admin/generations/${response.headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  }).then((answer) => answer.json());
  const whole = stream
    ? JSON.parse(/data: (.*response\.completed.*)/.exec(text)![1]).response
    : JSON.parse(text);
  return {
    status: 200,
    cost: record.cost,
    tokens: record.usage,
    usage: whole.usage,
    tools: whole.tool_usage,
  };
}

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";

  Deno.test(`images of the provider's tool are billed at the prices of their model, ${how}`, async () => {
    const { cost, tokens, usage, tools } = await ask({ stream, named: "drawing" });
    // 100 × 0.001 + 10 × 0.01 + 10 × 0.0001 + 40 × 0.0003 + 200 × 0.1
    assertEquals(cost, "20.213");
    assertEquals([tokens.input_tokens, tokens.output_tokens, tokens.image_output_tokens], [150, 210, 200]);
    assertEquals([usage.input_tokens, usage.output_tokens, tools.image_gen], [100, 10, IMAGES]);
  });

  Deno.test(`images of an unknown model are billed at the prices of the one that answers, ${how}`, async () => {
    // 150 × 0.001 + 10 × 0.01 + 200 × 0.02
    assertEquals((await ask({ stream, named: "unknown" })).cost, "4.25");
    assertEquals((await ask({ stream })).cost, "4.25");
  });

  Deno.test(`images that the usage includes are billed once, ${how}`, async () => {
    const usage = { ...USAGE, output_tokens: 210, output_tokens_details: { image_tokens: 200 } };
    assertEquals((await ask({ stream, named: "drawing", usage })).cost, "4.20");
  });
}

Deno.test("many images at once do not exceed a limit", async () => {
  const images = { ...IMAGES, output_tokens: 9000, output_tokens_details: { image_tokens: 9000 } };
  await using provider = loopbackProvider(() => answer(false, "painting", { images }));
  await using gateway = await open(provider.url, {
    keys: [{ name: "test", secret: SECRET, spend_limit: { amount: "100", period: "total" } }],
  });
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => gateway.post("/v1/responses", PAINTING)),
  );
  for (const one of answers) await one.text();
  const key = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${SECRET}` } })
    .then((answer) => answer.json());
  assert(Number(key.spend.amount) <= 100, key.spend.amount);
  assert(answers.some(({ status }) => status === 200));
});
