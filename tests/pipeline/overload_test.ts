/** More at once than a provider or the gateway's memory takes. */
import { assertEquals } from "@std/assert";
import { array, object } from "../../src/exchange/json.ts";
import { faultyProvider } from "../support/faulty_provider.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { ADMIN, setting, sound } from "./fault_rig.ts";

Deno.test("a full provider lets a few wait for a short time", async () => {
  await setting((e) => e.hang(), async ({ provider, clock, ask, gateway }) => {
    const first = ask("faulty", false);
    await eventually(() => provider.hits.faulty);
    const waiting = Array.from({ length: 4 }, () => ask("sound", false));
    const health = () =>
      fetch(`${gateway.url}/admin/providers`, { headers: { authorization: `Bearer ${ADMIN}` } })
        .then((r) => r.json()).then(({ data: [p] }) => [p.in_flight, p.queued]);
    await eventually(async () => (await health())[1] === 4);
    const refused = await ask("sound", false);
    assertEquals([refused.status, refused.code, refused.retryAfter], [503, "service_unavailable", "1"]);
    clock.move(1001);
    for (const seen of await Promise.all(waiting)) {
      assertEquals([seen.status, seen.code], [503, "service_unavailable"]);
    }
    assertEquals(await health(), [1, 0]);
    clock.move(120_001);
    assertEquals((await first).code, "provider_timeout");
    assertEquals((await ask("sound", false)).status, 200);
    assertEquals(await health(), [0, 0]);
  }, { provider: { max_concurrent: 1 } });
});

Deno.test("calls whose bodies together are too large are refused, one alone never", async () => {
  const provider = await faultyProvider((e) => e.model === "sound" ? sound(e) : e.hang());
  const clock = new StoppedClock();
  const gateway = await testGateway({}, {
    server: { max_in_flight_bytes: 10_000 },
    providers: { p: { api: "openai-chat", base_url: provider.url, retries: 0 } },
    models: ["hangs", "sound"].map((m) => ({ id: `p/${m}`, routes: [{ provider: "p", model: m }] })),
  }, { clock });
  const ask = (model: string, size: number) =>
    gateway.post("/v1/chat/completions", {
      model: `p/${model}`,
      messages: [{ role: "user", content: "x".repeat(size) }],
    });
  const held = ask("hangs", 20_000);
  await eventually(() => provider.hits.hangs);
  const refused = await ask("sound", 10);
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  await refused.body?.cancel();
  clock.move(121_000);
  const over = await held;
  assertEquals(over.status, 408);
  await over.body?.cancel();
  const taken = await ask("sound", 10);
  assertEquals(taken.status, 200);
  await taken.body?.cancel();
  await gateway.close();
  await provider.close();
});

async function queuedAt(url: string): Promise<number> {
  const response = await fetch(`${url}/admin/providers`, { headers: { authorization: `Bearer ${ADMIN}` } });
  return (await response.json()).data[0].queued;
}

const answer = (message: Record<string, unknown>, finish_reason = "stop") =>
  Response.json({
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  });
const SEARCH = answer({
  tool_calls: [{
    id: "c",
    type: "function",
    function: { name: "web_search", arguments: JSON.stringify({ query: "q" }) },
  }],
}, "tool_calls");

Deno.test("a request that has searched waits for its place at the provider before all others, and for longer", async () => {
  const release = Promise.withResolvers<void>();
  const searched = Promise.withResolvers<void>();
  const provider = await loopbackProvider(async ({ body }) => {
    if (object(array(body.messages).at(-1)).content === "hold") {
      await release.promise;
      return answer({ content: "held" });
    }
    return body.tools && array(body.messages).length === 1 ? SEARCH.clone() : answer({ content: "found" });
  });
  const engine = await loopbackProvider(async () => {
    await searched.promise;
    return Response.json({ results: [{ url: "https://a.test/", title: "A", content: "b" }] });
  });
  const clock = new StoppedClock();
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: provider.url, more: { max_concurrent: 1 } } },
    { admin_key: ADMIN, search: { engine: "searxng", base_url: engine.url, price: "0.01" } },
    { clock },
  );
  const ask = (content: string, more = {}) =>
    gateway.post("/v1/chat/completions", {
      model: "p/model",
      messages: [{ role: "user", content }],
      ...more,
    });
  try {
    const searching = ask("q", { web_search_options: {} });
    await eventually(() => engine.seen.length === 1);
    const holding = ask("hold");
    await eventually(() => provider.seen.length === 2);
    const queued = Array.from({ length: 4 }, () => ask("wait"));
    const waiting = () => queuedAt(gateway.url);
    await eventually(async () => await waiting() === 4);
    searched.resolve();
    await eventually(async () => await waiting() === 5);
    clock.move(1001);
    for (const response of await Promise.all(queued)) {
      assertEquals(response.status, 503);
      await response.body?.cancel();
    }
    await eventually(async () => await waiting() === 1);
    clock.move(1001);
    await eventually(async () => await waiting() === 1);
    release.resolve();
    assertEquals((await holding).status, 200);
    const found = await searching;
    assertEquals([found.status, (await found.json()).choices[0].message.content], [200, "found"]);
  } finally {
    release.resolve();
    searched.resolve();
    await gateway.close();
    await provider.close();
    await engine.close();
  }
});

Deno.test("several answers come one after the other where the provider has fewer places", async () => {
  const release = Promise.withResolvers<void>();
  let [under, most] = [0, 0];
  const provider = await loopbackProvider(async () => {
    most = Math.max(most, ++under);
    await release.promise;
    under--;
    return Response.json({
      id: "m",
      type: "message",
      role: "assistant",
      model: "model",
      content: [{ type: "text", text: "a" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  });
  const clock = new StoppedClock();
  const gateway = await testGateway(
    { p: { api: "anthropic-messages", url: provider.url, more: { max_concurrent: 1 } } },
    { admin_key: ADMIN },
    { clock },
  );
  try {
    const ask = (n: number) =>
      gateway.post("/v1/chat/completions", {
        model: "p/model",
        n,
        messages: [{ role: "user", content: "q" }],
      });
    const asking = ask(3);
    await eventually(async () => await queuedAt(gateway.url) === 2);
    const one = ask(1);
    await eventually(async () => await queuedAt(gateway.url) === 3);
    clock.move(1001);
    const refused = await one;
    assertEquals(refused.status, 503);
    await refused.body?.cancel();
    release.resolve();
    const response = await asking;
    assertEquals([response.status, (await response.json()).choices.length, most], [200, 3, 1]);
  } finally {
    release.resolve();
    await gateway.close();
    await provider.close();
  }
});
