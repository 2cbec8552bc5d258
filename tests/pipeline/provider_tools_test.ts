/** Tools that a provider runs itself and charges for each use: what is counted, reserved and billed. */
import { assert, assertEquals } from "@std/assert";
import type { Prompt } from "../../src/exchange/prompt.ts";
import type { Model } from "../../src/models/catalog.ts";
import { nextRound, upperBound, upperBoundOfAll } from "../../src/pipeline/admission/upper_bound.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { hitsOf } from "../websearch/rig.ts";
import { ask, call, counts, fee, FEES, type Loose, responsesAnswer, TOKENS } from "./provider_tools_rig.ts";

const some = <T>(fields: Partial<T>) => fields as T;

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";

  Deno.test(`each use of a provider's tools that an answer lists costs its price, ${how}`, async () => {
    const cases: [fees: number, output: Loose[]][] = [
      [0, []],
      [0.0025, [call("file_search_call")]],
      [0.005, [call("file_search_call", { id: "a" }), call("file_search_call", { id: "b" })]],
      [0.005, [call("x_search_call", { name: "x_semantic_search", arguments: "{}", call_id: "" })]],
      [0.0075, [call("x_search_call", { name: "x_user_search" }), call("file_search_call")]],
      [0, [call("code_interpreter_call", { code: "1", container_id: "cntr_1", outputs: null })]],
      [0, [call("file_search_call", { status: "failed" })]],
      [0, [
        call("computer_call", { action: { type: "screenshot" }, call_id: "c", pending_safety_checks: [] }),
      ]],
    ];
    for (const [fees, output] of cases) {
      const { cost, step } = await ask({ stream, output });
      assertEquals(fee(cost), fees, JSON.stringify(output));
      assertEquals(step !== undefined, fees > 0);
    }
    const { step } = await ask({ stream, output: [call("file_search_call")] });
    assertEquals([step?.name, step?.outcome, step?.file_search], ["p", "ok", 1]);
  });

  Deno.test(`counts in a report replace what the answer lists, so that nothing is billed twice, ${how}`, async () => {
    const listed = [call("file_search_call"), call("x_search_call", { name: "x_keyword_search" })];
    const cases: [fees: number, usage: Loose][] = [
      [0.0275, counts({ x_search_calls: 5, file_search_calls: 1 })],
      [0, counts({ code_interpreter_calls: 1 })],
      // Only successful calls are counted.
      [0, counts({})],
      // Without counts of tools, as of an older date.
      [0.0075, { num_sources_used: 0, num_server_side_tools_used: 2 }],
      [0.0575, { num_sources_used: 2 }],
    ];
    for (const [fees, usage] of cases) {
      assertEquals(fee((await ask({ stream, output: listed, usage })).cost), fees, JSON.stringify(usage));
    }
  });

  Deno.test(`searches that a response counts are billed once, whether it lists them or not, ${how}`, async () => {
    const listed = call("web_search_call", { action: { type: "search", query: "q", queries: ["q"] } });
    const model = { context_length: 4000, pricing: { ...TOKENS, web_search: "0.01" } };
    const images = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    const cases: [searches: number, listed: number, counted: unknown][] = [
      [0, 0, { num_requests: 0 }],
      [1, 1, { num_requests: 1 }],
      [1, 1, { num_requests: 0 }],
      [2, 0, { num_requests: 2 }],
      [1, 1, null],
    ];
    for (const [searches, times, web_search] of cases) {
      const output = Array.from({ length: times }, (_, i) => ({ ...listed, id: `ws_${i}` }));
      const response = { tool_usage: { image_gen: images, web_search } };
      const { cost } = await ask({ stream, output, response, model });
      assertEquals(fee(cost), searches / 100, JSON.stringify([times, web_search]));
    }
  });

  Deno.test(`uses that the chat-completions API reports are billed, ${how}`, async () => {
    const cases: [fees: number, usage: Loose][] = [
      [0, { num_sources_used: 0 }],
      [0.1, { num_sources_used: 4 }],
      [0.0125, counts({ x_search_calls: 2, file_search_calls: 1 })],
      [0.03, { ...counts({ x_search_calls: 1 }), num_sources_used: 1 }],
      [0, { server_side_tool_usage_details: null, num_sources_used: "x" }],
      [0.005, { server_side_tool_usage_details: { x_search_calls: "1", file_search_calls: -4 } }],
    ];
    for (const [fees, usage] of cases) {
      assertEquals(fee((await ask({ api: "openai-chat", stream, usage })).cost), fees, JSON.stringify(usage));
    }
  });
}

/** Only uses of tools cost something. */
const FREE_TOKENS = { pricing: { prompt: "0", completion: "0", web_search: "0", ...FEES } };

Deno.test("twenty uses of each tool that a request names are reserved", async () => {
  const cases: [tools: string[], most: number][] = [
    [["file_search"], 0.05],
    [["x_search"], 0.1],
    [["x_search", "file_search"], 0.15],
    [["file_search", "file_search"], 0.05],
  ];
  for (const [types, most] of cases) {
    const tools = types.map((type) => ({ type, vector_store_ids: ["v"] }));
    const of = async (limit: number) =>
      (await ask({ body: { tools }, model: FREE_TOKENS, limit: limit.toFixed(6) })).status;
    assertEquals([await of(most), await of(most - 0.000001)], [200, 429], `${types}`);
  }
  const live = async (limit: string, mode: string, calls = 1) => {
    const body = { search_parameters: { mode }, n: calls };
    return (await ask({ api: "openai-chat", limit, model: FREE_TOKENS, body })).status;
  };
  assertEquals([await live("0.5", "auto"), await live("0.499", "auto"), await live("0.1", "off")], [
    200,
    429,
    200,
  ]);
  // Other tools of providers have no such fee.
  const tools = [{ type: "mcp", server_label: "m", server_url: "https://m.example" }];
  assertEquals((await ask({ body: { tools }, model: FREE_TOKENS, limit: "0.000001" })).status, 200);
});

Deno.test("more uses than were reserved are billed as far as a limit has room for them", async () => {
  const usage = counts({ x_search_calls: 30 });
  const body = { tools: [{ type: "x_search" }] };
  const model = FREE_TOKENS;
  assertEquals((await ask({ usage, body, model, limit: "0.15" })).cost, "0.15");
  const { cost, step, logged } = await ask({ usage, body, model, limit: "0.14" });
  assertEquals([cost, step?.outcome, step?.x_search], ["0.10", "unbilled", 30]);
  assert(logged.some((line) => /x_search 30.*only those that were reserved/.test(line)), logged.join("\n"));
  // Nothing was reserved for a request that names no tool.
  assertEquals((await ask({ usage, model, limit: "0.15" })).cost, "0.15");
  assertEquals((await ask({ usage, model, limit: "0.1" })).cost, "0.00");
  const crowd = await ask({ usage: counts({ x_search_calls: 20 }), body, model, limit: "0.5", calls: 9 });
  assertEquals([crowd.spent, crowd.status], [0.5, 429]);
});

Deno.test("a count that cannot be true is billed as so many as are reserved", async () => {
  const { cost } = await ask({ usage: counts({ x_search_calls: 1_000_000, file_search_calls: 3 }) });
  assertEquals(fee(cost), 0.1075);
});

Deno.test("a price of a tool holds in each tier that names none, and changes with the prices", async () => {
  const output = [call("file_search_call")];
  const model = {
    pricing: { ...TOKENS, file_search: "0.0025" },
    pricing_tiers: [
      { above_input_tokens: 500, ...TOKENS },
      { service_tier: "flex", ...TOKENS, file_search: "0" },
    ],
  };
  assertEquals(fee((await ask({ output, model })).cost), 0.0025);
  const flex = await ask({ output, model, body: { service_tier: "flex" } });
  assertEquals(fee(flex.cost), 0);
  const changed = [{ from: "2020-01-01", pricing: { ...TOKENS, file_search: "0.123456789012345678" } }];
  assertEquals((await ask({ output, model: { price_changes: changed } })).cost, "0.124656789012");
  // Without a price, uses are free.
  assertEquals(fee((await ask({ output, model: { pricing: TOKENS } })).cost), 0);
});

Deno.test("uses with the caller's own credential are not billed, and are part of the list cost", async () => {
  await using provider = loopbackProvider(() => responsesAnswer({ output: [call("file_search_call")] }));
  const model = { context_length: 4000, pricing: { ...TOKENS, ...FEES } };
  const p = { api: "openai-responses", url: provider.url, model, more: { pass_credentials: true } } as const;
  await using gateway = await testGateway({ p });
  const response = await gateway.post("/v1/responses", {
    model: "p/model",
    input: "Hi",
    max_output_tokens: 100,
  }, {
    headers: { "x-svc-key": SECRET, authorization: "Bearer own" },
  });
  await response.text();
  await gateway.gateway.idle();
  await gateway.gateway.accounts.flush();
  const [record] = (await gateway.gateway.accounts.generations({})).data;
  assertEquals([record.cost, record.list_cost], ["0.00", "0.0037"]);
  const { steps = [] } = await gateway.gateway.accounts.generation(record.id);
  assertEquals(steps.filter(({ kind }) => kind === "provider_tools"), []);
});

Deno.test("uses that nothing was reserved for get no room that searches of the gateway need", async () => {
  await using engine = loopbackProvider(() => hitsOf("q"));
  await using provider = loopbackProvider((_, nth) => {
    const called = {
      id: "c",
      type: "function",
      function: { name: "web_search", arguments: '{"query":"q"}' },
    };
    const [finish_reason, message, usage] = nth === 0
      ? ["tool_calls", { role: "assistant", content: null, tool_calls: [called] }, {}]
      : ["stop", { role: "assistant", content: "Hi" }, counts({ x_search_calls: 2 })];
    return Response.json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "model",
      choices: [{ index: 0, finish_reason, message }],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20, ...usage },
    });
  });
  for (const [limit, cost] of [["0.105", "0.10"], ["0.11", "0.11"]]) {
    provider.seen.length = 0;
    const model = { context_length: 4000, pricing: { ...FREE_TOKENS.pricing, web_search: "0.1" } };
    await using gateway = await testGateway({ p: { api: "openai-chat", url: provider.url, model } }, {
      search: { engine: "searxng", base_url: engine.url },
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }],
    });
    const response = await gateway.post("/v1/chat/completions", {
      model: "p/model",
      messages: [{ role: "user", content: "Hi" }],
      web_search_options: {},
    });
    assertEquals(response.status, 200);
    await response.text();
    await gateway.gateway.idle();
    await gateway.gateway.accounts.flush();
    const [record] = (await gateway.gateway.accounts.generations({})).data;
    assertEquals([record.cost, record.searches], [cost, 1]);
  }
});

Deno.test("a round of a search begins only if there is room for the tools of all rounds", async () => {
  await using engine = loopbackProvider(() => hitsOf("q"));
  await using provider = loopbackProvider((_, nth) => {
    const search = {
      type: "function_call",
      id: "fc",
      call_id: `c${nth}`,
      name: "web_search",
      status: "completed",
    };
    const output = nth < 2 ? [{ ...search, arguments: JSON.stringify({ query: `q${nth}` }) }] : [];
    return responsesAnswer({ output, usage: counts({ x_search_calls: 20 }) });
  });
  for (const [limit, cost] of [["0.25", "0.20"], ["0.3", "0.30"]]) {
    provider.seen.length = 0;
    const model = { context_length: 4000, ...FREE_TOKENS };
    await using gateway = await testGateway({ p: { api: "openai-responses", url: provider.url, model } }, {
      search: { engine: "searxng", base_url: engine.url },
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }],
    });
    const response = await gateway.post("/v1/responses", {
      model: "p/model",
      input: "Hi",
      tools: [{ type: "web_search" }, { type: "x_search" }],
    });
    assertEquals(response.status, 200);
    await response.text();
    await gateway.gateway.idle();
    await gateway.gateway.accounts.flush();
    const [record] = (await gateway.gateway.accounts.generations({})).data;
    assertEquals([record.cost, provider.seen.length], [cost, Math.round(Number(cost) * 10)]);
  }
});

Deno.test("each call and each round may use a provider's tools as often as a whole one", () => {
  const prompt = some<Prompt>({ format: "responses", turns: [], tools: [], unknown: {}, maxOutput: 10 });
  const model = some<Model>({ contextLength: 1000, maxCompletion: 100 });
  const fees = { x_search: 20, file_search: 20 };
  const size = { chars: 1, bytes: 1, attachments: 0, media: Infinity, frames: 0, rounds: 20, fees };
  const bound = (calls: number, search: boolean) =>
    upperBound(prompt, model, size, { calls, search }, null).fees?.x_search;
  assertEquals([bound(1, false), bound(3, false), bound(1, true)], [20, 60, 40]);
  const all = upperBoundOfAll(prompt, model, size, { calls: 1, search: true }, null);
  assertEquals(all.fees?.file_search, 20 * all.requests!);
  const next = { added: 0, output: 10, searches: 1, requests: 2, fees: { x_search: 7 } };
  assertEquals(nextRound({ prompt, model, size, others: null }, next).fees, {
    x_search: 27,
    file_search: 20,
  });
});
