/** Requests that are over while calls of theirs wait for a place at a provider: the provider is not asked for them. */
import { assertEquals } from "@std/assert";
import { array, object } from "../../src/exchange/json.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { ADMIN } from "./fault_rig.ts";

const IN_LINE_MS = 1001;

interface Rig {
  gateway: TestGateway;
  clock: StoppedClock;
  /** What the provider was asked, in order. */
  asked: string[];
  ask(content: string, more?: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  queued(): Promise<number>;
  /** Ends the call that says "hold". */
  release(): void;
  /** Lets the search engine answer. */
  found(): void;
  /** Resolves once the engine is asked. */
  searching: Promise<void>;
  /** Resolves once a caller has been seen to leave. */
  left: Promise<void>;
}

/** A provider with one place, that searches once for what is asked with a search, and a slow engine. */
async function withOnePlace(test: (rig: Rig) => Promise<void>): Promise<void> {
  const [released, found, searching, left] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const asked: string[] = [];
  const provider = await loopbackProvider(async ({ body }) => {
    const said = array(body.messages).map(object);
    const answer = (message: Record<string, unknown>, finish_reason: string) =>
      Response.json({
        choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      });
    asked.push(said.length === 1 ? String(said[0].content) : "with what was found");
    if (said[0].content === "hold") await released.promise;
    if (!body.tools || said.length > 1) return answer({ content: "hello" }, "stop");
    const call = { name: "web_search", arguments: JSON.stringify({ query: "q" }) };
    return answer({ tool_calls: [{ id: "c", type: "function", function: call }] }, "tool_calls");
  });
  const engine = await loopbackProvider(async () => {
    searching.resolve();
    await found.promise;
    return Response.json({ results: [{ url: "https://a.test/", title: "A", content: "b" }] });
  });
  const clock = new StoppedClock();
  const pricing = { prompt: "0.001", completion: "0.01" };
  const gateway = await testGateway(
    {
      // Groq gives one answer to a request.
      p: {
        api: "openai-chat",
        url: provider.url,
        more: { max_concurrent: 1, preset: "groq" },
        model: { pricing },
      },
    },
    { admin_key: ADMIN, search: { engine: "searxng", base_url: engine.url, price: "0.5" } },
    { clock, onRequest: ({ signal }) => signal.addEventListener("abort", () => left.resolve()) },
  );
  try {
    await test({
      gateway,
      clock,
      asked,
      ask: (content, more = {}, init) =>
        gateway.post(
          "/v1/chat/completions",
          { model: "p/model", messages: [{ role: "user", content }], ...more },
          init,
        ),
      async queued() {
        const headers = { authorization: `Bearer ${ADMIN}` };
        const { data } = await (await fetch(`${gateway.url}/admin/providers`, { headers })).json();
        return data[0].queued;
      },
      release: () => released.resolve(),
      found: () => found.resolve(),
      searching: searching.promise,
      left: left.promise,
    });
  } finally {
    released.resolve();
    found.resolve();
    await gateway.close();
    await provider.close();
    await engine.close();
  }
}

Deno.test("where the first of several answers gets no place, none of the others asks for one", async () => {
  await withOnePlace(async ({ ask, asked, queued, clock, release, gateway }) => {
    const holding = ask("hold");
    await eventually(() => asked.length === 1);
    const several = ask("several", { n: 3 });
    await eventually(async () => await queued() > 0);
    clock.move(IN_LINE_MS);
    const refused = await several;
    assertEquals([refused.status, (await refused.json()).error.code], [503, "service_unavailable"]);
    assertEquals(await queued(), 0);
    release();
    assertEquals((await holding).status, 200);
    await gateway.gateway.idle();
    assertEquals(asked, ["hold"]);
    assertEquals((await gateway.gateway.accounts.generations({})).data.length, 1);
  });
});

Deno.test("a call that is ended while it waits for a place after its search is billed for what it used, and asks no more", async () => {
  await withOnePlace(async ({ ask, asked, queued, searching, found, left, release, clock, gateway }) => {
    const caller = new AbortController();
    const search = ask("look", { web_search_options: {}, stream: true }, { signal: caller.signal })
      .then((response) => response.text()).catch(() => null);
    await searching;
    const holding = ask("hold");
    await eventually(() => asked.length === 2);
    found();
    await eventually(async () => await queued() === 1);
    caller.abort();
    await search;
    await left;
    // Now and then a call looks at its connection.
    await clock.moveOn(200);
    // Whoever waits has a call ended that nobody waits for.
    const other = ask("other");
    await eventually(async () => await queued() === 2);
    release();
    const statuses = [(await holding).status, (await other).status];
    await gateway.gateway.idle();
    assertEquals([statuses, asked], [[200, 200], ["look", "hold", "other"]]);
    const { data } = await gateway.gateway.accounts.generations({});
    const [{ status, searches, cost, usage }] = data.filter(({ searches }) => searches > 0);
    assertEquals(
      [status, searches, cost, usage?.input_tokens, usage?.output_tokens],
      ["interrupted", 1, "0.70", 100, 10],
    );
  });
});
