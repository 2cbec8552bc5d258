/** Prices of service tiers: from a source if it has them, otherwise by the vendor's factor. */
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
  return [...tiers, ...derived];
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

/** Searches cost the same in each tier of service. */
function times(prices: MillionPrices, factor: number): MillionPrices {
  return Object.fromEntries(
    Object.entries(prices).map((
      [name, price],
    ) => [name, name === "web_search" ? price : Number((price * factor).toFixed(9))]),
  );
}
