/** What a call is billed is never more than what its budgets hold for it, whatever the caller writes and the provider does. */
import { assert, assertEquals } from "@std/assert";
import { type Api, SECRET, type TestProvider } from "../support/gateway.ts";
import { heldMoney } from "../support/held_money.ts";
import type { Seen } from "../support/provider.ts";

const PRICES = {
  prompt: "0.00001",
  completion: "0.00005",
  input_cache_read: "0.000001",
  input_cache_write: "0.0000125",
  input_cache_write_1h: "0.00002",
};
const TIERS = [
  { service_tier: "fast", prompt: "0.00006", completion: "0.0003" },
  { service_tier: "priority", prompt: "0.00002", completion: "0.0001" },
];
const CONTEXT = 200_000;
const MODEL = { pricing: PRICES, max_completion_tokens: 8192, context_length: CONTEXT };
const LONG = "word ".repeat(4000);

type Loose = Record<string, unknown>;
// deno-lint-ignore no-explicit-any
type Any = any;

/** Characters of all strings and names, and what a template may put around each object: a token is no shorter. */
function chars(...values: unknown[]): number {
  let sum = 0;
  for (const value of values) {
    if (typeof value === "string") sum += value.length;
    else if (Array.isArray(value)) sum += chars(...value);
    else if (typeof value === "object" && value !== null) {
      sum += 12 +
        chars(...Object.entries(value).map(([name, inner]) => name === "properties" ? [name, inner] : inner));
    }
  }
  return sum;
}

interface Dearest {
  /** Of the answer. */
  tier?: string;
  /** What a compaction of the provider's writes. */
  summary?: number;
  /** Input that the request does not show. */
  unseen?: number;
  /** Output where no cap is named; absent: the model's maximum. */
  uncapped?: number;
  /** Rounds that call the search. */
  rounds?: number;
}

/** All output that is allowed, in the tier that the provider likes, with the input that the request may have. */
function messagesAnswer(
  { body }: { body: Any },
  nth: number,
  { tier, summary = 0, unseen, rounds = 0 }: Dearest,
) {
  const input = unseen ?? chars(body.messages, body.system, body.tools);
  const offered = body.tools?.some((tool: Any) => tool.name === "web_search") &&
    body.tool_choice?.type !== "none";
  const searching = offered && nth < rounds && body.max_tokens > 4000;
  const output = searching ? 60 : body.max_tokens;
  const told = { input_tokens: input, output_tokens: output };
  const iterations = [
    ...(summary > 0 ? [{ type: "compaction", input_tokens: input, output_tokens: summary }] : []),
    { type: "message", ...(body.fallbacks && { model: "model" }), ...told },
    ...(body.fallbacks ? [{ type: "fallback_message", model: "other", ...told }] : []),
  ];
  return Response.json({
    id: `m${nth}`,
    type: "message",
    role: "assistant",
    model: body.fallbacks ? "other" : "model",
    content: searching
      ? [{ type: "tool_use", id: `t${nth}`, name: "web_search", input: { query: `q${nth}` } }]
      : [{ type: "text", text: "hello" }],
    stop_reason: searching ? "tool_use" : "end_turn",
    usage: {
      ...told,
      ...(body.speed && { speed: body.speed }),
      service_tier: tier ?? "standard",
      ...(iterations.length > 1 && { iterations }),
    },
  });
}

function chatAnswer({ body }: { body: Any }, { tier, unseen, uncapped = 8192 }: Dearest): Response {
  const input = unseen ?? chars(body.messages, body.tools);
  const n = body.n ?? 1;
  const cap = body.options?.num_predict ?? body.max_new_tokens ?? body.max_completion_tokens ??
    body.max_tokens;
  const output = (cap ?? uncapped) * Math.max(n, body.best_of ?? 1);
  return Response.json({
    id: "c",
    object: "chat.completion",
    model: body.models?.[0] ?? "model",
    choices: Array.from({ length: n }, (_, index) => ({
      index,
      message: { role: "assistant", content: "hello" },
      finish_reason: "stop",
    })),
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...(tier && { service_tier: tier }),
  });
}

function responsesAnswer({ body }: { body: Any }, { tier, unseen }: Dearest): Response {
  const input = unseen ?? chars(body.input, body.tools);
  const output = (body.max_tokens ?? body.max_output_tokens ?? 8192) * (body.n ?? 1);
  const content = [{ type: "output_text", text: "hello", annotations: [] }];
  return Response.json({
    id: "r",
    object: "response",
    status: "completed",
    model: "model",
    output: [{ type: "message", id: "i", role: "assistant", status: "completed", content }],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    ...(tier && { service_tier: tier }),
  });
}

function geminiAnswer({ body }: { body: Any }, { tier }: Dearest): Response {
  const input = chars(body.contents);
  const output = body.generationConfig?.maxOutputTokens ?? 8192;
  return Response.json({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      ...(tier && { serviceTier: tier }),
    },
  });
}

function answerOf(seen: Seen, nth: number, dearest: Dearest): Response {
  if (seen.path.includes("/messages")) return messagesAnswer(seen, nth, dearest);
  if (seen.path.includes("/responses")) return responsesAnswer(seen, dearest);
  return seen.path.includes("/chat/") ? chatAnswer(seen, dearest) : geminiAnswer(seen, dearest);
}

interface Case {
  api: Api;
  path: "/v1/chat/completions" | "/v1/messages" | "/v1/responses";
  body: Loose;
  dearest?: Dearest;
  model?: Loose;
  /** Of the model that the request names beside. */
  other?: Loose;
}

const HI = [{ role: "user", content: "hi" }];
const chat = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "openai-chat",
  path: "/v1/chat/completions",
  body: { max_tokens: 1000, messages: HI, ...body },
  dearest,
  ...more,
});
const messages = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "anthropic-messages",
  path: "/v1/messages",
  body: { max_tokens: 1000, messages: HI, ...body },
  dearest,
  ...more,
});
const responses = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "openai-responses",
  path: "/v1/responses",
  body: { max_output_tokens: 1000, input: "hi", ...body },
  dearest,
  ...more,
});
const SEARCH = [{ type: "web_search_20250305", name: "web_search", max_uses: 20 }];
const LONG_HI = [{ role: "user", content: LONG }];
const MCP_CALL = { type: "mcp_tool_use", id: "mcptoolu_1", name: "f", server_name: "s", input: {} };
const found = (content: unknown[]) => [
  { role: "user", content: "look" },
  {
    role: "assistant",
    content: [MCP_CALL, { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content }],
  },
  { role: "user", content: "go on" },
];
const screenshot = (output: Loose) => [
  { role: "user", content: "look" },
  { type: "computer_call", call_id: "c", id: "cc", action: { type: "screenshot" }, status: "completed" },
  { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", ...output } },
];
const IMAGE = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=".repeat(50) };
/** Most of a model's context: a stored prompt, a document that was found. */
const MUCH = { unseen: CONTEXT - 2000 };

/** Of a model with prices for other tiers, which leave room for all else. */
const TIERED: Record<string, Case> = {
  "fast mode beside the usual tier": messages({ service_tier: "standard_only", speed: "fast" }),
  "fast mode": messages({ speed: "fast" }),
  "a tier in capitals": chat({ service_tier: "PRIORITY" }, { tier: "priority" }),
  "a tier without a name": chat({ service_tier: "" }, { tier: "priority" }),
  "a tier that nobody knows": chat({ service_tier: "whatever" }, { tier: "priority" }),
  "a tier without a price": responses({ service_tier: "flex" }, { tier: "priority" }),
  "the provider's choice of a tier": responses({ service_tier: "auto" }, { tier: "priority" }),
  "a tier that another format drops": messages({ service_tier: "standard_only" }, { tier: "priority" }, {
    api: "openai-chat",
  }),
  "a tier that Gemini is not told": chat({ service_tier: "default" }, { tier: "priority" }, {
    api: "gemini",
  }),
};

const CASES: Record<string, Case> = {
  "a search whose rounds another model answers too": messages(
    { max_tokens: 8000, messages: LONG_HI, fallbacks: [{ model: "other" }], tools: SEARCH },
    { rounds: 15 },
  ),
  "a search whose rounds the provider compacts": messages(
    {
      max_tokens: 8000,
      messages: LONG_HI,
      context_management: { edits: [{ type: "compact_20260112" }] },
      tools: SEARCH,
    },
    { rounds: 15, summary: 500 },
  ),
  "a free model with a dear one beside, without a cap": chat(
    { max_tokens: undefined, models: ["other"] },
    {},
    {
      model: { pricing: { prompt: "0", completion: "0" }, max_completion_tokens: null },
    },
  ),
  "a model of unknown output beside, without a cap": chat({ max_tokens: undefined, models: ["other"] }, {
    uncapped: 100_000,
  }, {
    other: { max_completion_tokens: null },
  }),
  "a maximum by another API's name": responses({ max_tokens: 7000, max_output_tokens: 100 }),
  "several answers where the format has one": responses({ n: 20 }),
  "a maximum in options": chat({ max_tokens: 100, options: { num_predict: 7000 } }),
  "a maximum by a server's own name": chat({ max_tokens: 100, max_new_tokens: 7000 }),
  "the best of several answers": chat({ best_of: 10 }),
  "a stored prompt": responses({ prompt: { id: "pmpt_1" } }, MUCH),
  "documents of the provider's": chat({ data_sources: [{ type: "azure_search" }] }, MUCH),
  "a search of the provider's": chat({ search_parameters: { mode: "on" } }, MUCH),
  "a search of the provider's with its defaults": chat({ search_parameters: {} }, MUCH),
  "a search of the provider's by its tool's name": chat({ web_search: { enable: true } }, MUCH),
  "a search among fields of the provider's own": chat({ extra_body: { enable_search: true } }, MUCH),
  "servers without a toolset": messages(
    { mcp_servers: [{ type: "url", url: "https://a.test", name: "a" }] },
    { unseen: 10 * CONTEXT },
  ),
  "a screenshot by its address": responses(
    { input: screenshot({ image_url: "https://a.test/x.png" }) },
    { unseen: 1600 },
  ),
  "a screenshot by its id": responses({ input: screenshot({ file_id: "file_1" }) }, { unseen: 1600 }),
  "an image that was made before": responses(
    { input: [...HI, { type: "image_generation_call", id: "ig_1" }, ...HI] },
    { unseen: 1600 },
  ),
  "images that a server found": messages(
    { messages: found(Array(9).fill({ type: "image", source: IMAGE })) },
    { unseen: 9 * 1600 },
  ),
  "a document that a server found": messages(
    { messages: found([{ type: "document", source: { type: "url", url: "https://a.test/x.pdf" } }]) },
    MUCH,
  ),
  "a file for a container": messages({
    messages: [{ role: "user", content: [{ type: "container_upload", file_id: "file_1" }] }],
  }, MUCH),
};

/** The model that is asked, and one that the same provider has beside it. */
function providersOf(
  { api, model, other }: Case,
  tiers: readonly Loose[],
): Record<string, Omit<TestProvider, "url">> {
  const base = { ...MODEL, ...(tiers.length > 0 && { pricing_tiers: tiers }) };
  return {
    p: { api, model: { ...base, routes: [{ provider: "p", model: "model" }], ...model } },
    o: { api, model: { ...base, id: "o/model", routes: [{ provider: "p", model: "other" }], ...other } },
  };
}

for (const [what, one] of Object.entries({ ...TIERED, ...CASES })) {
  Deno.test(`${what}: no more is billed than is held`, async () => {
    const money = await heldMoney(
      (seen, nth) => answerOf(seen, nth, one.dearest ?? {}),
      providersOf(one, what in TIERED ? TIERS : []),
    );
    try {
      const { status, code, cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
      assertEquals([status, code], [200, null]);
      assert(cost > 0.001 && cost <= held, `${cost} of ${held}`);
    } finally {
      await money.close();
    }
  });
}

Deno.test("a request that is surely served in the usual tier is not held at the price of another", async () => {
  for (
    const one of [
      chat({ service_tier: "default" }),
      responses({ service_tier: "default" }),
      messages({ service_tier: "standard_only" }),
      // Asked for in the words of another API.
      chat({ service_tier: "default" }, {}, { api: "openai-responses" }),
      chat({ service_tier: "default" }, {}, { api: "anthropic-messages" }),
      responses({ service_tier: "default" }, {}, { api: "openai-chat" }),
      responses({ service_tier: "default" }, {}, { api: "anthropic-messages" }),
      messages({ service_tier: "standard_only" }, {}, { api: "openai-responses" }),
    ]
  ) {
    const money = await heldMoney(
      (seen, nth) => answerOf(seen, nth, { tier: "default" }),
      providersOf(one, TIERS),
    );
    const { cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
    assert(cost <= held && held < 1.2 * cost, `${cost} of ${held}`);
    await money.close();
  }
});

Deno.test("fields that say that the provider adds nothing hold nothing more", async () => {
  const money = await heldMoney((seen, nth) => answerOf(seen, nth, {}), providersOf(chat({}), []));
  try {
    const { held: plain } = await money.ask("/v1/chat/completions", { model: "p/model", ...chat({}).body });
    for (
      const off of [
        { search_parameters: { mode: "off" } },
        { web_search: { enable: false } },
        { web_search: { enabled: false, count: 5 } },
        { search: { type: "disabled" } },
        { enable_search: false },
        { search: "none" },
        { plugins: {} },
        { data_sources: [] },
      ]
    ) {
      const { held } = await money.ask("/v1/chat/completions", { model: "p/model", ...chat(off).body });
      assert(held < 1.1 * plain, `${JSON.stringify(off)}: ${held}, not ${plain}`);
    }
  } finally {
    await money.close();
  }
});

Deno.test("a smaller maximum that is granted for several answers is one of each", async () => {
  const one = responses({ n: 4, max_output_tokens: undefined });
  const accounts = [{ name: "default", credits: "1.00" }];
  const money = await heldMoney((seen, nth) => answerOf(seen, nth, {}), providersOf(one, []), { accounts });
  const { status, cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
  assertEquals(status, 200);
  assert(cost > 0.5 && cost <= held && held <= 1, `${cost} of ${held}`);
  await money.close();
});

/** Numbers that look drawn by chance, the same in each run. */
function drawing(seed: number) {
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  return { next, of: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] };
}

/** Fields that callers may add, each with what it makes of a bill. */
const ADDED: Record<Case["path"], readonly [Loose, Dearest?][]> = {
  "/v1/chat/completions": [
    [{ n: 3 }],
    [{ max_tokens: undefined }],
    [{ service_tier: "auto" }, { tier: "priority" }],
    [{ service_tier: "Fast" }, { tier: "fast" }],
    [{ service_tier: "priority" }, { tier: "priority" }],
    [{ models: ["other"] }],
    [{ enable_search: true }, MUCH],
    [{ messages: LONG_HI }],
    [{ messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }, MUCH],
    [{ response_format: { type: "json_schema", json_schema: { name: "s", schema: { description: LONG } } } }],
    [{ web_search_options: {} }],
  ],
  "/v1/messages": [
    [{ speed: "fast" }],
    [{ service_tier: "standard_only" }],
    [{ max_tokens: 8000, tools: SEARCH }, { rounds: 6 }],
    [{ max_tokens: 8000, messages: LONG_HI, tools: SEARCH }, { rounds: 3 }],
    [{ fallbacks: [{ model: "other" }] }],
    [{ fallbacks: [{ model: "other", max_tokens: 500 }] }],
    [{ context_management: { edits: [{ type: "compact_20260112" }] } }, { summary: 900 }],
    [{ mcp_servers: [{ type: "url", url: "https://a.test", name: "a" }] }],
    [{ system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral", ttl: "1h" } }] }],
  ],
  "/v1/responses": [
    [{ service_tier: "default" }],
    [{ service_tier: "fast" }, { tier: "fast" }],
    [{ service_tier: "auto" }, { tier: "priority" }],
    [{ max_output_tokens: undefined }],
    [{ prompt: { id: "pmpt_1" } }, MUCH],
    [{ input: LONG }],
    [{ input: screenshot({ file_id: "file_1" }) }],
    [{ tools: [{ type: "file_search", vector_store_ids: ["v"] }] }, MUCH],
  ],
};

Deno.test("calls drawn by chance spend no more than is held, and all of them no more than the limit", async () => {
  const { next, of } = drawing(20260727);
  let dearest: Dearest = {};
  let nth = 0;
  const bases = [chat({}), messages({}), responses({})];
  const limit = 40;
  for (const [base, tiers] of bases.flatMap((base) => [[base, TIERS], [base, []]] as const)) {
    const money = await heldMoney((seen) => answerOf(seen, nth++, dearest), providersOf(base, tiers), {
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: String(limit), period: "total" } }],
    });
    let [spent, answered, refused] = [0, 0, 0];
    try {
      for (let i = 0; i < 60; i++) {
        dearest = {};
        nth = 0;
        let body: Loose = { model: of(["p/model", "p/model", "o/model"]), ...base.body };
        for (const [fields, more = {}] of ADDED[base.path]) {
          if (next() > 0.25) continue;
          body = { ...body, ...fields };
          dearest = { ...dearest, ...more };
        }
        const { status, code, cost, held } = await money.ask(base.path, body);
        if (status === 200) answered++;
        else refused++;
        const what = JSON.stringify(body).replaceAll(LONG, "LONG");
        assert([200, 400, 404, 429].includes(status), `${status} ${code}: ${what}`);
        assert(cost <= held, `${cost} of ${held}: ${what}`);
        spent += cost;
      }
      assert(spent <= limit && answered > 10, `${base.path}: ${spent} by ${answered}, ${refused} refused`);
    } finally {
      await money.close();
    }
  }
});
