/**
 * Compares sums and budgets with each other: every kind of sums must agree with the daily sums by key, and
 * the amounts charged to credits and limits must agree with the sums. A change made to only one of them is
 * detected, also for days whose records have been deleted.
 */
import type { Engine, Query } from "../engine.ts";
import { SPENT_COLUMNS, spentByLabel, spentRow } from "../budgets.ts";
import { ofLabel, OTHER_VALUES } from "../labels.ts";
import { asInt, asMoney, asText } from "../rows.ts";
import { COUNTED, LARGEST_SUM, MONTH_OF, SUM_PARTS, type SumKind, sumOf, SUMS_OF_KEYS } from "../sums.ts";

/** Two aggregates of the same records differ. */
export interface DisagreementFault {
  kind: "sums disagree";
  /** Start of the day or month, in milliseconds; 0 for a budget without a period. */
  day: number;
  /** The kind of sums that differs, or `budget`, or `credits` (additions to an account). */
  sums: SumKind | "budget" | "credits";
  /** The key, account, model etc., or the budget. */
  of: string;
  column: string;
  /** The difference from the expected value, as decimal text. */
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

/** The columns, beside the time, that each kind of sums is grouped by. */
const KINDS: readonly { kind: SumKind; by: readonly string[]; monthly: boolean }[] = [
  { kind: "day", by: ["account", "model", "provider", "format"], monthly: false },
  { kind: "keys", by: ["key_id", "key_name", "account"], monthly: false },
  { kind: "month", by: ["key_id", "key_name", "account"], monthly: true },
  { kind: "models", by: ["key_id", "key_name", "account", "model"], monthly: true },
  { kind: "routes", by: ["key_id", "key_name", "account", "provider", "format"], monthly: true },
];

/** Compares sums of different kinds that must agree, and adds each difference to `found`. */
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

/** Compares the spent amounts of budgets with the sums. */
export async function compareBudgets(
  engine: Pick<Engine, "kind" | "rows">,
  query: Query,
  found: Found,
  retiredBefore: number,
): Promise<void> {
  await compareOwnBudgets(engine, query, found);
  await compareLabelBudgets(engine, query, found, retiredBefore);
}

/** Budgets of accounts and keys. */
async function compareOwnBudgets(engine: Pick<Engine, "kind">, query: Query, found: Found): Promise<void> {
  const ofAccounts = `SELECT account, ${
    sumOf(engine.kind, "cost")
  } AS cost FROM sums WHERE kind = 'day' GROUP BY account`;
  const expected = {
    account:
      `SELECT b.id AS id, b.starts AS starts, b.spent AS spent, COALESCE(a.cost, 0) AS expected FROM budgets b
      LEFT JOIN (${ofAccounts}) AS a ON a.account = b.owner WHERE b.scope = 'account'`,
    // A deleted budget row would give its owner the full limit again.
    missing:
      `SELECT 'a:' || a.account AS id, 0 AS starts, 0 AS spent, a.cost AS expected FROM (${ofAccounts}) AS a
      WHERE NOT EXISTS (SELECT 1 FROM budgets b WHERE b.id = 'a:' || a.account)`,
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

/**
 * Budgets of teams, sessions and tags. A tag with very many values has no sums for some of them, and sums of
 * sessions are deleted with the records: so a budget may have spent more than its sums, but never less.
 */
async function compareLabelBudgets(
  engine: Pick<Engine, "kind" | "rows">,
  query: Query,
  found: Found,
  retiredBefore: number,
): Promise<void> {
  const unsummed = `EXISTS (SELECT 1 FROM label_sums o WHERE ${ofLabel("r.label", `'${OTHER_VALUES}'`, "o")}
    AND o.starts >= r.starts AND (r.ends IS NULL OR o.starts < r.ends))`;
  const compared = `SELECT id, starts, r.spent - ${spentByLabel(engine.kind)} AS excess,
    CASE WHEN r.scope = 'tag' AND ${unsummed} THEN 1 WHEN r.scope = 'session' AND r.starts < ${retiredBefore} THEN 1
      ELSE 0 END AS partly FROM ${engine.rows("$1", SPENT_COLUMNS)} WHERE r.spent < ${LARGEST_SUM}`;
  let last = "";
  for (;;) {
    const budgets = await query(
      `SELECT id, scope, owner, starts, ends, spent FROM budgets WHERE scope IN ('team', 'session', 'tag') AND id > $1
       ORDER BY id LIMIT ${MOST}`,
      [last],
    );
    if (budgets.length === 0) return;
    last = asText(budgets[budgets.length - 1].id);
    const rows = await query(
      `SELECT id, starts, excess FROM (${compared}) AS budget WHERE excess < 0 OR (excess > 0 AND partly = 0)`,
      [JSON.stringify(budgets.map(spentRow))],
    );
    for (const row of rows) {
      const of = asText(row.id);
      const excess = asMoney(row.excess).toString();
      found({ kind: "sums disagree", day: asInt(row.starts), sums: "budget", of, column: "spent", excess });
    }
  }
}

/** Compares the credits of accounts with the list of additions. */
export async function compareCredits(
  engine: Pick<Engine, "kind">,
  query: Query,
  found: Found,
): Promise<void> {
  const rows = await query(
    `SELECT name, excess FROM (SELECT name, added - (SELECT ${
      sumOf(engine.kind, "c.amount")
    } FROM credit_additions c
       WHERE c.account = a.name) AS excess FROM accounts a) AS compared WHERE excess <> 0 LIMIT ${MOST}`,
  );
  for (const row of rows) {
    const [of, excess] = [asText(row.name), asMoney(row.excess).toString()];
    found({ kind: "sums disagree", day: 0, sums: "credits", of, column: "added", excess });
  }
}

/** SQL for a sum that does not overflow 64 bits for any number of rows, provided that the result fits. */
function exact(kind: Engine["kind"]): (column: string) => string {
  return (column) => {
    const [high, low] = SUM_PARTS[kind](column);
    return `(${high}) * 1000000000 + (${low})`;
  };
}

/** SQL: false for a sum that was capped at the largest value, which would differ from others. */
function fits(column: string): string {
  return `MAX(ABS(${column})) < ${LARGEST_SUM}`;
}
