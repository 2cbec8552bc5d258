/**
 * Known models of presets: the table beside this file, read when a configuration first needs it. Only the
 * requested rows are parsed.
 */
import type { Prices, PriceSheet, PriceTier } from "../../exchange/prices.ts";
import type { Effort } from "../../exchange/prompt.ts";
import type { ParameterName, Parameters } from "../../exchange/parameters.ts";
import { type MillionPrices, perToken, type Row, type RowSheet } from "./row.ts";
import { withRequests, withServices, withTools } from "./services.ts";

/** Known facts about a model of a preset. Absent fields: unknown. */
export interface ModelFacts {
  name?: string;
  contextLength?: number;
  maxCompletion?: number;
  inputs?: readonly string[];
  outputs?: readonly string[];
  features?: readonly string[];
  efforts?: readonly Effort[];
  parameters?: Parameters;
  sheets?: readonly PriceSheet[];
}

export interface FactsTable {
  /** Null: known, but not a chat model. Undefined: unknown. */
  find(preset: string, model: string): ModelFacts | null | undefined;
  /** Names of a preset's known chat models. */
  names(preset: string): string[];
}

/** Loaded on demand, since the table takes some milliseconds and a megabyte. */
export async function openFacts(): Promise<FactsTable> {
  const { default: table } = await import("./table.json", { with: { type: "json" } });
  const presets: Record<string, readonly string[]> = table.presets;
  const sources: Record<string, string> = table.sources;
  const opened = new Map<string, PresetRows>();
  function rowsOf(preset: string): PresetRows | undefined {
    if (!Object.hasOwn(presets, preset)) return undefined;
    let rows = opened.get(preset);
    if (rows === undefined) opened.set(preset, rows = new PresetRows(presets[preset]));
    return rows;
  }
  return {
    names: (preset) => rowsOf(preset)?.names() ?? [],
    find(preset, model) {
      const row = rowsOf(preset)?.find(model);
      if (row === undefined) return undefined;
      return row.other ? null : factsOf(preset, row, sources);
    },
  };
}

/** Rows of one preset, by name and by pattern. */
class PresetRows {
  readonly #byId = new Map<string, string>();
  readonly #patterns: { pattern: RegExp; text: string }[] = [];

  constructor(rows: readonly string[]) {
    for (const text of rows) {
      const row: Row = JSON.parse(text);
      this.#byId.set(row.id.toLowerCase(), text);
      if (row.match !== undefined) this.#patterns.push({ pattern: new RegExp(row.match), text });
    }
  }

  /** Only models with known features; rows that are only in the price package may be of any kind. */
  names(): string[] {
    const rows = [...this.#byId.values()].map((text): Row => JSON.parse(text));
    return rows.filter(({ other, features }) => !other && features !== undefined).map(({ id }) => id);
  }

  find(model: string): Row | undefined {
    const name = model.toLowerCase();
    const text = this.#byId.get(name) ?? this.#patterns.find(({ pattern }) => pattern.test(name))?.text;
    return text === undefined ? undefined : JSON.parse(text);
  }
}

function factsOf(preset: string, row: Row, sources: Readonly<Record<string, string>>): ModelFacts {
  const source = row.source === undefined ? "" : `${row.source} ${sources[row.source].split(" ")[0]}`;
  const cached = row.sheets?.some(({ prices }) => prices.input_cache_read !== undefined);
  const features = cached ? [...new Set([...row.features ?? [], "prompt_caching"])] : row.features;
  return {
    name: row.name,
    contextLength: row.context,
    maxCompletion: row.output,
    // Rows that are only in the price package do not state the modalities.
    inputs: row.in ?? (row.features && ["text"]),
    outputs: row.out ?? (row.features && ["text"]),
    features: row.features && features,
    efforts: row.efforts as readonly Effort[] | undefined,
    parameters: row.refuses && Object.fromEntries(row.refuses.map((name) => [name as ParameterName, false])),
    sheets: row.sheets?.map((sheet) =>
      sheetOf(preset, withTools(preset, withRequests(preset, row.id, sheet)), source)
    ),
  };
}

function sheetOf(preset: string, sheet: RowSheet, source: string): PriceSheet {
  return {
    source,
    from: sheet.from === undefined ? 0 : Date.parse(`${sheet.from}T00:00:00Z`),
    hours: sheet.hours === undefined ? null : hoursOf(sheet.hours),
    prices: tokenPrices(sheet.prices),
    tiers: withServices(preset, sheet).map(({ above = 0, service = null, prices }): PriceTier => ({
      above,
      service,
      prices: tokenPrices(prices),
    })),
  };
}

function hoursOf(text: string): [number, number] {
  const [begin, end] = text.split("-").map((time) => {
    const [hours, minutes] = time.split(":").map(Number);
    return hours * 60 + minutes;
  });
  return [begin, end];
}

function tokenPrices(prices: MillionPrices): Prices {
  return Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, perToken(price)]));
}
