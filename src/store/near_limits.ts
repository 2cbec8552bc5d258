/** What may need a decision by an administrator: budgets that are nearly spent, and keys that expire soon. */
import type { Query } from "./engine.ts";
import { asInt, asMoney, asText, optional } from "./rows.ts";

export interface NearBudget {
  scope: "key" | "team" | "account";
  /** A key's id, or the name of a team or account. */
  owner: string;
  starts: number;
  ends: number | null;
  spent: bigint;
  /** The limit that a node reported last. */
  limit: bigint;
}

/** The first rows of a list, and its length. */
export interface Most<T> {
  rows: T[];
  /** The number of all rows. */
  all: number;
}

/**
 * Budgets of current periods for which an 80 per cent warning was sent, except those of keys that are not valid.
 * The partial index holds only these.
 */
export async function nearBudgets(
  query: Query,
  { now, limit }: { now: number; limit: number },
): Promise<Most<NearBudget>> {
  const rows = await query(
    `SELECT scope, owner, starts, ends, spent, limit_amount, COUNT(*) OVER () AS n FROM budgets
     WHERE warned >= 80 AND (ends IS NULL OR ends > $1) AND starts <= $1 AND scope IN ('key', 'team', 'account')
       AND limit_amount > 0 AND NOT (scope = 'key' AND EXISTS (SELECT 1 FROM keys k
         WHERE k.id = owner AND (k.revoked_at IS NOT NULL OR k.expires_at <= $1)))
     ORDER BY spent * 1.0 / limit_amount DESC, id LIMIT $2`,
    [now, limit],
  );
  return {
    rows: rows.map((row) => ({
      scope: asText(row.scope) as NearBudget["scope"],
      owner: asText(row.owner),
      starts: asInt(row.starts),
      ends: optional(row.ends, asInt),
      spent: asMoney(row.spent),
      limit: asMoney(row.limit_amount),
    })),
    all: rows.length === 0 ? 0 : asInt(rows[0].n),
  };
}

export interface EndingKey {
  id: string;
  name: string;
  expiresAt: number;
  member: string | null;
}

/** Keys that are not revoked and expire within a time span, earliest first. */
export async function endingKeys(
  query: Query,
  { from, to, limit, member }: { from: number; to: number; limit: number; member?: string },
): Promise<Most<EndingKey>> {
  const rows = await query(
    `SELECT id, name, expires_at, member, COUNT(*) OVER () AS n FROM keys
     WHERE expires_at IS NOT NULL AND revoked_at IS NULL AND expires_at > $1 AND expires_at < $2
     ${member === undefined ? "" : "AND member = $4"} ORDER BY expires_at, id LIMIT $3`,
    [from, to, limit, ...(member === undefined ? [] : [member])],
  );
  return {
    rows: rows.map((row) => ({
      id: asText(row.id),
      name: asText(row.name),
      expiresAt: asInt(row.expires_at),
      member: optional(row.member, asText),
    })),
    all: rows.length === 0 ? 0 : asInt(rows[0].n),
  };
}
