/**
 * Accounts and their credits: the grant from the configuration, credits added by administrators, and the
 * amounts charged by the ledger.
 */
import { accountBudgetId } from "./budgets.ts";
import type { Engine, Query } from "./engine.ts";
import { NameTaken } from "./keys.ts";
import { change } from "./revision.ts";
import { asInt, asMoney, asText, optional, type Row } from "./rows.ts";

export interface AccountDeclaration {
  name: string;
  /** Picodollars granted; null: unlimited. */
  credits: bigint | null;
  /** True: the credits are written only if the account does not exist yet. */
  ifNew?: boolean;
}

/** An account whose credits changed. */
export interface AccountChange {
  name: string;
  unlimited: boolean;
}

export interface AccountRow {
  name: string;
  /** Null: unlimited. */
  granted: bigint | null;
  added: bigint;
  spent: bigint;
}

/** Writes the credits that the configuration grants to accounts. Credits added by administrators are kept. */
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

/** Throws {@link NameTaken}. */
export function insertAccount(engine: Engine, { name, credits }: AccountDeclaration): Promise<void> {
  return change(engine, async (query, rev) => {
    const rows = await query(
      `INSERT INTO accounts (name, granted, added, rev) VALUES ($1, $2, 0, $3)
       ON CONFLICT (name) DO NOTHING RETURNING name`,
      [name, credits, rev],
    );
    if (rows.length === 0) throw new NameTaken(name);
  });
}

export interface NewCredits {
  amount: bigint;
  now: number;
  note: string | null;
  /** The highest total (grant and additions) that the account may reach; absent: no bound. */
  most?: bigint;
}

/** The addition would raise the account's total above its bound. */
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

/** Accounts whose credits changed after a revision; 0: all. */
export async function accountsSince(query: Query, rev: number): Promise<AccountChange[]> {
  const rows = await query("SELECT name, granted FROM accounts WHERE rev > $1", [rev]);
  return rows.map((row) => ({ name: asText(row.name), unlimited: row.granted === null }));
}

/** Names of the accounts without a limit. */
export async function unlimitedAccounts(query: Query): Promise<string[]> {
  const rows = await query("SELECT name FROM accounts WHERE granted IS NULL");
  return rows.map((row) => asText(row.name));
}

const SELECT =
  `SELECT a.name AS name, a.granted AS granted, a.added AS added, COALESCE(b.spent, 0) AS spent FROM accounts a
  LEFT JOIN budgets b ON b.id =`;

/** Accounts in order of name, starting after the name `after`. */
export async function listAccounts(query: Query, after: string, limit: number): Promise<AccountRow[]> {
  const rows = await query(`${SELECT} 'a:' || a.name WHERE a.name > $1 ORDER BY a.name LIMIT $2`, [
    after,
    limit,
  ]);
  return rows.map(decode);
}

/** Null: no account with this name. */
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

/** Credit additions within a time span, oldest first. */
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
