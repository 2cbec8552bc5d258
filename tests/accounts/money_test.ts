import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { normalizeUsage, type Usage } from "../../src/exchange/usage.ts";
import {
  costAtMost,
  costOf,
  costOfAll,
  type Estimate,
  formatAmount,
  MAX_AMOUNT,
  parseAmount,
  type Prices,
  priceTable,
  savedByCache,
} from "../../src/accounts/budgets/money.ts";

const NAMES = [
  "prompt",
  "completion",
  "input_cache_read",
  "input_cache_write",
  "input_cache_write_1h",
  "audio",
  "image",
  "internal_reasoning",
  "audio_output",
  "image_output",
  "request",
  "web_search",
];

/** A price of up to 18 decimals, as a catalog would write it. */
const price = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: 0, max: 18 })).map(
  ([n, digits]) => {
    const text = n.toString().padStart(digits + 1, "0");
    return digits === 0 ? text.slice(0, 3) : `${text.slice(0, -digits).slice(-3)}.${text.slice(-digits)}`;
  },
);
const prices: fc.Arbitrary<Prices> = fc.record(
  Object.fromEntries(NAMES.map((name) => [name, price])),
  { requiredKeys: ["prompt", "completion"] },
);
const tokens = fc.integer({ min: 0, max: 5_000_000 });
const usage: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cached: tokens,
  cacheWrite: tokens,
  cacheWrite1h: tokens,
  audioInput: tokens,
  imageInput: tokens,
  videoInput: tokens,
  output: tokens,
  reasoning: tokens,
  audioOutput: tokens,
  imageOutput: tokens,
}).map((raw) => normalizeUsage(raw));

/** A decimal as an exact fraction: numerator over a power of ten. */
function exact(text: string): { n: bigint; d: bigint } {
  const [whole, fraction = ""] = text.split(".");
  return { n: BigInt(whole + fraction), d: 10n ** BigInt(fraction.length) };
}

/** Every token and request in one of twelve piles, summed as fractions without rounding: [numerator, denominator] of picodollars. */
function rational(u: Usage, searches: number, p: Prices, requests = 1): [bigint, bigint] {
  const at = (...names: string[]) => exact(p[names.find((name) => p[name] !== undefined) ?? ""] ?? "0");
  const piles: [number, { n: bigint; d: bigint }][] = [];
  const uncached = u.input - u.cached - u.cacheWrite;
  const audio = p.audio === undefined ? 0 : Math.min(u.audioInput, uncached);
  const image = p.image === undefined ? 0 : Math.min(u.imageInput, uncached - audio);
  piles.push([uncached - audio - image, at("prompt")], [audio, at("audio")], [image, at("image")]);
  piles.push([u.cached, at("input_cache_read", "prompt")]);
  piles.push([u.cacheWrite - u.cacheWrite1h, at("input_cache_write", "prompt")]);
  piles.push([u.cacheWrite1h, at("input_cache_write_1h", "input_cache_write", "prompt")]);
  const thought = p.internal_reasoning === undefined ? 0 : u.reasoning;
  const spoken = p.audio_output === undefined ? 0 : Math.min(u.audioOutput, u.output - thought);
  const drawn = p.image_output === undefined ? 0 : Math.min(u.imageOutput, u.output - thought - spoken);
  piles.push([thought, at("internal_reasoning")], [spoken, at("audio_output")], [drawn, at("image_output")]);
  piles.push([u.output - thought - spoken - drawn, at("completion")], [searches, at("web_search")]);
  piles.push([requests, at("request")]);
  let [n, d] = [0n, 1n];
  for (const [count, price] of piles) {
    n = n * price.d + BigInt(count) * price.n * d;
    d *= price.d;
  }
  return [n * 10n ** 12n, d];
}

Deno.test("costOf() is the exact rational sum, rounded once and half up", () => {
  fc.assert(
    fc.property(usage, fc.integer({ min: 0, max: 20 }), prices, (u, searches, p) => {
      const [n, d] = rational(u, searches, p);
      assertEquals(costOf(u, searches, priceTable(p)), (2n * n + d) / (2n * d));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("costOfAll() is the exact sum of calls at prices of their own, rounded once", () => {
  const call = fc.tuple(usage, prices, fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }));
  const calls = fc.array(call, { maxLength: 4 });
  fc.assert(fc.property(calls, fc.integer({ min: 0, max: 20 }), prices, (all, searches, last) => {
    let [n, d] = rational(normalizeUsage({}), searches, last, 0);
    for (const [u, p, requests] of all) {
      const [more, by] = rational(u, 0, p, requests ?? 1);
      [n, d] = [n * by + more * d, d * by];
    }
    const cost = costOfAll(
      all.map(([usage, prices, requests]) => ({ usage, prices, requests })),
      searches,
      priceTable(last),
    );
    assertEquals(cost, (2n * n + d) / (2n * d));
  }));
});

Deno.test("costOf() prices no token twice: equal prices make the parts irrelevant", () => {
  fc.assert(fc.property(usage, price, (u, one) => {
    const p = Object.fromEntries(NAMES.map((name) => [name, one]));
    const whole = { ...normalizeUsage({ input: u.input, output: u.output }) };
    assertEquals(costOf(u, 0, priceTable(p)), costOf(whole, 0, priceTable(p)));
  }));
});

Deno.test("costOf() never exceeds an estimate of the totals, whatever kinds of token they are and have prices", () => {
  const prices = fc.record(Object.fromEntries(NAMES.map((name) => [name, price])), {
    requiredKeys: ["prompt", "completion"],
  });
  fc.assert(fc.property(usage, fc.integer({ min: 0, max: 20 }), prices, (u, searches, raw) => {
    const table = priceTable(raw as Prices);
    const media = Math.max(u.audioInput, u.imageInput);
    // What is neither audio nor image is text, however it is cached.
    const most = costAtMost(
      { input: u.input, media: u.input, output: u.output, searches, requests: 1 },
      table,
    );
    assert(costOf(u, searches, table) <= most);
    if (media === 0) {
      assert(
        costOf(u, searches, table) <=
          costAtMost({ input: u.input, output: u.output, searches, requests: 1 }, table),
      );
    }
  }));
});

Deno.test("savedByCache() is what cached input would have cost more without the cache", () => {
  fc.assert(fc.property(usage, price, price, (u, prompt, read) => {
    const table = priceTable({ prompt, completion: "0", input_cache_read: read });
    const without = costOf({ ...u, cached: 0, audioInput: 0, imageInput: 0, cacheWrite: 0 }, 0, table);
    const once = costOf({ ...u, audioInput: 0, imageInput: 0, cacheWrite: 0 }, 0, table);
    const difference = without - once - savedByCache(u, table);
    // Each of the three is rounded.
    assert(difference >= -1n && difference <= 1n, `${difference}`);
  }));
});

Deno.test("priceTable() names prices by what they are", () => {
  const version = (prices: Prices) => priceTable(prices).version;
  assertEquals(
    version({ prompt: "1", completion: "2" }),
    version({ completion: "2", prompt: "1", image: undefined }),
  );
  assertNotEquals(version({ prompt: "1", completion: "2" }), version({ prompt: "1", completion: "2.1" }));
});

Deno.test("costAtMost() takes the dearest kind that a token can be", () => {
  const table = priceTable({
    prompt: "1",
    completion: "2",
    input_cache_write: "1.25",
    input_cache_write_1h: "2",
    audio: "30",
    image: "4",
    internal_reasoning: "5",
    audio_output: "6",
    image_output: "40",
  });
  const most = (estimate: Partial<Estimate>) =>
    formatAmount(costAtMost({ input: 0, output: 0, searches: 0, ...estimate }, table));
  assertEquals(most({ input: 10 }), "20.00");
  assertEquals(most({ input: 10, hourCache: false }), "12.50");
  assertEquals(most({ media: 10, hourCache: false }), "300.00");
  assertEquals(most({ output: 10 }), "400.00");
});

Deno.test("costOf() of no usage is its searches", () => {
  const table = priceTable({ prompt: "1", completion: "1", web_search: "0.005" });
  assertEquals(formatAmount(costOf(null, 3, table)), "0.015");
});

Deno.test("parseAmount() and formatAmount() are inverse", () => {
  fc.assert(fc.property(fc.bigInt({ min: -MAX_AMOUNT, max: MAX_AMOUNT }), (amount) => {
    assertEquals(parseAmount(formatAmount(amount)), amount);
  }));
});

Deno.test("parseAmount() refuses what is no decimal in range", () => {
  for (
    const text of ["", "1e3", "0x10", "1.", ".5", " 1", "1,5", "+1", "NaN", "9000001", "0.0000000000001"]
  ) {
    assertEquals(parseAmount(text), null, text);
  }
  assertEquals(parseAmount("0.0000000000010"), 1n);
  assertEquals(formatAmount(parseAmount("25")!), "25.00");
  assertEquals(formatAmount(-1n), "-0.000000000001");
});
