/**
 * Known models of presets: the table beside this file, read when a configuration first needs it. Only the
 * requested rows are parsed.
 */
import type { Prices, PriceSheet, PriceTier } from "../../exchange/prices.ts";
import type { Effort } from "../../exchange/prompt.ts";
import type { ParameterName, Parameters } from "../../exchange/parameters.ts";
import { type MillionPrices, perToken, type Row, type RowSheet } from "./row.ts";
import { withServices } from "./services.ts";

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
  find(door: string, model: string): ModelFacts | null | undefined;
  /** Names of a preset's known chat models. */
  names(door: string): string[];
}

/** Loaded on demand, since the table takes some milliseconds and a megabyte. */
export async function openFacts(): Promise<FactsTable> {
  const { default: table } = await import("./table.json", { with: { type: "json" } });
  const doors: Record<string, readonly string[]> = table.doors;
  const sources: Record<string, string> = table.sources;
  const opened = new Map<string, DoorRows>();
  function rowsOf(door: string): DoorRows | undefined {
    if (!Object.hasOwn(doors, door)) return undefined;
    let rows = opened.get(door);
    if (rows === undefined) opened.set(door, rows = new DoorRows(doors[door]));
    return rows;
  }
  return {
    names: (door) => rowsOf(door)?.names() ?? [],
    find(door, model) {
      const row = rowsOf(door)?.find(model);
      if (row === undefined) return undefined;
      return row.other ? null : factsOf(door, row, sources);
    },
  };
}

/** Rows of one preset, by name and by pattern. */
class DoorRows {
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

function factsOf(door: string, row: Row, sources: Readonly<Record<string, string>>): ModelFacts {
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
    sheets: row.sheets?.map((sheet) => sheetOf(door, sheet, source)),
  };
}

function sheetOf(door: string, sheet: RowSheet, source: string): PriceSheet {
  return {
    source,
    from: sheet.from === undefined ? 0 : Date.parse(`${sheet.from}T00:00:00Z`),
    hours: sheet.hours === undefined ? null : hoursOf(sheet.hours),
    prices: tokenPrices(sheet.prices),
    tiers: withServices(door, sheet).map(({ above = 0, service = null, prices }): PriceTier => ({
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
