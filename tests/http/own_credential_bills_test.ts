/** What is billed and reserved for calls with a caller's own credential at a vendor. */
import { assert, assertEquals } from "@std/assert";
import { hitsOf } from "../websearch/rig.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

const PRICING = { prompt: "0.001", completion: "0.002", web_search: "0.5" };
const MESSAGES = [{ role: "user", content: "hi" }];
const WEB_SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 1 };

/** One that runs two searches itself, and uses the search of the gateway where it is offered. */
function searches({ path, body }: Seen): Response {
  const counts = { web_search_requests: 2 };
  if (path.includes("/chat/")) {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, server_tool_use: counts };
    const message = { role: "assistant", content: "hello" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ id: "c", object: "chat.completion", model: "m", choices, usage });
  }
  const { tools = [], messages } = body as { tools?: { input_schema?: unknown }[]; messages: unknown[] };
  const calls = tools.some(({ input_schema }) => input_schema !== undefined) && messages.length === 1;
  return Response.json({
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: calls
      ? [{ type: "tool_use", id: "t", name: "web_search", input: { query: "q" } }]
      : [{ type: "text", text: "hello" }],
    stop_reason: calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 10, server_tool_use: counts },
  });
}

/** @param limit spend limit of the key */
async function onGateway(
  limit: string,
  ask: (call: (path: string, body: Record<string, unknown>) => Promise<Billed>) => Promise<void>,
): Promise<void> {
  const provider = loopbackProvider(searches);
  const engine = loopbackProvider(() => hitsOf("q"));
  const other = (api: "openai-chat" | "anthropic-messages") => ({
    api,
    url: provider.url,
    more: { pass_credentials: true },
    model: { pricing: PRICING, context_length: 1000, max_completion_tokens: 100 },
  });
  const gateway = await testGateway(
    { messages: other("anthropic-messages"), chat: other("openai-chat") },
    {
      search: { engine: "searxng", base_url: engine.url },
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }],
    },
  );
  try {
    await ask(async (path, body) => {
      const headers = { authorization: "Bearer own", "x-api-key": "own", "x-svc-key": SECRET };
      const response = await gateway.post(path, { messages: MESSAGES, max_tokens: 100, ...body }, {
        headers,
      });
      const answer = await response.json();
      await gateway.gateway.accounts.flush();
      const id = response.headers.get("x-request-id")!;
      const { data } = await gateway.gateway.accounts.generations({});
      const { cost, list_cost, searches } = data.find((record) => record.id === id) ?? {};
      return { status: response.status, answer, cost, list: list_cost, searches };
    });
  } finally {
    await gateway.close();
    await provider.close();
    await engine.close();
  }
}

interface Billed {
  status: number;
  // deno-lint-ignore no-explicit-any
  answer: any;
  cost?: string | null;
  list?: string | null;
  searches?: number;
}

Deno.test("searches that a provider runs with a caller's own credential are counted, and not billed", () =>
  onGateway("10", async (call) => {
    for (
      const [path, model] of [["/v1/messages", "messages/model"], ["/v1/chat/completions", "chat/model"]]
    ) {
      const { cost, list, searches, answer } = await call(path, { model });
      assertEquals([cost, list, searches], ["0.00", "1.12", 2]);
      assertEquals(answer.usage.server_tool_use.web_search_requests, 2);
    }
    // Two rounds, each with two searches of the provider, and one search of the gateway between them.
    const { cost, list, searches } = await call("/v1/messages", {
      model: "messages/model",
      tools: [WEB_SEARCH],
    });
    assertEquals([cost, list, searches], ["0.50", "2.74", 5]);
  }));

Deno.test("a used-up limit refuses no call that the caller's own credential pays, whatever tools run at the provider", () =>
  onGateway("0", async (call) => {
    const mcp_servers = [{ type: "url", url: "https://a.test", name: "a" }];
    for (const tools of [undefined, [{ type: "mcp_toolset", mcp_server_name: "a" }]]) {
      const body = { model: "messages/model", mcp_servers, ...(tools && { tools }) };
      const { status, answer, cost } = await call("/v1/messages", body);
      assertEquals([status, cost], [200, "0.00"], JSON.stringify(answer));
      const { answer: estimate } = await call("/v1/estimate?format=messages", body);
      assertEquals([estimate.allowed, estimate.candidates[0].cost_max], [true, "0.00"]);
    }
    // The gateway's search costs something.
    const { status, answer } = await call("/v1/messages", { model: "messages/model", tools: [WEB_SEARCH] });
    assertEquals([status, answer.error.code], [429, "api_key_limit_exceeded"]);
    assert(answer.error.message.includes("limit"));
  }));
