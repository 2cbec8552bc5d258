/** The price of a request counts for each request to the provider: in bills, and before that in reservations. */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testConfig, type TestGateway, testGateway } from "../support/gateway.ts";
import { leastAnswer } from "../support/answers.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { CALLERS, hitsOf } from "../websearch/rig.ts";
import { streamOf, wholeOf } from "../websearch/rounds.ts";

const REQUEST = 0.01;
const PRICES = { prompt: "0.000001", completion: "0.000002", request: String(REQUEST) };
/** Of one request: ten tokens in, three out. */
const TOKENS = 10 * 0.000001 + 3 * 0.000002;
const SEARCH = 0.005;
const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

function roundOf({ body }: Seen): number {
  return (body.messages as { role: string; content: unknown }[]).filter(({ role, content }) =>
    role === "tool" || JSON.stringify(content).includes("tool_result")
  ).length;
}

/** Models that search in the first two rounds, if they may. */
async function onGateway(
  work: (gateway: TestGateway, seen: Seen[]) => Promise<void>,
  more = {},
  pricing: Record<string, string> = PRICES,
) {
  const provider = loopbackProvider((seen) => {
    const api = seen.path.endsWith("/messages") ? "anthropic-messages" as const : "openai-chat" as const;
    const round = roundOf(seen);
    const searches = round < 2 && JSON.stringify(seen.body.tools ?? []).includes("web_search");
    const said = {
      ...(searches
        ? { calls: [{ id: `c${round}`, name: "web_search", arguments: `{"query":"q${round}"}` }] }
        : { text: "hello" }),
      usage: { input: 10, output: 3 },
    };
    if (seen.body.stream !== true) return Response.json(wholeOf(api, said));
    return new Response(ReadableStream.from(streamOf(api, said)).pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const engine = loopbackProvider(() => hitsOf("a"));
  const model = { pricing, context_length: 100_000, max_completion_tokens: 100 };
  const providers = {
    chat: { api: "openai-chat", url: provider.url, model },
    claude: { api: "anthropic-messages", url: provider.url, model },
  } as const;
  const search = { engine: "searxng", base_url: engine.url, price: String(SEARCH) };
  const gateway = await testGateway(providers, { search, ...more });
  try {
    await work(gateway, provider.seen);
  } finally {
    await gateway.close();
    await provider.close();
    await engine.close();
  }
}

async function costOf(gateway: TestGateway, response: Response): Promise<number> {
  const text = await response.text();
  assertEquals(response.status, 200, text);
  await gateway.gateway.idle();
  await gateway.gateway.accounts.flush();
  return Number((await gateway.gateway.accounts.generation(response.headers.get("x-request-id")!)).cost);
}

Deno.test("each request to a provider costs its price, in rounds of search and for several answers too", () =>
  onGateway(async (gateway, seen) => {
    for (const caller of CALLERS) {
      for (const api of ["chat", "claude"]) {
        for (const stream of [true, false]) {
          for (const kind of ["plain", "searching", "two answers"]) {
            if (kind === "two answers" && caller !== "chat_completions") continue;
            const what = `${caller} ${api} ${stream} ${kind}`;
            seen.length = 0;
            const content = [{ role: "user", content: "hi" }];
            const tools = caller === "messages"
              ? [{ type: "web_search_20250305", name: "web_search" }]
              : [{ type: "web_search" }];
            const response = await gateway.post(PATHS[caller], {
              model: `${api}/model`,
              stream,
              ...(caller === "responses" ? { input: content } : { messages: content }),
              ...(caller === "messages" && { max_tokens: 50 }),
              ...(kind === "searching" && { tools }),
              ...(kind === "two answers" && { n: 2 }),
            });
            const requests = kind === "searching" ? 3 : kind === "two answers" && api === "claude" ? 2 : 1;
            const cost = await costOf(gateway, response);
            assertEquals(seen.length, requests, what);
            const searches = kind === "searching" ? 2 : 0;
            const wanted = requests * (TOKENS + REQUEST) + searches * SEARCH;
            assertEquals(cost, Number(wanted.toFixed(12)), what);
          }
        }
      }
    }
  }));

Deno.test("the price of requests is reserved: no crowd spends more than a limit", async () => {
  const LIMIT = 0.095;
  for (const searching of [false, true]) {
    const keys = [{ name: "test", secret: SECRET, spend_limit: { amount: String(LIMIT), period: "total" } }];
    await onGateway(async (gateway) => {
      const ask = () =>
        gateway.post("/v1/chat/completions", {
          model: "chat/model",
          messages: [{ role: "user", content: "hi" }],
          max_tokens: 20,
          ...(searching && { web_search_options: {} }),
        });
      const answers = await Promise.all(Array.from({ length: 60 }, ask));
      for (const answer of answers) await answer.body?.cancel();
      await gateway.gateway.idle();
      await gateway.gateway.accounts.flush();
      const [{ cost }] = (await gateway.gateway.accounts.usage({ by: "key" })).data;
      assert(Number(cost) <= LIMIT && Number(cost) > LIMIT / 2, `${searching} ${cost}`);
    }, { keys });
  }
});

Deno.test("a further round of searches is only begun if a limit has room for its request", async () => {
  const LIMIT = 0.068;
  const keys = [{ name: "test", secret: SECRET, spend_limit: { amount: String(LIMIT), period: "total" } }];
  await onGateway(
    async (gateway, seen) => {
      const costs = [];
      for (let i = 0; i < 2; i++) {
        const response = await gateway.post("/v1/chat/completions", {
          model: "chat/model",
          messages: [{ role: "user", content: "hi" }],
          web_search_options: {},
        });
        costs.push(await costOf(gateway, response));
      }
      // Three requests and two searches, then what fits into the rest.
      assertEquals(costs, [0.04, 0.025]);
      assertEquals(seen.length, 5);
    },
    { keys },
    { prompt: "0", completion: "0", request: String(REQUEST) },
  );
});

Deno.test("a request whose tokens are not known costs its price, one that fails costs nothing", async () => {
  let answer: (seen: Seen) => Response | Promise<Response> = leastAnswer;
  const provider = loopbackProvider((seen) => answer(seen));
  const p = { api: "openai-chat", url: provider.url, model: { pricing: PRICES } } as const;
  const gateway = await testGateway({}, testConfig({ p }, {}));
  const ask = (stream: boolean) =>
    gateway.post("/v1/chat/completions", {
      model: "p/model",
      stream,
      messages: [{ role: "user", content: "hi" }],
    });
  try {
    // Without usage: estimated tokens, and one request.
    const said = { index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" };
    answer = () => Response.json({ id: "c", object: "chat.completion", model: "m", choices: [said] });
    const cost = await costOf(gateway, await ask(false));
    assert(cost > REQUEST && cost < 1.1 * REQUEST, `${cost}`);
    // Ends within its answer: nothing but searches is billed.
    answer = () =>
      new Response(
        `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "hel" } }] })}\n\n`,
        {
          headers: { "content-type": "text/event-stream" },
        },
      );
    const failed = await ask(true);
    await failed.text();
    await gateway.gateway.idle();
    await gateway.gateway.accounts.flush();
    const [record] = (await gateway.gateway.accounts.generations({})).data;
    assertEquals([record.status, Number(record.cost)], ["failed", 0]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
