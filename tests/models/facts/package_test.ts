/** What calls cost by the table, and by the price package's own calculator. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import { costOf, priceTable } from "../../../src/accounts/budgets/money.ts";
import { priceOf, sheetAt } from "../../../src/exchange/prices.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { FACTS_PRESETS } from "../../../src/models/facts/facts_presets.ts";
import { openFacts } from "../../../src/models/facts/facts.ts";
import type { Row } from "../../../src/models/facts/row.ts";

const USAGES = [
  { input_tokens: 1000, output_tokens: 500 },
  { input_tokens: 150_000, cache_read_tokens: 100_000, cache_write_tokens: 20_000, output_tokens: 500 },
  { input_tokens: 200_000, output_tokens: 10 },
  { input_tokens: 200_001, output_tokens: 10 },
  { input_tokens: 300_000, cache_read_tokens: 100_000, cache_write_tokens: 20_000, output_tokens: 500 },
  { input_tokens: 5000, input_audio_tokens: 2000, output_tokens: 500, output_audio_tokens: 100 },
  { input_tokens: 600_000, cache_read_tokens: 500_000, output_tokens: 9 },
];
const DAYS = ["2025-06-01T12:00:00Z", "2026-11-23T02:00:00Z", "2026-11-23T12:00:00Z"];

Deno.test("calls cost what the price package's calculator says, at all sizes, times and kinds of tokens", async () => {
  const facts = await openFacts();
  let compared = 0;
  for (const preset of FACTS_PRESETS) {
    for (const providerId of preset.prices) {
      for (const { id, prices } of findProvider({ providerId })?.models ?? []) {
        const sheets = facts.find(preset.name, id)?.sheets;
        if (!sheets?.[0].source.startsWith("genai-prices")) continue;
        // A price for each request is none for tokens.
        if (JSON.stringify(prices).includes("requests_kcount")) continue;
        for (const day of DAYS) {
          const timestamp = new Date(day);
          const sheet = sheetAt(sheets, timestamp.getTime())!;
          for (const used of USAGES) {
            const theirs = calcPrice(used, id, { providerId, timestamp });
            if (theirs === null) continue;
            const usage = {
              ...NO_USAGE,
              input: used.input_tokens,
              cached: used.cache_read_tokens ?? 0,
              cacheWrite: used.cache_write_tokens ?? 0,
              audioInput: used.input_audio_tokens ?? 0,
              output: used.output_tokens,
              audioOutput: used.output_audio_tokens ?? 0,
            };
            const table = priceTable(priceOf(sheet, usage.input, undefined).prices);
            const cost = Number(costOf(usage, 0, table)) / 1e12;
            assertAlmostEquals(
              cost,
              theirs.total_price,
              1e-9 + theirs.total_price * 1e-6,
              `${preset.name} ${id} ${day} ${JSON.stringify(used)}`,
            );
            compared++;
          }
        }
      }
    }
  }
  assert(compared > 15_000, `${compared} prices`);
});

Deno.test("what Claude keeps in a cache for an hour costs twice the prompt's price at every preset", async () => {
  const { default: table } = await import("../../../src/models/facts/table.json", { with: { type: "json" } });
  const wrong: string[] = [];
  const presets = new Set<string>();
  for (const [preset, rows] of Object.entries(table.presets as Record<string, string[]>)) {
    for (const { id, sheets = [] } of rows.map((text): Row => JSON.parse(text))) {
      if (!/claude/.test(id)) continue;
      for (const { prices } of sheets.flatMap((sheet) => [sheet, ...sheet.tiers ?? []])) {
        if (prices.input_cache_write === undefined) continue;
        presets.add(preset);
        if (Math.abs(prices.input_cache_write_1h - 2 * prices.prompt) > 1e-9) wrong.push(`${preset} ${id}`);
      }
    }
  }
  assertEquals(wrong, []);
  assert(["anthropic", "bedrock", "vertex", "azure", "openrouter"].every((preset) => presets.has(preset)));
});
