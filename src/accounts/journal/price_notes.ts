/**
 * The prices in a journal. The store learns them with the first record that was billed at them. If the process dies before that, the
 * process that takes over its journal may have a configuration with other prices.
 *
 * A note is a line like that of a call that ended without a record, with further text, which releases without notes ignore.
 */
import { isObject } from "../../exchange/json.ts";
import type { PriceVersion } from "../../store/mod.ts";
import { keptVersion, pricesOfVersion } from "../budgets/money.ts";

/** Stands in place of the id of a call. */
export const PRICES_ID = "prices";

const MOST_CACHED = 1000;
/** By model and versions of a record. */
const cached = new Map<string, string>();
let last = { priceVersion: "", model: "", notes: "" };

/** The lines with the prices of a record; empty text: none is known. */
export function priceNotes(priceVersion: string | null, model: string): string {
  if (priceVersion === null) return "";
  // Most records have the prices of the one before.
  if (last.priceVersion === priceVersion && last.model === model) return last.notes;
  const name = `${model}\n${priceVersion}`;
  let notes = cached.get(name);
  if (notes === undefined) {
    if (cached.size >= MOST_CACHED) cached.clear();
    cached.set(name, notes = notesOf(priceVersion.split(", ").map((named) => keptVersion(named, model))));
  }
  last = { priceVersion, model, notes };
  return notes;
}

function notesOf(versions: readonly string[]): string {
  return versions.map((version) => {
    const prices = pricesOfVersion(version);
    return prices === undefined ? "" : `- ${PRICES_ID} ${JSON.stringify([version, prices])}\n`;
  }).join("");
}

/** Null: not the text of a note. */
export function readPriceNote(json: string): PriceVersion | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [version, prices] = value;
  if (typeof version !== "string" || !isObject(prices)) return null;
  const texts = Object.entries(prices).filter((entry): entry is [string, string] =>
    typeof entry[1] === "string"
  );
  return { version, prices: Object.fromEntries(texts) };
}
