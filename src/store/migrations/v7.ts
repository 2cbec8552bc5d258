/** Monthly sums per key and model, and per key, provider and format, derived from the daily ones. */
import { boundedSum, type Dialect } from "./dialect.ts";

const MONTH = {
  sqlite: "CAST(strftime('%s', starts / 1000, 'unixepoch', 'start of month') AS INTEGER) * 1000",
  postgres:
    `(EXTRACT(EPOCH FROM date_trunc('month', to_timestamp(starts / 1000) AT TIME ZONE 'UTC')) * 1000)::bigint`,
};
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
];

export function v7({ kind }: Dialect): readonly string[] {
  return [["models", "model, '', ''"], ["routes", "'', provider, format"]].map(([name, identity]) =>
    `INSERT INTO sums SELECT '${name}', ${MONTH[kind]}, key_id, key_name, account, ${identity}, ${
      SUMMED.map((name) => boundedSum(kind, name)).join(", ")
    }
     FROM sums WHERE kind = 'key' GROUP BY 2, 3, 4, 5, 6, 7, 8`
  );
}
