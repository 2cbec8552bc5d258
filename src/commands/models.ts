/** `sluice models`: the catalog with its prices, and its differences from the running one. */
import type { ModelChange } from "../models/changes.ts";
import { type ModelSummary, perMillion } from "../models/summary.ts";

/** One line per model, starting with its id; prices are per million tokens. */
export function modelsText(models: readonly ModelSummary[]): string {
  return models.map(({ id, name, pricing, context_length, routes }) =>
    [
      id,
      name,
      `${perMillion(pricing?.prompt)} in, ${perMillion(pricing?.completion)} out`,
      context_length === null ? "context ?" : `context ${context_length}`,
      routes.join(", "),
    ].join("\t")
  ).join("\n");
}

/** One line per change; prices are in dollars per million tokens. */
export function changesText(found: readonly ModelChange[]): string {
  if (found.length === 0) return "Nothing has changed.";
  return found.map(({ model, what, field, before, after }) => {
    switch (what) {
      case "price":
        return `price    ${model}  ${field}: ${before} -> ${after} for a million`;
      case "added":
        return `added    ${model}  ${after}`;
      case "removed":
        return `removed  ${model}  ${before}`;
      case "changed":
        return `changed  ${model}  ${field}: ${before} -> ${after}`;
    }
  }).join("\n");
}
