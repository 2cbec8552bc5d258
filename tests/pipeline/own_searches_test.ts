/** What a provider searches and reads by itself: no crowd of such calls spends more than a limit, and one call's error. */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testConfig, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

const LIMIT = 1;
const CONTEXT = 30_000;
/** As often as a provider's tools may make its model read its context. */
const ROUNDS = 20;
const PRICES = { prompt: "0.000001", completion: "0", web_search: "0.005" };
const CALL_WITH_TOOLS = CONTEXT * ROUNDS * 0.000001;

function answerOf(content: unknown[], usage: Record<string, unknown>): Response {
  const stop_reason = content.some((block) => (block as { type: string }).type === "tool_use")
    ? "tool_use"
    : "end_turn";
  const message = { id: "m", type: "message", role: "assistant", model: "model", content, stop_reason };
  return Response.json({ ...message, usage: { output_tokens: 1, ...usage } });
}

async function onGateway(
  answer: (seen: Seen) => Response,
  work: (gateway: TestGateway, ask: (more?: Record<string, unknown>) => Promise<Response>) => Promise<void>,
): Promise<void> {
  const provider = loopbackProvider(answer);
  const p = { api: "anthropic-messages", url: provider.url } as const;
  const model = { context_length: CONTEXT, max_completion_tokens: 100, pricing: PRICES };
  const spend_limit = { amount: `${LIMIT}`, period: "total" };
  const config = testConfig({ p: { ...p, model } }, {
    keys: [{ name: "test", secret: SECRET, spend_limit }],
  });
  const gateway = await testGateway({}, config);
  const messages = [{ role: "user", content: "hi" }];
  try {
    await work(
      gateway,
      (more) => gateway.post("/v1/messages", { model: "p/model", max_tokens: 100, messages, ...more }),
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
}

async function spent({ gateway: { accounts } }: TestGateway): Promise<{ cost: number; searches: number }> {
  await accounts.flush();
  const [{ cost, searches }] = (await accounts.usage({ by: "key" })).data;
  return { cost: Number(cost), searches };
}

Deno.test("searches of models that nobody asked to search are billed as far as a limit has room for them", async () => {
  const usage = { input_tokens: 10, server_tool_use: { web_search_requests: ROUNDS } };
  await onGateway(() => answerOf([{ type: "text", text: "hello" }], usage), async (gateway, ask) => {
    const first = await (await ask()).json();
    assertEquals(first.usage.server_tool_use.web_search_requests, ROUNDS);
    assertEquals(await spent(gateway), { cost: 0.10001, searches: ROUNDS });
    await Promise.all(Array.from({ length: 200 }, async () => {
      const response = await ask();
      await response.body?.cancel();
    }));
    const { cost, searches } = await spent(gateway);
    assert(cost <= LIMIT, `${cost}`);
    assert(searches >= ROUNDS * 5, `${searches}`);
    assert(
      gateway.logged.some((line) => /20 searches .*none of them is billed/.test(line)),
      gateway.logged.join("\n"),
    );
  });
});

Deno.test("tools that run at a provider spend one call's error beyond a limit at most, and so with rounds of search", async () => {
  for (const searching of [false, true]) {
    const answer = ({ body }: Seen) => {
      const tools = body.tools as { name?: string; input_schema?: unknown }[];
      const search = tools.find(({ input_schema }) => input_schema !== undefined)?.name;
      const turns = (body.messages as unknown[]).length;
      return answerOf(
        search !== undefined && turns < 9
          ? [{ type: "tool_use", id: `t${turns}`, name: search, input: { query: `q${turns}` } }]
          : [{ type: "text", text: "hello" }],
        { input_tokens: CONTEXT * ROUNDS },
      );
    };
    await onGateway(answer, async (gateway, ask) => {
      const tools = [
        { type: "mcp_toolset", mcp_server_name: "elsewhere" },
        ...searching ? [{ type: "web_search_20250305", name: "web_search" }] : [],
      ];
      const responses = await Promise.all(Array.from({ length: 50 }, () => ask({ tools })));
      for (const response of responses) await response.body?.cancel();
      assert(responses.some(({ ok }) => ok));
      const { cost } = await spent(gateway);
      assert(cost <= LIMIT + CALL_WITH_TOOLS, `${searching}: ${cost}`);
    });
  }
});

Deno.test("more searches by a provider's tools than were reserved are billed as far as a limit has room for them", async () => {
  const usage = { input_tokens: 10, server_tool_use: { web_search_requests: 34 } };
  await onGateway(() => answerOf([{ type: "text", text: "hello" }], usage), async (gateway, ask) => {
    const tools = [{ type: "mcp_toolset", mcp_server_name: "elsewhere" }];
    const statuses = [];
    for (let i = 0; i < 7; i++) {
      const response = await ask({ tools });
      await response.body?.cancel();
      statuses.push(response.status);
    }
    // Five calls leave enough for the reservation of another one, but not for all of its searches.
    assertEquals(statuses, [200, 200, 200, 200, 200, 200, 429]);
    assertEquals(await spent(gateway), { cost: 0.95006, searches: 5 * 34 + ROUNDS });
    const said = gateway.logged.filter((line) => /reports 14 searches .*none of them is billed/.test(line));
    assertEquals(said.length, 1, gateway.logged.join("\n"));
  });
});
