/**
 * Budgets: amounts that must not be passed. The credits of an account, a key's spend limit in one period, a key's requests
 * or tokens in one minute.
 *
 * A budget's row holds what is spent. Its limit is the configuration's, the key's or, for an account, the sum of what was
 * granted and added.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import type { LedgerRecord } from "./generations.ts";
import { asInt, asMoney, asText, optional } from "./rows.ts";
import { sumOf } from "./sums.ts";
import { UNSUMMED } from "./sums_state.ts";

export type Scope = "account" | "key" | "rate";

export interface BudgetRef {
  id: string;
  scope: Scope;
  /** Account name or key id. */
  owner: string;
  starts: number;
  ends: number | null;
  /** Null for an account: the store knows it. */
  limit: bigint | null;
}

/** A budget's row while a transaction has it locked. */
export interface Budget {
  readonly id: string;
  readonly scope: Scope;
  readonly owner: string;
  starts: number;
  readonly ends: number | null;
  spent: bigint;
  changed: boolean;
}

export function accountBudgetId(account: string): string {
  return `a:${account}`;
}

export function accountBudget(account: string): BudgetRef {
  return {
    id: accountBudgetId(account),
    scope: "account",
    owner: account,
    starts: 0,
    ends: null,
    limit: null,
  };
}

/** A budget was asked for that has no row yet. Rows are made in a transaction before, which holds no other lock. */
export class MissingBudgets extends Error {
  constructor(readonly missing: BudgetRef[]) {
    super("Budgets are missing.");
  }
}

/**
 * Locks the budgets asked for, and those that records will charge, in one order, so that nodes cannot wait for each other
 * in a ring. Throws {@link MissingBudgets}.
 */
export async function lockBudgets(
  engine: Engine,
  query: Query,
  asked: readonly BudgetRef[],
  records: readonly LedgerRecord[],
): Promise<Map<string, Budget>> {
  const wanted = new Map<string, BudgetRef>();
  const keys = new Set<string>();
  for (const ref of asked) wanted.set(ref.id, ref);
  for (const { keyId, account } of records) {
    keys.add(keyId);
    const id = accountBudgetId(account);
    if (!wanted.has(id)) wanted.set(id, accountBudget(account));
  }
  const rows = await query(
    `SELECT id, scope, owner, starts, ends, spent FROM budgets
     WHERE id IN (${engine.list("$1")}) OR (owner IN (${engine.list("$2")}) AND scope = 'key')
     ORDER BY id ${engine.forUpdate}`,
    [JSON.stringify([...wanted.keys()]), JSON.stringify([...keys])],
  );
  const found = new Map(rows.map((row): [string, Budget] => [asText(row.id), {
    id: asText(row.id),
    scope: asText(row.scope) as Scope,
    owner: asText(row.owner),
    starts: asInt(row.starts),
    ends: optional(row.ends, asInt),
    spent: asMoney(row.spent),
    changed: false,
  }]));
  const missing = [...wanted.values()].filter((ref) => !found.has(ref.id));
  if (missing.length > 0) throw new MissingBudgets(missing);
  return found;
}

/**
 * Makes rows of budgets, all in one statement. A key's budget begins with what the ledger already holds for its period,
 * which consists of whole days; no record may slip in between the sum and the budget's first appearance.
 */
export function createBudgets(engine: Engine, missing: readonly BudgetRef[]): Promise<void> {
  return engine.transaction(async (query) => {
    if (missing.some((ref) => ref.scope === "key")) await engine.lockTable(query, "generations");
    const sorted = missing.toSorted((a, b) => a.id < b.id ? -1 : 1);
    const rows = sorted.map((ref) => [ref.id, ref.scope, ref.owner, ref.starts, ref.ends]);
    await query(
      `INSERT INTO budgets (id, scope, owner, starts, ends, spent)
       SELECT id, scope, owner, starts, ends, CASE WHEN scope = 'key' THEN ${
        spentSoFar(engine.kind)
      } ELSE 0 END FROM
       ${engine.rows("$1", BUDGET_COLUMNS)} WHERE true ON CONFLICT (id) DO NOTHING`,
      [JSON.stringify(rows)],
    );
  });
}

const BUDGET_COLUMNS: Columns = [["id", "text"], ["scope", "text"], ["owner", "text"], ["starts", "int"], [
  "ends",
  "int",
]];

const spentSoFar = (kind: Engine["kind"]) =>
  [
    `(SELECT ${sumOf(kind, "s.cost")} FROM sums s
    WHERE s.kind = 'key' AND s.key_id = r.owner AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends))`,
    ...UNSUMMED.map((condition) =>
      `(SELECT ${sumOf(kind, "cost")} FROM generations
      WHERE ${condition} AND key_id = r.owner AND created >= r.starts AND (r.ends IS NULL OR created < r.ends))`
    ),
  ].join(" + ");

export async function writeBudgets(
  engine: Engine,
  query: Query,
  budgets: ReadonlyMap<string, Budget>,
): Promise<void> {
  const changed = [...budgets.values()].filter((budget) => budget.changed);
  if (changed.length === 0) return;
  await query(
    `UPDATE budgets SET spent = r.spent, starts = r.starts FROM
     ${engine.rows("$1", [["id", "text"], ["spent", "money"], ["starts", "int"]])} WHERE budgets.id = r.id`,
    [JSON.stringify(changed.map((b) => [b.id, b.spent.toString(), b.starts]))],
  );
}
