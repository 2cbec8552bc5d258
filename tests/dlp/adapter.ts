/**
 * The detector as the corpus scorer's `--adapter`:
 *
 *     deno run -A --config deno.json ../shared/dlp/score.mjs --adapter tests/dlp/adapter.ts --core --strict
 */

import { resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";

export const name = "sluice";

interface Reported {
  entity_type: string;
  category: string;
  start: number;
  end: number;
  confidence: number;
}

export function findings(text: string, wanted: readonly string[]): Reported[] {
  const { types } = resolveEntityTypes(wanted);
  return detector(types).scan(text).map((f) => ({
    entity_type: f.entityType,
    category: f.category,
    start: f.start,
    end: f.end,
    confidence: f.confidence,
  }));
}
