/** Parses the query parameters of the search over generations. */
import type { GenerationTraits } from "../../store/mod.ts";
import { oneOf } from "../../schema/mistakes.ts";
import { invalid } from "./input.ts";
import { parseAmount } from "../budgets/money.ts";
import { FLAGS, namesOf, type NumberQuery, NUMBERS, TEXTS, type TraitQuery, VALUES } from "./trait_query.ts";

/** Throws `validation_error` for a value that no record can have. */
export function refuseUnknownValues(query: Pick<TraitQuery, keyof typeof VALUES>): void {
  for (const name of namesOf(VALUES)) {
    const text = query[name];
    const values: readonly string[] = VALUES[name];
    if (text === undefined || values.includes(text)) continue;
    throw invalid(name, `expected ${oneOf(values)}, got ${JSON.stringify(text.slice(0, 100))}`);
  }
}

/** Null: no such parameter is given. */
export function traitsOf(query: TraitQuery): GenerationTraits | null {
  const traits: GenerationTraits = {};
  refuseUnknownValues(query);
  for (const name of namesOf(TEXTS)) if (query[name] !== undefined) traits[TEXTS[name][0]] = query[name];
  for (const name of namesOf(NUMBERS)) {
    for (const [bound, field] of [["least", `min_${name}`], ["most", `max_${name}`]] as const) {
      const text = query[field];
      if (text !== undefined) (traits[bound] ??= {})[NUMBERS[name][0]] = numberOf(field, text);
    }
  }
  for (const name of namesOf(FLAGS)) if (flagOf(name, query[name])) traits[FLAGS[name][0]] = true;
  if (query.stream !== undefined) traits[flagOf("stream", query.stream) ? "streamed" : "whole"] = true;
  if (query.tag !== undefined) traits.tag = tagOf(query.tag);
  return Object.keys(traits).length > 0 ? traits : null;
}

function tagOf(text: string): { name: string; value: string | null } {
  const at = text.indexOf("=");
  return at < 0 ? { name: text, value: null } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

function numberOf(field: NumberQuery, text: string): number | bigint {
  if (!field.endsWith("_cost")) {
    if (/^\d{1,12}$/.test(text)) return Number(text);
    throw invalid(field, `expected a whole number, got ${JSON.stringify(text.slice(0, 100))}`);
  }
  const amount = parseAmount(text);
  if (amount !== null && amount >= 0n) return amount;
  throw invalid(field, `expected a decimal amount of at least 0, got ${JSON.stringify(text.slice(0, 100))}`);
}

function flagOf(field: string, text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw invalid(field, `expected true or false, got ${JSON.stringify(text.slice(0, 100))}`);
}
