/** What usage is told apart by, and of what there are no sums. */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const PLAIN = ["key", "model", "day", "account", "provider", "format"] as const;
export type PlainDimension = typeof PLAIN[number];
export type LabelDimension = "team" | "session" | `tag:${string}`;
export type UsageDimension = PlainDimension | LabelDimension;

/** As an operator writes them; `tag:NAME` stands for any tag. */
export const USAGE_DIMENSIONS = [...PLAIN, "team", "session", "tag:NAME"] as const;

export function isUsageDimension(name: string): name is UsageDimension {
  return (PLAIN as readonly string[]).includes(name) || name === "team" || name === "session" ||
    /^tag:[A-Za-z0-9_.:\/-]{1,64}$/.test(name);
}

export function isLabel(name: UsageDimension): name is LabelDimension {
  return !(PLAIN as readonly string[]).includes(name);
}

/** No sums tell two labels apart, unless one is the team: the records themselves do, as far back as they are kept. */
export function isOfRecords(by: readonly UsageDimension[]): boolean {
  return by.filter(isLabel).length > 1 && !by.includes("team");
}

/** So many records are read for one sum, which takes some 150 ms. */
const MOST_RECORDS = 200_000;

/** From when on records of a span are few enough to be read for a sum. Null: all are. */
export async function recordsFrom(
  query: Query,
  { from, to }: { from: number; to: number },
  most = MOST_RECORDS,
): Promise<number | null> {
  const [row] = await query(
    "SELECT created FROM generations WHERE created >= $1 AND created < $2 ORDER BY created DESC LIMIT 1 OFFSET $3",
    [from, to, most],
  );
  return row === undefined ? null : asInt(row.created) + 1;
}
