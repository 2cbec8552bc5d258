/** A model in a few fields, for operators. */
import { isPriced, type Model, sheetOf } from "./catalog.ts";

/** The fields of a model whose changes are reported to operators. */
export interface ModelSummary {
  id: string;
  name: string;
  /** Null: unknown. */
  pricing: Record<string, string> | null;
  pricing_tiers: number;
  context_length: number | null;
  max_completion_tokens: number | null;
  features: string[];
  routes: string[];
}

/** The summary of a model at a time: prices, limits, names. */
export function summaryOf(model: Model, now: number): ModelSummary {
  const { prices, tiers } = sheetOf(model, now);
  const known = Object.entries(prices).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    id: model.id,
    name: model.name,
    pricing: isPriced(model) ? Object.fromEntries(known) : null,
    pricing_tiers: tiers.length,
    context_length: model.contextLength,
    max_completion_tokens: model.maxCompletion,
    features: [...model.features],
    routes: model.routes.map((r) => `${r.provider}:${r.model}`),
  };
}

/** A price per token as dollars per million tokens, as in price lists; `?` if unknown. */
export function perMillion(price: string | null | undefined): string {
  if (price === null || price === undefined) return "?";
  const [whole, fraction = ""] = price.split(".");
  const digits = whole + fraction.padEnd(6, "0").slice(0, 6);
  const rest = fraction.slice(6).replace(/0+$/, "");
  return digits.replace(/^0+(?=\d)/, "") + (rest === "" ? "" : `.${rest}`);
}
