/** A model in a few fields, for operators. */
import { isPriced, type Model, sheetOf } from "./catalog.ts";

/** What of a model an operator wants to hear of when it changes. */
export interface ModelSummary {
  id: string;
  name: string;
  /** Null: nobody knows them. */
  pricing: Record<string, string> | null;
  pricing_tiers: number;
  context_length: number | null;
  max_completion_tokens: number | null;
  features: string[];
  routes: string[];
}

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
