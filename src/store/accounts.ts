/** Accounts and their credits: what configuration grants, what was added, what the ledger has charged. */
import { accountBudgetId } from "./budgets.ts";
import type { Engine, Query } from "./engine.ts";
import { change } from "./revision.ts";
import { asInt, asMoney, asText, optional, type Row } from "./rows.ts";

export interface AccountDeclaration {
  name: string;
  /** Null: it never runs out. */
  credits: bigint | null;
  /** True: only an account that is not there yet gets them. */
  ifNew?: boolean;
}

export interface AccountRow {
  name: string;
  /** Null: never runs out. */
  granted: bigint | null;
  added: bigint;
  spent: bigint;
}

/** The credits that configuration gives to accounts. What was added later stays. */
export async function declareAccounts(
  engine: Engine,
  accounts: readonly AccountDeclaration[],
): Promise<void> {
  const rows = await engine.query("SELECT name, granted FROM accounts");
  const known = new Map(rows.map((row) => [asText(row.name), optional(row.granted, asMoney)]));
  const changed = accounts.filter((a) =>
    known.has(a.name) ? a.ifNew !== true && known.get(a.name) !== a.credits : true
  );
  if (changed.length === 0) return;
  await change(engine, async (query, rev) => {
    for (const { name, credits } of changed) {
      await query(
        `INSERT INTO accounts (name, granted, added, rev) VALUES ($1, $2, 0, $3)
         ON CONFLICT (name) DO UPDATE SET granted = excluded.granted, rev = excluded.rev`,
        [name, credits, rev],
      );
    }
  });
}

export interface NewCredits {
  amount: bigint;
  now: number;
  note: string | null;
  /** What the account may have been given in all, or may lack; absent: any amount. */
  most?: bigint;
}

/** With an addition the account would have been given more than it may. */
export class TooManyCredits extends Error {
  constructor(readonly total: bigint) {
    super("Too many credits.");
  }
}

/** Throws {@link TooManyCredits}. */
export function addCredits(engine: Engine, account: string, addition: NewCredits): Promise<void> {
  return change(engine, async (query, rev) => {
    const { amount, most } = addition;
    const [row] = await query(
      `INSERT INTO accounts (name, granted, added, rev) VALUES ($1, 0, 0, $2)
       ON CONFLICT (name) DO UPDATE SET rev = excluded.rev RETURNING granted, added`,
      [account, rev],
    );
    const added = asMoney(row.added) + amount;
    const total = added + (optional(row.granted, asMoney) ?? 0n);
    if (most !== undefined && (total > most || total < -most)) throw new TooManyCredits(total);
    await query("UPDATE accounts SET added = $2 WHERE name = $1", [account, added]);
    await query("INSERT INTO credit_additions (account, amount, created, note) VALUES ($1, $2, $3, $4)", [
      account,
      addition.amount,
      addition.now,
      addition.note,
    ]);
  }, { sure: true });
}

const SELECT =
  `SELECT a.name AS name, a.granted AS granted, a.added AS added, COALESCE(b.spent, 0) AS spent FROM accounts a
  LEFT JOIN budgets b ON b.id =`;

/** By name: those behind `after`. */
export async function listAccounts(query: Query, after: string, limit: number): Promise<AccountRow[]> {
  const rows = await query(`${SELECT} 'a:' || a.name WHERE a.name > $1 ORDER BY a.name LIMIT $2`, [
    after,
    limit,
  ]);
  return rows.map(decode);
}

/** Null: there is none. */
export async function accountByName(query: Query, name: string): Promise<AccountRow | null> {
  const rows = await query(`${SELECT} $2 WHERE a.name = $1`, [name, accountBudgetId(name)]);
  return rows.length === 0 ? null : decode(rows[0]);
}

function decode(row: Row): AccountRow {
  return {
    name: asText(row.name),
    granted: optional(row.granted, asMoney),
    added: asMoney(row.added),
    spent: asMoney(row.spent),
  };
}

export interface CreditAddition {
  amount: bigint;
  created: number;
  note: string | null;
}

/** Credits added within a span of time, oldest first. */
export async function creditAdditions(
  query: Query,
  account: string,
  { from, to }: { from: number; to: number },
): Promise<CreditAddition[]> {
  const rows = await query(
    `SELECT amount, created, note FROM credit_additions WHERE account = $1 AND created >= $2 AND created < $3
     ORDER BY created`,
    [account, from, to],
  );
  return rows.map((row) => ({
    amount: asMoney(row.amount),
    created: asInt(row.created),
    note: optional(row.note, asText),
  }));
}
