/** The two sources of the table, converted to rows. */
import { findProvider, type MatchLogic, type ModelPrice } from "@pydantic/genai-prices";
import type { FactsPreset } from "../facts_presets.ts";
import type { MillionPrices, Row, RowSheet, RowTier } from "../row.ts";

/** The version in the import map. */
export const PRICES_VERSION = "0.1.8";
export const FACTS_VERSION = "f3fc69229 of 2026-07-02";

/** The package's price names and ours. Prices per other units than tokens and searches are omitted. */
const PRICE_NAMES: Readonly<Record<string, string>> = {
  input_mtok: "prompt",
  output_mtok: "completion",
  cache_read_mtok: "input_cache_read",
  cache_write_mtok: "input_cache_write",
  cache_write_1h_mtok: "input_cache_write_1h",
  output_reasoning_mtok: "internal_reasoning",
  input_audio_mtok: "audio",
  output_audio_mtok: "audio_output",
  input_image_mtok: "image",
  output_image_mtok: "image_output",
};
/** The package's name for the price of a thousand searches; ours are per million of the unit. */
const SEARCHES = "web_searches_kcount";

export function priceRows(preset: FactsPreset): Row[] {
  const rows = new Map<string, Row>();
  for (const id of preset.prices) {
    for (const model of findProvider({ providerId: id })?.models ?? []) {
      if (rows.has(model.id)) continue;
      const written = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
      const sheets = written.map(({ prices, constraint }): RowSheet => ({
        ...(constraint?.type === "start_date" && { from: constraint.start_date }),
        ...(constraint?.type === "time_of_date" && {
          hours: `${constraint.start_time.slice(0, 5)}-${constraint.end_time.slice(0, 5)}`,
        }),
        ...sheetOf(prices),
      }));
      const text = sheets.some(({ prices }) =>
        prices.prompt !== undefined && prices.completion !== undefined
      );
      rows.set(model.id, {
        id: model.id,
        match: regexOf(model.match),
        ...(model.name !== undefined && { name: model.name }),
        ...(model.context_window !== undefined && { context: model.context_window }),
        ...(text ? { source: "genai-prices" as const, sheets } : { other: true as const }),
      });
    }
  }
  return [...rows.values()];
}

function sheetOf(prices: ModelPrice): Pick<RowSheet, "prices" | "tiers"> {
  const base: Record<string, number> = {};
  const tiers = new Map<number, Record<string, number>>();
  for (const [key, price] of Object.entries(prices)) {
    if (key === SEARCHES && typeof price === "number") base.web_search = exact(1000 * price);
    const name = PRICE_NAMES[key];
    if (name === undefined || price === undefined) continue;
    if (typeof price === "number") base[name] = exact(price);
    else {
      base[name] = exact(price.base);
      for (const { start, price: dearer } of price.tiers) {
        tiers.set(start, { ...tiers.get(start), [name]: exact(dearer) });
      }
    }
  }
  if (tiers.size === 0) return { prices: base };
  const sorted = [...tiers].sort(([a], [b]) => a - b);
  return {
    prices: base,
    // A kind without a price in this tier has that of the previous tier.
    tiers: sorted.map(([above], i) => ({
      above,
      prices: Object.assign({ ...base }, ...sorted.slice(0, i + 1).map(([, step]) => step)),
    })),
  };
}

/** The package compares case-insensitively. */
function regexOf(match: MatchLogic): string {
  const escaped = (text: string) => text.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if ("or" in match) return `(?:${match.or.map(regexOf).join("|")})`;
  if ("and" in match) return match.and.map((one) => `(?=${regexOf(one)})`).join("");
  if ("equals" in match) return `^${escaped(match.equals)}$`;
  if ("starts_with" in match) return `^${escaped(match.starts_with)}`;
  if ("ends_with" in match) return `^.*${escaped(match.ends_with)}$`;
  if ("contains" in match) return `^.*${escaped(match.contains)}`;
  return match.regex.startsWith("^") ? match.regex : `^.*${match.regex}`;
}

interface Cost {
  input?: number;
  output?: number;
  cache_read?: number;
  cache_write?: number;
  reasoning?: number;
  input_audio?: number;
  output_audio?: number;
  tiers?: ({ tier: { size: number } } & Cost)[];
}

interface Facts {
  name: string;
  reasoning: boolean;
  reasoning_options?: { type: string; values?: (string | null)[] }[];
  temperature?: boolean;
  tool_call: boolean;
  structured_output?: boolean;
  cost?: Cost;
  limit: { context: number; output: number };
  modalities: { input: string[]; output: string[] };
  status?: string;
  experimental?: {
    modes?: Record<string, { cost?: Cost; provider?: { body?: { service_tier?: string; speed?: string } } }>;
  };
}

export type FactsFile = Readonly<Record<string, { models: Readonly<Record<string, Facts>> }>>;

/** Missing in models.dev; stated in Anthropic's page "Structured outputs". */
const CLAUDE_WITH_SCHEMAS =
  /claude-(?:opus-4-[1-9]|sonnet-4-[5-9]|haiku-4-[5-9]|(?:opus|sonnet|haiku|fable)-[5-9])/;
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export function factRows(preset: FactsPreset, file: FactsFile): Row[] {
  const rows = new Map<string, Row>();
  for (const key of preset.facts) {
    for (const [id, facts] of Object.entries(file[key]?.models ?? {})) {
      if (!rows.has(id)) rows.set(id, factRow(id, facts));
    }
  }
  return [...rows.values()];
}

function factRow(id: string, facts: Facts): Row {
  const { modalities, limit, cost } = facts;
  const modes = Object.values(facts.experimental?.modes ?? {}).flatMap(({ cost, provider }): RowTier[] => {
    const service = provider?.body?.service_tier ?? provider?.body?.speed;
    return cost && service ? [{ service, prices: million(cost) }] : [];
  });
  const steps = (cost?.tiers ?? []).map(({ tier, ...dearer }): RowTier => ({
    above: tier.size,
    prices: { ...million(cost!), ...million(dearer) },
  }));
  const tiers = [...steps, ...modes];
  const efforts = facts.reasoning_options?.find(({ type }) => type === "effort")?.values
    ?.map((value) => value ?? "none").filter((value) => EFFORTS.includes(value));
  const media = (list: readonly string[]) => [...new Set(list.map((m) => m === "pdf" ? "file" : m))];
  const inputs = media(modalities.input);
  const outputs = media(modalities.output);
  return {
    id,
    name: facts.name,
    ...(limit.context > 0 && { context: limit.context }),
    ...(limit.output > 0 && { output: limit.output }),
    ...(inputs.join() !== "text" && { in: inputs }),
    ...(outputs.join() !== "text" && { out: outputs }),
    features: [
      ...(facts.tool_call ? ["tools"] : []),
      ...(facts.reasoning ? ["reasoning"] : []),
      ...(cost?.cache_read !== undefined ? ["prompt_caching"] : []),
      ...(facts.structured_output ?? CLAUDE_WITH_SCHEMAS.test(id) ? ["structured_outputs"] : []),
      "response_format",
    ],
    ...(efforts && efforts.length > 0 && { efforts }),
    ...(facts.temperature === false && { refuses: ["temperature"] }),
    ...((!outputs.includes("text") || /embed/.test(id)) && { other: true as const }),
    ...(cost?.input !== undefined && cost.output !== undefined && {
      source: "models.dev" as const,
      sheets: [{ prices: million(cost), ...(tiers.length > 0 && { tiers }) }],
    }),
  };
}

function million(cost: Cost): MillionPrices {
  const named = {
    prompt: cost.input,
    completion: cost.output,
    input_cache_read: cost.cache_read,
    input_cache_write: cost.cache_write,
    internal_reasoning: cost.reasoning,
    audio: cost.input_audio,
    audio_output: cost.output_audio,
  };
  return Object.fromEntries(
    Object.entries(named).filter(([, price]) => price !== undefined),
  ) as MillionPrices;
}

/** Removes rounding errors of binary fractions. */
function exact(million: number): number {
  return Number(million.toFixed(9));
}
