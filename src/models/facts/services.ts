/** Prices of service tiers: from a source if it has them, otherwise by the vendor's factor. */
import { FEE_KINDS, type FeeKind } from "../../exchange/fees.ts";
import { TIER_FACTORS } from "./facts_presets.ts";
import type { MillionPrices, RowSheet, RowTier } from "./row.ts";

/** The tiers of a price sheet, including the vendor's service tiers. */
export function withServices(preset: string, { prices, tiers = [] }: RowSheet): readonly RowTier[] {
  const factors = Object.entries(TIER_FACTORS[preset] ?? {});
  const steps = tiers.filter(({ service }) => service === undefined);
  const derived = factors.filter(([service]) => !tiers.some((tier) => tier.service === service))
    .flatMap(([service, factor]): RowTier[] => [
      { service, prices: times(prices, factor) },
      ...steps.map(({ above, prices }) => ({ above, service, prices: times(prices, factor) })),
    ]);
  return [...tiers, ...derived, ...inRegion(preset, tiers)];
}

/** Claude's fast mode in one region only. Anthropic, "Fast mode pricing": the multiplier of "Data residency" applies on top of it. */
function inRegion(preset: string, tiers: readonly RowTier[]): RowTier[] {
  const factor = preset === "anthropic" ? TIER_FACTORS[preset].us : undefined;
  if (factor === undefined) return [];
  return tiers.filter(({ service }) => service === "fast")
    .map((tier) => ({ ...tier, service: "fast_us", prices: times(tier.prices, factor) }));
}

/**
 * Prices of a request to Perplexity by the size of its search context (low, medium, high), in dollars per million. Its page "Pricing"
 * has them per thousand; the sources have prices per token only.
 */
const REQUESTS: Readonly<Record<string, readonly [low: number, medium: number, high: number]>> = {
  "sonar": [5000, 8000, 12_000],
  "sonar-pro": [6000, 10_000, 14_000],
  "sonar-reasoning": [5000, 8000, 12_000],
  "sonar-reasoning-pro": [6000, 10_000, 14_000],
};

/** The sheet with the prices of a request, where they are known. */
export function withRequests(preset: string, id: string, sheet: RowSheet): RowSheet {
  const known = preset === "perplexity" ? REQUESTS[id] : undefined;
  if (known === undefined) return sheet;
  const [low, medium, high] = known;
  const tier = (size: string, request: number): RowTier => ({
    service: `search_${size}`,
    prices: { ...sheet.prices, request },
  });
  return {
    ...sheet,
    prices: { ...sheet.prices, request: low },
    tiers: [...sheet.tiers ?? [], tier("medium", medium), tier("high", high)],
  };
}

/** Uses of tools cost the same in each tier of service. */
const FLAT: ReadonlySet<string> = new Set(["web_search", ...FEE_KINDS]);

function times(prices: MillionPrices, factor: number): MillionPrices {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [
      name,
      FLAT.has(name) ? price : Number((price * factor).toFixed(9)),
    ]),
  );
}

/**
 * Prices of uses of a provider's tools, in dollars per million. OpenAI's page "Pricing": $2.50 per 1,000 calls of file search. xAI's
 * page "Pricing", "Tool Invocation Costs": $2.50 per 1,000 calls of collections search, which is `file_search` in requests, and $5 of X
 * search; its page "Models and Pricing", "Live Search Pricing": $25 per 1,000 sources.
 */
const TOOLS: Readonly<Record<string, Readonly<Partial<Record<FeeKind, number>>>>> = {
  openai: { file_search: 2500 },
  xai: { file_search: 2500, x_search: 5000, search_source: 25_000 },
};

/** The sheet with the prices of the provider's tools. */
export function withTools(preset: string, sheet: RowSheet): RowSheet {
  const fees = TOOLS[preset];
  if (fees === undefined) return sheet;
  return {
    ...sheet,
    prices: { ...sheet.prices, ...fees },
    ...(sheet.tiers && {
      tiers: sheet.tiers.map((tier) => ({ ...tier, prices: { ...tier.prices, ...fees } })),
    }),
  };
}
