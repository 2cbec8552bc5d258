import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { byLatency, byPrice, drawFor, inOrder } from "../../src/providers/routes.ts";
import { apiNamed } from "../../src/providers/apis/mod.ts";
import { openProviders, type Providers } from "../../src/providers/mod.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { FirstBytes } from "../../src/providers/first_bytes.ts";

const route = (provider: string, weight: number | null = null) => ({ provider, model: "m", weight });

/** Evenly spread, and the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Providers that no call is made to. */
function opened(...names: string[]): { providers: Providers; ticker: Ticker } {
  const ticker = new Ticker();
  const list = names.map((name): Provider => ({
    name,
    api: apiNamed("openai-chat"),
    baseUrl: "http://127.0.0.1:1",
    credential: { identity: "", headers: {} },
    headers: {},
    firstByteMs: 60_000,
    idleMs: 60_000,
    retries: 0,
    breaker: { failures: 1, windowMs: 60_000, openMs: 60_000 },
    maxConcurrent: null,
    maxVersion: null,
  }));
  const routes = names.map((name) => route(name));
  return { providers: openProviders(list, { ticker, routes, log: () => {}, random: () => 0.5 }), ticker };
}

Deno.test("inOrder() leaves routes without a weight as they are", () => {
  const routes = [route("a"), route("b"), route("c")];
  assertEquals(inOrder(routes, () => 0.5), routes);
});

Deno.test("inOrder() puts each weighted route first as often as its weight says", () => {
  const routes = [route("a", 1), route("b", 2), route("c", 7)];
  const random = randomFrom(1);
  const first: Record<string, number> = { a: 0, b: 0, c: 0 };
  const second: Record<string, number> = { a: 0, b: 0 };
  for (let i = 0; i < 20_000; i++) {
    const [one, two] = inOrder(routes, random);
    first[one.provider]++;
    if (one.provider === "c") second[two.provider]++;
  }
  const near = (n: number, share: number) => assert(Math.abs(n / 20_000 - share) < 0.02, `${n} for ${share}`);
  near(first.a, 0.1);
  near(first.b, 0.2);
  near(first.c, 0.7);
  // Behind c the other two keep their shares.
  assert(Math.abs(second.a / (second.a + second.b) - 1 / 3) < 0.02);
});

Deno.test("inOrder() shuffles weighted neighbours only, and loses nothing", () => {
  const list = fc.array(fc.option(fc.double({ min: 0.001, max: 1000, noNaN: true })), { maxLength: 8 });
  fc.assert(fc.property(list, fc.integer(), (weights, seed) => {
    const routes = weights.map((weight, i) => route(String(i), weight));
    const ordered = inOrder(routes, randomFrom(seed));
    assertEquals(ordered.map((r) => r.provider).sort(), routes.map((r) => r.provider).sort());
    routes.forEach((r, i) => {
      if (r.weight === null) assertEquals(ordered[i], r);
    });
  }));
});

Deno.test("inOrder() keeps a conversation on its route, and spreads conversations by weight", () => {
  const routes = [route("a", 1), route("b", 3)];
  const first: Record<string, number> = { a: 0, b: 0 };
  for (let i = 0; i < 4000; i++) {
    const orders = [1, 2, 3].map(() =>
      inOrder(routes, drawFor(`conversation ${i}`)).map((r) => r.provider).join()
    );
    assertEquals(new Set(orders).size, 1);
    first[orders[0].split(",")[0]]++;
  }
  assert(Math.abs(first.b / 4000 - 0.75) < 0.03, `${first.b} of 4000`);
});

Deno.test("inOrder() moves only the conversations of a route that goes, and to a new one only its share", () => {
  const three = [route("a", 1), route("b", 1), route("c", 1)];
  let moved = 0;
  for (let i = 0; i < 3000; i++) {
    const draw = drawFor(`conversation ${i}`);
    const before = inOrder(three.slice(0, 2), draw)[0].provider;
    const after = inOrder(three, draw)[0].provider;
    if (after !== before) {
      assertEquals(after, "c");
      moved++;
    }
  }
  assert(Math.abs(moved / 3000 - 1 / 3) < 0.04, `${moved} of 3000`);
});

Deno.test("inOrder() sends a conversation elsewhere while its route is above its share of the load", () => {
  const routes = [route("a", 1), route("b", 1)];
  const home = inOrder(routes, drawFor("c"))[0].provider;
  const at = (here: number, there: number) =>
    inOrder(routes, drawFor("c"), (r) => r.provider === home ? here : there)[0].provider;
  assertEquals([at(0, 0), at(1, 0), at(5, 5)], [home, home, home]);
  assert(at(10, 0) !== home);
  assertEquals(at(10, 10), home);
});

Deno.test("sticky routes find the prompt in the provider's cache far more often than random ones", () => {
  const routes = [route("a", 1), route("b", 1), route("c", 1), route("d", 1)];
  const hits = (drawOf: (conversation: string) => ReturnType<typeof drawFor>) => {
    const cached = new Set<string>();
    let found = 0;
    for (let turn = 0; turn < 10; turn++) {
      for (let c = 0; c < 200; c++) {
        const { provider } = inOrder(routes, drawOf(`conversation ${c}`))[0];
        const entry = `${provider} ${c}`;
        if (cached.has(entry)) found++;
        cached.add(entry);
      }
    }
    return found / 2000;
  };
  const random = randomFrom(7);
  assertEquals(hits(drawFor), 0.9);
  assert(hits(() => random) < 0.75);
});

Deno.test("sticky routes keep conversations of which several are in progress at once", () => {
  for (const weights of [[1, 1], [1, 1, 1, 1], [9, 1]]) {
    for (const atOnce of [3, 10, 40]) {
      const routes = weights.map((weight, i) => route(`p${i}`, weight));
      const random = randomFrom(3);
      const running: string[] = [];
      let moved = 0;
      for (let i = 0; i < 4000; i++) {
        const draw = drawFor(`conversation ${Math.floor(random() * 1000)}`);
        const load = ({ provider }: { provider: string }) => running.filter((one) => one === provider).length;
        const [{ provider }] = inOrder(routes, draw, load);
        if (provider !== inOrder(routes, draw)[0].provider) moved++;
        running.push(provider);
        if (running.length === atOnce) running.splice(Math.floor(random() * atOnce), 1);
      }
      assert(moved / 4000 < 0.05, `${moved} of 4000 turns are moved, ${weights} at ${atOnce} calls`);
    }
  }
});

Deno.test("a call of no conversation goes where the weights say, however many calls are in progress", () => {
  // The same number for both routes: the first one comes first.
  const { providers, ticker } = opened("a", "b");
  const routes = [route("a", 1), route("b", 1)];
  const conversation = ["1", "2", "3", "4"].find((c) => inOrder(routes, drawFor(c))[0].provider === "a")!;
  const first = (conversation: string | null) =>
    providers.inTurn(routes, { conversation, stream: true })[0].provider;
  assertEquals([first(null), first(conversation)], ["a", "a"]);
  for (let i = 0; i < 12; i++) providers.states.get("a")!.limiter.tryEnter();
  assertEquals([first(null), first(conversation)], ["a", "b"]);
  ticker.close();
});

Deno.test("byPrice() puts the cheapest first, and routes whose price is not known last", () => {
  const route = (provider: string, cost?: number) => ({
    provider,
    model: "m",
    weight: null,
    ...(cost !== undefined && { cost }),
  });
  const order = (...routes: Parameters<typeof byPrice>[0][number][]) =>
    byPrice(routes).map(({ provider }) => provider).join("");
  assertEquals(order(route("a"), route("b", 3), route("c", 1), route("d", 0)), "dcba");
  assertEquals(order(route("a", 1), route("b", 1), route("c"), route("d")), "abcd");
});

Deno.test("byLatency() puts the quickest first, and before all what was not measured lately", () => {
  const routes = ["a", "b", "c"].map((provider) => ({ provider, model: "m", weight: null }));
  const order = (usual: Record<string, number>) =>
    byLatency(routes, ({ provider }) => usual[provider] ?? null).map(({ provider }) => provider).join("");
  assertEquals(order({ a: 300, b: 100, c: 200 }), "bca");
  assertEquals(order({ a: 300, b: 100 }), "cba");
  assertEquals(order({}), "abc");
});

Deno.test("FirstBytes tells what is usual lately and what 19 of 20 take, once it knows enough", () => {
  const times = new FirstBytes();
  const stream = true;
  assertEquals([times.usual({ now: 0, stream }), times.p95(stream)], [null, null]);
  for (let i = 1; i <= 100; i++) times.add(i, { now: i, stream });
  // Of the last 64, 37 to 100.
  assertEquals(times.p95(stream), 97);
  const usual = times.usual({ now: 100, stream })!;
  assert(usual > 90 && usual < 100, String(usual));
  assertEquals(times.usual({ now: 100 + 300_001, stream }), null);
});

Deno.test("FirstBytes keeps streams and whole answers apart, which take many times as long", () => {
  const times = new FirstBytes();
  for (let i = 0; i < 60; i++) times.add(300, { now: i, stream: true });
  assertEquals([times.p95(true), times.p95(false), times.usual({ now: 60, stream: false })], [
    300,
    null,
    null,
  ]);
  for (let i = 0; i < 5; i++) times.add(9000, { now: 60, stream: false });
  assertEquals([times.p95(true), times.p95(false)], [300, 9000]);
  assertEquals([times.usual({ now: 60, stream: true }), times.usual({ now: 60, stream: false })], [
    300,
    9000,
  ]);
  assertEquals(times.summary(), { p50: 300, p95: 9000 });
  times.failed(61);
  assertEquals([true, false].map((stream) => times.usual({ now: 62, stream })), [Infinity, Infinity]);
});

Deno.test("with the order of latency, a whole answer is compared with whole answers", () => {
  const { providers, ticker } = opened("a", "b");
  const routes = [route("a"), route("b")];
  const add = (name: string, ms: number, stream: boolean) =>
    providers.states.find(route(name))!.model.firstBytes.add(ms, { now: ticker.now(), stream });
  const first = (stream: boolean) =>
    providers.inTurn(routes, { conversation: null, order: "latency", stream })[0].provider;
  // Only streams are measured: they say more than nothing.
  add("a", 300, true);
  add("b", 200, true);
  assertEquals([first(true), first(false)], ["b", "b"]);
  add("a", 4000, false);
  add("b", 9000, false);
  assertEquals([first(true), first(false)], ["b", "a"]);
  ticker.close();
});
