/** `POST /v1/estimate`. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { openCalls } from "../support/open_calls.ts";
import { loopbackProvider } from "../support/provider.ts";

const PRICED = {
  pricing: { prompt: "0.000001", completion: "0.000004", input_cache_read: "0.0000001" },
  context_length: 20_000,
  max_completion_tokens: 1000,
};

async function withGateway(
  config: Record<string, unknown>,
  use: (gateway: TestGateway, asked: () => number) => Promise<void>,
): Promise<void> {
  const provider = loopbackProvider(() => Response.json({}));
  const api = (name: string, more: Record<string, unknown> = {}) => [
    name,
    { api: "openai-chat" as const, url: provider.url, model: { ...PRICED, ...more } },
  ];
  const gateway = await testGateway(
    Object.fromEntries([
      api("cheap"),
      api("dear", { pricing: { prompt: "0.00001", completion: "0.00004" }, capabilities: {} }),
    ]),
    config,
  );
  try {
    await use(gateway, () => provider.seen.length);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

// deno-lint-ignore no-explicit-any
async function estimate(gateway: TestGateway, body: unknown, query = ""): Promise<any> {
  const response = await gateway.post(`/v1/estimate${query}`, body);
  return await response.json();
}

const asked = (model: string, content: unknown = "Good morning") => ({
  model,
  messages: [{ role: "user", content }],
});

Deno.test("an estimate says the tokens and the cost of all three formats, and asks nobody", async () => {
  await withGateway({}, async (gateway, calls) => {
    const chat = await estimate(gateway, asked("cheap/model"));
    assert(chat.input_tokens > 2 && chat.input_tokens < 20);
    assertEquals([chat.cached_tokens_estimate, chat.allowed, chat.refusal], [0, true, null]);
    const [{ model, cost_min, cost_max, dropped }] = chat.candidates;
    assertEquals([model, Number(cost_min), dropped], ["cheap/model", chat.input_tokens / 1e6, []]);
    // As much as is reserved: all that the model may say.
    assert(Number(cost_max) >= 1000 * 0.000004 && Number(cost_max) < 0.006);
    const capped = await estimate(gateway, { ...asked("cheap/model"), max_tokens: 100 });
    assert(Number(capped.candidates[0].cost_max) < 0.001);
    const messages = await estimate(gateway, { ...asked("cheap/model"), system: "Be brief.", top_k: 3 });
    assertEquals(messages.candidates[0].dropped, ["top_k"]);
    const responses = await estimate(gateway, { model: "cheap/model", input: "Good morning" });
    assert(responses.input_tokens > 2);
    const named = await gateway.post("/v1/estimate?format=gemini", asked("cheap/model"));
    for (const name of ["chat_completions", "chat-completions", "chat"]) {
      assertEquals((await estimate(gateway, asked("cheap/model"), `?format=${name}`)).allowed, true);
    }
    assertEquals(named.status, 422);
    assertMatch(
      (await named.json()).error.message,
      /^Cannot read format: expected one of chat_completions, /,
    );
    assertEquals(calls(), 0);
    const { data } = await gateway.gateway.accounts.generations({ limit: 10 });
    assertEquals(data, []);
  });
});

Deno.test("what the conversation held before is probably cached, where the model caches", async () => {
  await withGateway({}, async (gateway) => {
    const messages = [
      { role: "user", content: "A long story. ".repeat(800) },
      { role: "assistant", content: "Well." },
      { role: "user", content: "Go on" },
    ];
    const cheap = await estimate(gateway, { model: "cheap/model", messages });
    assert(cheap.cached_tokens_estimate > 1024 && cheap.cached_tokens_estimate <= cheap.input_tokens);
    const read = cheap.cached_tokens_estimate * 0.0000001;
    const rest = (cheap.input_tokens - cheap.cached_tokens_estimate) * 0.000001;
    assert(Math.abs(Number(cheap.candidates[0].cost_min) - read - rest) < 1e-9);
    assertEquals((await estimate(gateway, { model: "dear/model", messages })).cached_tokens_estimate, 0);
  });
});

Deno.test("autorouting's candidates are all listed", async () => {
  await withGateway({ auto: { models: ["cheap/model", "dear/model"] } }, async (gateway) => {
    const { candidates, allowed } = await estimate(gateway, asked("svc/auto"));
    assertEquals([candidates.map(({ model }: { model: string }) => model), allowed], [
      ["cheap/model", "dear/model"],
      true,
    ]);
    assert(Number(candidates[0].cost_max) < Number(candidates[1].cost_max));
  });
});

Deno.test("an estimate says what would refuse the request, and takes nothing of the limits", async () => {
  const keys = [{
    name: "test",
    secret: SECRET,
    dlp_policy: "cards",
    spend_limit: { amount: "0.01", period: "day" },
    rate_limit: { requests_per_minute: 1000 },
  }];
  const dlp_policies = { cards: { mode: "block", entity_types: ["CREDIT_CARD"] } };
  await withGateway({ keys, dlp_policies }, async (gateway) => {
    const refusalOf = async (body: unknown) => (await estimate(gateway, body)).refusal;
    for (let i = 0; i < 20; i++) {
      assertEquals(await refusalOf({ ...asked("cheap/model"), max_tokens: 900 }), null);
    }
    const limit = await refusalOf({ ...asked("dear/model"), max_tokens: 900 });
    assertEquals([limit.code, limit.status], ["api_key_limit_exceeded", 429]);
    assertEquals((await refusalOf(asked("cheap/model", "4111 1111 1111 1111"))).code, "dlp_violation");
    assertEquals((await refusalOf(asked("cheap/model", "word ".repeat(30_000)))).status, 413);
    const unknown = await gateway.post("/v1/estimate", asked("no/model"));
    assertEquals(unknown.status, 404);
    const { data } = await gateway.gateway.accounts.auditEntries({ kind: "dlp", limit: 10 });
    assertEquals(data, []);
  });
});

Deno.test("whatever the body is, an estimate is an answer or a refusal, and leaves nothing behind", async () => {
  const keys = [{
    name: "test",
    secret: SECRET,
    dlp_policy: "cards",
    spend_limit: { amount: "1", period: "day" },
  }];
  const dlp_policies = { cards: { mode: "mask", entity_types: ["CREDIT_CARD"] } };
  await withGateway({ keys, dlp_policies }, async (gateway) => {
    const good = [
      asked("cheap/model", "4111 1111 1111 1111"),
      { ...asked("cheap/model"), system: "x", tools: [{ name: "t", input_schema: { type: "object" } }] },
      { model: "cheap/model", input: [{ type: "message", role: "user", content: "hi" }], tools: [] },
    ];
    const strange = [null, 7, -1, 1e300, "", "x", [], {}, [null], [[]], { type: "text" }, true];
    const seen = new Set<number>();
    for (const body of good) {
      for (
        const field of [...Object.keys(body), "n", "max_tokens", "plugins", "stop", "metadata", "unknown"]
      ) {
        for (const value of strange) {
          const response = await gateway.post("/v1/estimate", { ...body, [field]: value });
          await response.text();
          seen.add(response.status);
        }
      }
    }
    for (const body of ["", "[]", "null", "7", '"x"', "{", `${"[".repeat(100_000)}`]) {
      const response = await gateway.post("/v1/estimate", body);
      await response.text();
      seen.add(response.status);
    }
    assert(seen.has(200) && seen.has(422), `${[...seen]}`);
    assertEquals([...seen].filter((status) => status >= 500), []);
    assertEquals(await openCalls(gateway.gateway.accounts), 0);
    const { data } = await gateway.gateway.accounts.auditEntries({ kind: "dlp", limit: 10 });
    assertEquals(data, []);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert(metrics.includes("\nsluice_in_flight "), metrics);
    assertEquals(metrics.split("\n").filter((line) => /^sluice_dlp_.*[1-9]$/.test(line)), []);
  });
});

Deno.test("no request with search costs more than cost_max, however many rounds it takes", async () => {
  // It bills each character that it reads, writes nine tokens a round, and searches as long as it may, and then for nothing.
  const provider = loopbackProvider(({ body, text }) => {
    const call = { name: "web_search", arguments: text.includes("is used up") ? "{}" : '{"query":"q"}' };
    const calls = [{ id: "c", type: "function", function: call }];
    return Response.json({
      choices: [{
        index: 0,
        finish_reason: "tool_calls",
        message: { role: "assistant", content: null, tool_calls: calls },
      }],
      usage: { prompt_tokens: JSON.stringify(body.messages).length, completion_tokens: 9 },
    });
  });
  const page = { url: "https://a.test/", title: "A", content: "word ".repeat(2000) };
  const engine = loopbackProvider(() => Response.json({ results: [page] }));
  const model = { pricing: { prompt: "0.000001", completion: "0.000004" }, max_completion_tokens: 1000 };
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: provider.url, model } },
    { search: { engine: "searxng", base_url: engine.url, price: "0.01" } },
  );
  try {
    for (const max_uses of [1, 3, 20]) {
      const body = { ...asked("p/model"), web_search_options: { max_uses, search_context_size: "high" } };
      const [{ cost_max }] = (await estimate(gateway, body)).candidates;
      const before = provider.seen.length;
      const answer = await gateway.post("/v1/chat/completions", body);
      assertEquals(answer.status, 200, await answer.text());
      const rounds = provider.seen.length - before;
      assertEquals(rounds, max_uses + 17);
      const { data: [{ cost, searches }] } = await gateway.gateway.accounts.generations({ limit: 1 });
      assertEquals(searches, max_uses);
      assert(Number(cost) <= Number(cost_max), `${max_uses} searches: ${cost} of ${cost_max}`);
    }
  } finally {
    await gateway.close();
    await provider.close();
    await engine.close();
  }
});
