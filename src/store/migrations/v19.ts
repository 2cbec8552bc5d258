/** Daily sums per key, derived from those per key, model and provider. */
import { boundedSum, type Dialect } from "./dialect.ts";

const SUMMED = [
  "generations",
  "failed",
  "input",
  "cached",
  "cache_write",
  "output",
  "reasoning",
  "searches",
  "cost",
  "cache_saved",
];

export function v19({ kind }: Dialect): readonly string[] {
  return [
    `INSERT INTO sums (kind, starts, key_id, key_name, account, model, provider, format, ${SUMMED.join(", ")})
     SELECT 'keys', starts, key_id, key_name, account, '', '', '', ${
      SUMMED.map((name) => boundedSum(kind, name)).join(", ")
    }
     FROM sums WHERE kind = 'key' GROUP BY starts, key_id, key_name, account`,
  ];
}
