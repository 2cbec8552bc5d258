import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { inOrder } from "../../src/providers/routes.ts";

const route = (provider: string, weight: number | null = null) => ({ provider, model: "m", weight });

/** Evenly spread, and the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
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
