/** Requests that are asked of a second route, because the first one takes longer than it usually does. */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually, pause } from "../support/time.ts";

const answer = (text: string) =>
  Response.json({
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  });

/** A provider that answers at once, or holds a request back until it is told to, or until the other side is gone. */
function holding(text: string) {
  const state = {
    holds: false,
    fails: false,
    asked: 0,
    cancelled: 0,
    release: Promise.withResolvers<void>(),
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.text();
    state.asked++;
    if (state.fails) return new Response("down", { status: 500 });
    if (!state.holds) return answer(text);
    request.signal.addEventListener("abort", () => state.cancelled++);
    await state.release.promise;
    return state.fails ? new Response("down", { status: 500 }) : answer(text);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return { ...state, state, url, close: () => server.shutdown() };
}

async function withTwo(
  key: Record<string, unknown>,
  test: (
    ask: () => Promise<string>,
    two: { first: ReturnType<typeof holding>; second: ReturnType<typeof holding> },
    gateway: Awaited<ReturnType<typeof testGateway>>,
  ) => Promise<void>,
  { body = {}, prices = {} }: { body?: Record<string, unknown>; prices?: Record<string, string> } = {},
): Promise<void> {
  const [first, second] = [holding("first"), holding("second")];
  const provider = ({ url }: { url: string }) => ({ api: "openai-chat", base_url: url, retries: 0 });
  const gateway = await testGateway({}, {
    providers: { first: provider(first), second: provider(second) },
    models: [{
      id: "v/m",
      routes: [{ provider: "first", model: "m" }, { provider: "second", model: "m" }],
      max_completion_tokens: 1000,
      context_length: 1000,
      pricing: { prompt: "0.001", completion: "0.001", ...prices },
    }],
    keys: [{ name: "k", secret: SECRET, ...key }],
  });
  const ask = async () => {
    const messages = [{ role: "user", content: "Which?" }];
    const response = await gateway.post("/v1/chat/completions", {
      model: "v/m",
      messages,
      max_tokens: 100,
      ...body,
    });
    return (await response.json()).choices[0].message.content;
  };
  try {
    // So much is known of the first route that what is unusual can be told.
    for (let i = 0; i < 5; i++) assertEquals(await ask(), "first");
    await test(ask, { first, second }, gateway);
  } finally {
    first.state.release.resolve();
    await gateway.close();
    await Promise.all([first.close(), second.close()]);
  }
}

Deno.test("a key that hedges gets the second route's answer, and the first route's call is cancelled", () =>
  withTwo({ hedge: true }, async (ask, { first, second }, gateway) => {
    first.state.holds = true;
    assertEquals(await ask(), "second");
    await eventually(() => first.state.cancelled === 1);
    assertEquals([first.state.asked, second.state.asked], [6, 1]);
    await gateway.gateway.accounts.flush();
    const { data } = await gateway.gateway.accounts.generations({});
    assertEquals([data.length, data[0].provider, data[0].cost], [6, "second", "0.012"]);
    first.state.holds = false;
    first.state.release.resolve();
    // To be slow is no failure.
    assertEquals(await ask(), "first");
  }));

Deno.test("a key that does not hedge waits", () =>
  withTwo({}, async (ask, { first, second }) => {
    first.state.holds = true;
    const asked = ask();
    await eventually(() => first.state.asked === 6);
    first.state.release.resolve();
    assertEquals([await asked, second.state.asked], ["first", 0]);
  }));

for (const [limit, asked] of [["41.9", 0], ["46", 1]] as const) {
  const is = asked === 1 ? "is" : "is not";
  Deno.test(`a key whose limit of ${limit} covers the provider's tools of one or two calls ${is} hedged`, () =>
    // A call may have 20 sources of 1.00 each, and its 1,100 tokens cost up to 1.10.
    withTwo(
      { hedge: true, spend_limit: { amount: limit, period: "total" } },
      async (ask, { first, second }) => {
        first.state.holds = true;
        const answered = ask();
        await eventually(() => first.state.asked === 6);
        if (asked === 0) first.state.release.resolve();
        assertEquals([await answered, second.state.asked], [asked === 1 ? "second" : "first", asked]);
      },
      { body: { search_parameters: { mode: "on" } }, prices: { search_source: "1" } },
    ));
}

Deno.test("a key whose limit does not cover two calls is not hedged", () =>
  // Five calls have cost 0.06; one more is reserved with some 0.15.
  withTwo(
    { hedge: true, spend_limit: { amount: "0.3", period: "total" } },
    async (ask, { first, second }) => {
      first.state.holds = true;
      const asked = ask();
      await eventually(() => first.state.asked === 6);
      first.state.release.resolve();
      assertEquals([await asked, second.state.asked], ["first", 0]);
    },
  ));

Deno.test("where both are slow, the first of the two to answer counts", () =>
  withTwo({ hedge: true }, async (ask, { first, second }) => {
    first.state.holds = second.state.holds = true;
    const asked = ask();
    await eventually(() => second.state.asked === 1);
    first.state.release.resolve();
    assertEquals(await asked, "first");
    await eventually(() => second.state.cancelled === 1);
    second.state.release.resolve();
  }));

Deno.test("a route that another call of the request tries is not asked twice: the first one fails", () =>
  withTwo({ hedge: true }, async (ask, { first, second }) => {
    first.state.fails = second.state.holds = true;
    const asked = ask();
    await eventually(() => second.state.asked > 0);
    // Several times what the first route usually takes.
    await pause(100);
    second.state.release.resolve();
    assertEquals(await asked, "second");
    assertEquals([first.state.asked, second.state.asked], [6, 1]);
  }));

Deno.test("a route that another call of the request tries is not asked twice: the first one's breaker is open", () =>
  withTwo({ hedge: true }, async (ask, { first, second }) => {
    first.state.fails = true;
    for (let i = 0; i < 5; i++) assertEquals(await ask(), "second");
    second.state.holds = true;
    const asked = ask();
    await eventually(() => second.state.asked > 5);
    await pause(100);
    second.state.release.resolve();
    assertEquals(await asked, "second");
    assertEquals([first.state.asked, second.state.asked], [10, 6]);
  }));

Deno.test("a first call that fails leaves the second route to the call that asks it already", () =>
  withTwo({ hedge: true }, async (ask, { first, second }) => {
    first.state.holds = second.state.holds = true;
    const asked = ask();
    await eventually(() => second.state.asked === 1);
    first.state.fails = true;
    first.state.release.resolve();
    await pause(50);
    second.state.release.resolve();
    assertEquals(await asked, "second");
    assertEquals(second.state.asked, 1);
  }));
