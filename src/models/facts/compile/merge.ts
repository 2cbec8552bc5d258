/** Merges the two sources: facts from models.dev, prices from the package where it has the model. */
import { FACTS_PRESETS } from "../facts_presets.ts";
import { factRows, FACTS_VERSION, type FactsFile, priceRows, PRICES_VERSION } from "./sources.ts";
import type { MillionPrices, Row, RowSheet, Table } from "../row.ts";
import { DECISIONS } from "./decisions.ts";

/** A price on which the sources disagree, in dollars per million tokens. */
export interface Disagreement {
  preset: string;
  model: string;
  price: string;
  package: number;
  modelsDev: number;
}

export interface Compiled {
  table: Table;
  disagreements: Disagreement[];
}

/** @param today the date, as `2026-11-22`, whose prices are compared */
export function compile(file: FactsFile, today: string): Compiled {
  const disagreements: Disagreement[] = [];
  const presets: Record<string, Row[]> = {};
  for (const preset of FACTS_PRESETS) {
    const priced = priceRows(preset);
    const taken = new Set<Row>();
    const rows = factRows(preset, file).map((facts): Row => {
      const prices = rowFor(priced, facts.id);
      if (prices === undefined) return facts;
      if (prices.id === facts.id) taken.add(prices);
      const key = `${preset.name} ${facts.id}`;
      const found = differences(facts, prices, today).map((d) => ({
        preset: preset.name,
        model: facts.id,
        ...d,
      }));
      disagreements.push(...found);
      const trusted = prices.sheets === undefined || DECISIONS[key]?.take === "models.dev" ? facts : prices;
      const { sheets, source } = trusted.sheets ? trusted : facts;
      const match = prices.id === facts.id ? prices.match : undefined;
      return { ...facts, match, source, sheets: withModes(sheets, facts) };
    });
    const known = new Set(rows.map(({ id }) => id));
    for (const row of priced) {
      if (!taken.has(row) && !known.has(row.id)) rows.push(row);
    }
    presets[preset.name] = rows.map(withHourCache).map(withOwnSearches).map(tidy);
  }
  const sources = { "genai-prices": PRICES_VERSION, "models.dev": FACTS_VERSION };
  return { table: { sources, presets }, disagreements };
}

function rowFor(rows: readonly Row[], id: string): Row | undefined {
  const name = id.toLowerCase();
  return rows.find((row) => row.id === name) ??
    rows.find(({ match }) => match !== undefined && new RegExp(match).test(name));
}

/** Only models.dev has prices of service tiers. */
function withModes(sheets: readonly RowSheet[] | undefined, facts: Row): readonly RowSheet[] | undefined {
  const modes = facts.sheets?.[0].tiers?.filter(({ service }) => service !== undefined) ?? [];
  if (modes.length === 0 || sheets === facts.sheets) return sheets;
  return sheets?.map((sheet) => ({ ...sheet, tiers: [...sheet.tiers ?? [], ...modes] }));
}

/**
 * A one-hour cache write for Claude costs twice the input price at all providers (Anthropic: "Prompt
 * caching"; Google and AWS likewise). The sources state it for Anthropic and few others; without a price it
 * would be billed as a five-minute write.
 */
function withHourCache(row: Row): Row {
  if (!/claude/.test(row.id) || row.sheets === undefined) return row;
  const priced = <T extends { prices: MillionPrices }>(of: T): T => {
    const { prompt, input_cache_write, input_cache_write_1h } = of.prices;
    if (prompt === undefined || input_cache_write === undefined || input_cache_write_1h !== undefined) {
      return of;
    }
    return { ...of, prices: { ...of.prices, input_cache_write_1h: Number((2 * prompt).toFixed(9)) } };
  };
  return {
    ...row,
    sheets: row.sheets.map((sheet) => ({
      ...priced(sheet),
      ...(sheet.tiers && { tiers: sheet.tiers.map(priced) }),
    })),
  };
}

/**
 * The price of searches is kept for models without tools, which search by themselves. With other models the
 * gateway searches, and the price of that is the operator's.
 */
function withOwnSearches(row: Row): Row {
  if (row.features !== undefined && !row.features.includes("tools")) return row;
  const without = <T extends { prices: MillionPrices }>(of: T): T => {
    if (of.prices.web_search === undefined) return of;
    const { web_search: _, ...prices } = of.prices;
    return { ...of, prices };
  };
  return {
    ...row,
    sheets: row.sheets?.map((sheet) => ({
      ...without(sheet),
      ...(sheet.tiers && { tiers: sheet.tiers.map(without) }),
    })),
  };
}

/** Compares the kinds that both sources have; for tiers only whether prices and thresholds are the same. */
function differences(
  facts: Row,
  prices: Row,
  today: string,
): Pick<Disagreement, "price" | "package" | "modelsDev">[] {
  const theirs = facts.sheets?.[0].prices;
  const ours = prices.sheets?.findLast(({ from, hours }) => hours === undefined && (from ?? "") <= today)
    ?.prices;
  if (!theirs || !ours) return [];
  return Object.keys(theirs).filter((kind) => ours[kind] !== undefined && ours[kind] !== theirs[kind])
    .map((kind) => ({ price: kind, package: ours[kind], modelsDev: theirs[kind] }));
}

/** Removes fields without information. */
function tidy(row: Row): Row {
  const kept = Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined),
  ) as unknown as Row;
  if (kept.other) return { id: kept.id, ...(kept.match && { match: kept.match }), other: true };
  return kept;
}
