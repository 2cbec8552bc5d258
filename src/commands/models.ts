/** `sluice models`: the catalog with its prices, and what would change of the running one. */
import type { ModelSummary } from "../models/summary.ts";
import { perMillion } from "./columns.ts";

/** One model a line, its id first; prices are those of a million tokens. */
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

export interface ModelChange {
  model: string;
  what: "price" | "added" | "removed" | "changed";
  field?: string;
  before?: string;
  after?: string;
}

/** Prices first, since they are what costs. */
export function changes(before: readonly ModelSummary[], after: readonly ModelSummary[]): ModelChange[] {
  const old = new Map(before.map((model) => [model.id, model]));
  const fresh = new Set(after.map(({ id }) => id));
  const found: ModelChange[] = [];
  for (const model of after) {
    const was = old.get(model.id);
    if (was === undefined) {
      found.push({ model: model.id, what: "added", after: priceText(model) });
      continue;
    }
    for (const kind of new Set([...Object.keys(was.pricing ?? {}), ...Object.keys(model.pricing ?? {})])) {
      const [a, b] = [was.pricing?.[kind], model.pricing?.[kind]];
      if (a !== b) {
        found.push({
          model: model.id,
          what: "price",
          field: kind,
          before: perMillion(a),
          after: perMillion(b),
        });
      }
    }
    for (
      const field of [
        "name",
        "pricing_tiers",
        "context_length",
        "max_completion_tokens",
        "features",
        "routes",
      ] as const
    ) {
      const [a, b] = [String(was[field]), String(model[field])];
      if (a !== b) found.push({ model: model.id, what: "changed", field, before: a, after: b });
    }
  }
  for (const model of before) {
    if (!fresh.has(model.id)) found.push({ model: model.id, what: "removed", before: priceText(model) });
  }
  const order = ["price", "added", "removed", "changed"];
  return found.sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what));
}

function priceText({ pricing }: ModelSummary): string {
  return `${perMillion(pricing?.prompt)} in, ${perMillion(pricing?.completion)} out`;
}

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
