/** Which prices a call is billed by, and which it can reach. */
import { assertEquals } from "@std/assert";
import { highestPricesOf, priceOf, type PriceSheet, sheetAt } from "../../src/exchange/prices.ts";

const sheet = (more: Partial<PriceSheet> = {}): PriceSheet => ({
  source: "test",
  from: 0,
  hours: null,
  prices: { prompt: "1", completion: "4" },
  tiers: [],
  ...more,
});

const TIERED = sheet({
  tiers: [
    { above: 200, service: null, prices: { prompt: "2", completion: "6" } },
    { above: 1000, service: null, prices: { prompt: "3", completion: "7" } },
    { above: 0, service: "flex", prices: { prompt: "0.5", completion: "2" } },
    { above: 200, service: "flex", prices: { prompt: "1", completion: "3" } },
    { above: 0, service: "priority", prices: { prompt: "9", completion: "9" } },
  ],
});

Deno.test("priceOf() takes the tier that the prompt is above, of the service that was given", () => {
  const billed = (input: number, service?: string) => {
    const { prices, version } = priceOf(TIERED, input, service);
    return `${prices.prompt} ${version}`;
  };
  assertEquals(billed(200), "1 test");
  assertEquals(billed(201), "2 test above 200");
  assertEquals(billed(1001), "3 test above 1000");
  assertEquals(billed(10, "flex"), "0.5 test flex");
  assertEquals(billed(5000, "flex"), "1 test above 200 flex");
  assertEquals(billed(5000, "priority"), "9 test priority");
  for (const usual of ["default", "standard", "auto", "on_demand", "", "DEFAULT"]) {
    assertEquals(billed(10, usual), "1 test");
  }
  // A service that nobody has a price for is billed as the usual one of that size.
  assertEquals(billed(201, "scale"), "2 test above 200");
});

Deno.test("sheetAt() takes what is in force at the time, by day and by hour", () => {
  const day = (text: string) => Date.parse(text);
  const sheets = [
    sheet({ source: "first" }),
    sheet({ source: "second", from: day("2026-08-17T00:00:00Z") }),
    sheet({ source: "busy", hours: [60, 240] }),
    sheet({ source: "night", hours: [23 * 60, 30] }),
  ];
  const at = (text: string) => sheetAt(sheets, day(text))?.source;
  assertEquals(at("2026-08-16T23:00:00Z"), "night");
  assertEquals(at("2026-08-16T12:00:00Z"), "first");
  assertEquals(at("2026-08-17T00:29:00Z"), "night");
  assertEquals(at("2026-08-17T00:30:00Z"), "second");
  assertEquals(at("2026-08-17T01:00:00Z"), "busy");
  assertEquals(at("2026-08-17T04:00:00Z"), "second");
  assertEquals(sheetAt([], 0), undefined);
  assertEquals(priceOf(sheets[1], 1, undefined).version, "second from 2026-08-17");
  assertEquals(priceOf(sheets[2], 1, undefined).version, "busy 01:00-04:00");
});

Deno.test("highestPricesOf() gives for each kind the highest price that the call can reach", () => {
  const { tiers } = TIERED;
  assertEquals(highestPricesOf(sheet(), { input: 1e9, asked: undefined }).prompt, "1");
  // The provider's account may be set to priority, unless the request says otherwise.
  assertEquals(highestPricesOf(TIERED, { input: 10, asked: undefined }).prompt, "9");
  assertEquals(highestPricesOf(TIERED, { input: 10, asked: "auto" }).prompt, "9");
  assertEquals(highestPricesOf(TIERED, { input: 10, asked: "default" }).prompt, "1");
  assertEquals(highestPricesOf(TIERED, { input: 10, asked: "flex" }).prompt, "1");
  assertEquals(highestPricesOf(TIERED, { input: 500, asked: "default" }).completion, "6");
  assertEquals(highestPricesOf(TIERED, { input: 5000, asked: "flex" }).prompt, "3");
  // One object for the same reach, so that its table is worked out once.
  assertEquals(
    highestPricesOf(TIERED, { input: 10, asked: "auto" }) ===
      highestPricesOf(TIERED, { input: 11, asked: "auto" }),
    true,
  );
  // A kind that a tier has no price for costs there what it is part of.
  const cached = sheet({
    prices: { prompt: "1", completion: "4", input_cache_read: "0.1" },
    tiers: [{ above: 5, service: null, prices: { prompt: "3", completion: "4" } }],
  });
  assertEquals(highestPricesOf(cached, { input: 6, asked: "default" }).input_cache_read, "3");
  assertEquals(tiers.length, 5);
});
