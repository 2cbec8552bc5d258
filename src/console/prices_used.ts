/** The prices of a generation, as far as the catalog still has them: the record contains their versions. */
import { priceOf, type Prices } from "../exchange/prices.ts";
import type { Model } from "../models/catalog.ts";

export interface PricesUsed {
  version: string;
  prices: Prices;
}

/** @param named the versions in a record, separated by commas */
export function pricesUsed(model: Model | undefined, named: string | null): PricesUsed[] {
  if (model === undefined || named === null) return [];
  const wanted = new Set(named.split(", "));
  const known = (model.sheets ?? []).flatMap((sheet) => [
    priceOf(sheet, 0, undefined),
    ...sheet.tiers.map(({ above, service }) => priceOf(sheet, above + 1, service ?? undefined)),
  ]);
  const found = new Map(known.filter(({ version }) => wanted.has(version)).map((one) => [one.version, one]));
  return [...found.values()].map(({ version, prices }) => ({ version, prices }));
}
