/**
 * Sums and budgets against each other: every kind of sums says the same as those by day of each key, and what is taken off
 * credits and limits is what the sums say was spent. Who changes one alone is found out, also of days without records.
 */
import type { Engine, Query } from "../engine.ts";
import { asInt, asMoney, asText } from "../rows.ts";
import { COUNTED, LARGEST_SUM, MONTH_OF, SUM_PARTS, type SumKind, sumOf, SUMS_OF_KEYS } from "../sums.ts";

/** Two that are made of the same records say different things. */
export interface DisagreementFault {
  kind: "sums disagree";
  /** The day or month that it is about; of a budget without a period 0. */
  day: number;
  /** Which of the kinds of sums, or `budget`. */
  sums: SumKind | "budget";
  /** The key, account, model and the like, or the budget. */
  of: string;
  column: string;
  /** How much more than there should be. */
  excess: string;
}

type Found = (fault: DisagreementFault) => void;

const COLUMNS = [
  "generations",
  "failed",
  ...COUNTED.filter((name) => name !== "cache_saved"),
  "cost",
] as const;
const MOST = 1000;

/** What each kind tells apart, beside the time. */
const KINDS: readonly { kind: SumKind; by: readonly string[]; monthly: boolean }[] = [
  { kind: "day", by: ["account", "model", "provider", "format"], monthly: false },
  { kind: "keys", by: ["key_id", "key_name", "account"], monthly: false },
  { kind: "month", by: ["key_id", "key_name", "account"], monthly: true },
  { kind: "models", by: ["key_id", "key_name", "account", "model"], monthly: true },
  { kind: "routes", by: ["key_id", "key_name", "account", "provider", "format"], monthly: true },
];

export async function compareSums(engine: Pick<Engine, "kind">, query: Query, found: Found): Promise<void> {
  for (const { kind, by, monthly } of KINDS) {
    const starts = monthly ? MONTH_OF[engine.kind]("starts") : "starts";
    const more = exact(engine.kind);
    const rows = await query(
      `SELECT at, ${by.join(", ")}, ${COLUMNS.map((c) => `${more(c)} AS ${c}`).join(", ")} FROM (
         SELECT starts AS at, ${by.join(", ")}, ${COLUMNS.join(", ")} FROM sums WHERE kind = '${kind}'
         UNION ALL
         SELECT ${starts}, ${by.join(", ")}, ${
        COLUMNS.map((c) => `-${c}`).join(", ")
      } FROM sums WHERE kind = 'key'
       ) AS compared GROUP BY at, ${by.join(", ")}
       HAVING ${COLUMNS.map((c) => `(${more(c)} <> 0 AND ${fits(c)})`).join(" OR ")} LIMIT ${MOST}`,
    );
    for (const row of rows) {
      const of = by.map((name) => asText(row[name])).filter((text) => text !== "").join(" ");
      for (const column of COLUMNS) {
        const excess = asMoney(row[column]);
        if (excess === 0n) continue;
        found({
          kind: "sums disagree",
          day: asInt(row.at),
          sums: kind,
          of,
          column,
          excess: excess.toString(),
        });
      }
    }
  }
}

/** What budgets of accounts and keys say was spent, against the sums. */
export async function compareBudgets(
  engine: Pick<Engine, "kind">,
  query: Query,
  found: Found,
): Promise<void> {
  const expected = {
    account:
      `SELECT b.id AS id, b.starts AS starts, b.spent AS spent, COALESCE(a.cost, 0) AS expected FROM budgets b
      LEFT JOIN (SELECT account, ${
        sumOf(engine.kind, "cost")
      } AS cost FROM sums WHERE kind = 'day' GROUP BY account) AS a
      ON a.account = b.owner WHERE b.scope = 'account'`,
    key: `SELECT b.id AS id, b.starts AS starts, b.spent AS spent,
      (SELECT ${sumOf(engine.kind, "s.cost")} FROM ${SUMS_OF_KEYS[engine.kind]("s")} WHERE s.kind = 'key'
        AND s.key_id = b.owner AND s.starts >= b.starts AND (b.ends IS NULL OR s.starts < b.ends)) AS expected
      FROM budgets b WHERE b.scope = 'key'`,
  };
  for (const compared of Object.values(expected)) {
    const rows = await query(
      `SELECT id, starts, spent - expected AS excess FROM (${compared}) AS budget
       WHERE spent <> expected AND spent < ${LARGEST_SUM} AND expected < ${LARGEST_SUM} LIMIT ${MOST}`,
    );
    for (const row of rows) {
      const [of, excess] = [asText(row.id), asMoney(row.excess).toString()];
      found({ kind: "sums disagree", day: asInt(row.starts), sums: "budget", of, column: "spent", excess });
    }
  }
}

/** A sum that no number of rows takes beyond 64 bits, as long as the result is within them. */
function exact(kind: Engine["kind"]): (column: string) => string {
  return (column) => {
    const [high, low] = SUM_PARTS[kind](column);
    return `(${high}) * 1000000000 + (${low})`;
  };
}

/** A sum that would not fit stays at the largest, and so differs from others. */
function fits(column: string): string {
  return `MAX(ABS(${column})) < ${LARGEST_SUM}`;
}
