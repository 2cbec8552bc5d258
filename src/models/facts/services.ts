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

/** Searches cost the same in each tier of service. */
function times(prices: MillionPrices, factor: number): MillionPrices {
  return Object.fromEntries(
    Object.entries(prices).map((
      [name, price],
    ) => [name, name === "web_search" ? price : Number((price * factor).toFixed(9))]),
  );
}
