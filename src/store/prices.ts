/** The prices at which records were billed, by the version that each record names. */
import type { Columns, Engine, Query } from "./engine.ts";
import { asInt, asText } from "./rows.ts";

export interface PriceVersion {
  version: string;
  /** Decimal strings by price kind, as in the catalog. */
  prices: Readonly<Record<string, string>>;
}

export interface KnownPrices extends PriceVersion {
  /** When the first record was billed at these prices, in milliseconds since the epoch. */
  since: number;
}

const COLUMNS: Columns = [["version", "text"], ["prices", "text"], ["since", "int"]];

export async function insertPrices(
  engine: Engine,
  query: Query,
  prices: readonly PriceVersion[],
  now: number,
): Promise<void> {
  if (prices.length === 0) return;
  // All nodes insert in the same order, which prevents deadlocks.
  const rows = prices.toSorted((a, b) => a.version < b.version ? -1 : 1)
    .map(({ version, prices }) => [version, JSON.stringify(prices), Math.round(now)]);
  const then = "ON CONFLICT (version) DO NOTHING";
  await engine.insertRows(query, { table: "price_versions", columns: COLUMNS, then }, rows);
}

export async function pricesOf(
  { list }: Pick<Engine, "list">,
  query: Query,
  versions: readonly string[],
): Promise<KnownPrices[]> {
  if (versions.length === 0) return [];
  const rows = await query(
    `SELECT version, prices, since FROM price_versions WHERE version IN (${
      list("$1")
    }) ORDER BY since, version`,
    [JSON.stringify(versions)],
  );
  return rows.map((row) => ({
    version: asText(row.version),
    prices: JSON.parse(asText(row.prices)),
    since: asInt(row.since),
  }));
}
