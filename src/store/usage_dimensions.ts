/** The dimensions of usage reports, and which combinations the sums cannot answer. */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const PLAIN = ["key", "model", "day", "account", "provider", "format"] as const;
export type PlainDimension = typeof PLAIN[number];
export type LabelDimension = "team" | "session" | `tag:${string}`;
export type UsageDimension = PlainDimension | LabelDimension;

/** As written by operators; `tag:NAME` stands for any tag. */
export const USAGE_DIMENSIONS = [...PLAIN, "team", "session", "tag:NAME"] as const;

export function isUsageDimension(name: string): name is UsageDimension {
  return (PLAIN as readonly string[]).includes(name) || name === "team" || name === "session" ||
    /^tag:[A-Za-z0-9_.:\/-]{1,64}$/.test(name);
}

export function isLabel(name: UsageDimension): name is LabelDimension {
  return !(PLAIN as readonly string[]).includes(name);
}

/**
 * No sums are grouped by two labels, unless one is the team: such reports read the records themselves, as far
 * back as they are kept.
 */
export function isOfRecords(by: readonly UsageDimension[]): boolean {
  return by.filter(isLabel).length > 1 && !by.includes("team");
}

/** The most records read for one report, which takes about 150 ms. */
const MOST_RECORDS = 200_000;

/** The start of the range of a span whose records are few enough to be read. Null: the whole span. */
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
