/** The differences between two catalogs. */
import { type ModelSummary, perMillion } from "./summary.ts";

export interface ModelChange {
  model: string;
  what: "price" | "added" | "removed" | "changed";
  field?: string;
  before?: string;
  after?: string;
}

/** Price changes first. */
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
