/**
 * Budgets: amounts that must not be exceeded. There are budgets for the credits of an account; for the spend
 * limit, per period, of a key, a team, a key's session or a value of a key's tag; and for the requests or
 * tokens per minute of a key or a session.
 *
 * A row of `budgets` holds the amount spent. The limit comes from the configuration, from the key or, for an
 * account, from the sum of its grant and additions. Rows of sessions, and of tags without a period, are
 * deleted with their last lease: the amount they spent is also in `label_sums`.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import { ofLabel, tagLabel } from "./labels.ts";
import type { LedgerRecord } from "./records.ts";
import { asInt, asMoney, asText, optional, type Row } from "./rows.ts";
import { isMonth, sumOf, SUMS_OF_KEYS } from "./sums.ts";
import { readSumsState } from "./sums_state.ts";

export type Scope = "account" | "key" | "team" | "session" | "tag" | "rate" | "session_rate";
/**
 * Scopes with a period: a record is charged to each such budget of its owner whose period contains the
 * record's time.
 */
const PERIODIC = ["key", "team", "session", "tag"] as const satisfies readonly Scope[];

export interface BudgetRef {
  id: string;
  scope: Scope;
  /** An account's or a team's name, a key's id, {@link sessionOwner} or {@link tagOwner}. */
  owner: string;
  starts: number;
  ends: number | null;
  /** Null for an account: the store computes it. */
  limit: bigint | null;
}

/** A budget's row, locked by the current transaction. */
export interface Budget {
  readonly id: string;
  readonly scope: Scope;
  readonly owner: string;
  starts: number;
  readonly ends: number | null;
  spent: bigint;
  /** The limit that a node reported last; null: none has. */
  limit: bigint | null;
  /** The highest percentage of the limit for which a warning was sent. */
  warned: number;
  changed: boolean;
}

/** Whether a budget is a rate per minute, which refills, and not an amount of money. */
export function isRate(scope: Scope): boolean {
  return scope === "rate" || scope === "session_rate";
}

/** The owner id of a session's budget. Names contain no line break, so it is a safe separator. */
export function sessionOwner(keyId: string, session: string): string {
  return `${keyId}\n${session}`;
}

/** The owner id of the budget of a key's calls with one tag value. */
export function tagOwner(keyId: string, name: string, value: string): string {
  return `${keyId}\n${name}\n${value}`;
}

/** The owners, other than the account, whose budgets a record is charged to. */
export function* ownersOf(
  { keyId, labels }: Pick<LedgerRecord, "keyId" | "labels">,
): Generator<[scope: Scope, owner: string]> {
  yield ["key", keyId];
  if (labels === null) return;
  if (labels.team !== null) yield ["team", labels.team];
  if (labels.session !== null) yield ["session", sessionOwner(keyId, labels.session)];
  for (const [name, value] of Object.entries(labels.tags ?? {})) yield ["tag", tagOwner(keyId, name, value)];
}

/** Quick check whether two records are charged to the same budgets. False negatives are possible. */
export function haveSameOwners(a: LedgerRecord, b: LedgerRecord): boolean {
  return a.labels === null && b.labels === null && a.keyId === b.keyId && a.account === b.account;
}

/** The id of the budget of an account's credits. */
export function accountBudgetId(account: string): string {
  return `a:${account}`;
}

/** The budget of an account's credits, whose limit is the store's. */
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

/** A requested budget has no row. Rows are created in a preceding transaction, which holds no other lock. */
export class MissingBudgets extends Error {
  constructor(readonly missing: BudgetRef[]) {
    super("Budgets are missing.");
  }
}

/**
 * Locks the requested budgets and those that `records` will be charged to. All nodes lock in the same order,
 * which prevents deadlocks. Throws {@link MissingBudgets}.
 */
export async function lockBudgets(
  engine: Engine,
  query: Query,
  { asked, dropped, records }: {
    asked: readonly BudgetRef[];
    /** Ids of budgets whose lease the node gives up; the rows may not exist. */
    dropped: readonly string[];
    records: readonly LedgerRecord[];
  },
): Promise<Map<string, Budget>> {
  const wanted = new Map<string, BudgetRef>();
  const owners = new Set<string>();
  for (const ref of asked) wanted.set(ref.id, ref);
  let before: LedgerRecord | undefined;
  for (const record of records) {
    if (before !== undefined && haveSameOwners(record, before)) continue;
    before = record;
    for (const [, owner] of ownersOf(record)) owners.add(owner);
    const { account } = record;
    const id = accountBudgetId(account);
    if (!wanted.has(id)) wanted.set(id, accountBudget(account));
  }
  const rows = await query(
    `SELECT id, scope, owner, starts, ends, spent, limit_amount, warned FROM budgets
     WHERE ${engine.among("id", "$1")} OR (${engine.among("owner", "$2")} AND scope IN (${PERIODIC_SQL}))
     ORDER BY id ${engine.forUpdate}`,
    [JSON.stringify([...wanted.keys(), ...dropped]), JSON.stringify([...owners])],
  );
  const found = new Map(rows.map((row): [string, Budget] => [asText(row.id), {
    id: asText(row.id),
    scope: asText(row.scope) as Scope,
    owner: asText(row.owner),
    starts: asInt(row.starts),
    ends: optional(row.ends, asInt),
    spent: asMoney(row.spent),
    limit: optional(row.limit_amount, asMoney),
    warned: optional(row.warned, asInt) ?? 0,
    changed: false,
  }]));
  const missing = [...wanted.values()].filter((ref) => !found.has(ref.id));
  if (missing.length > 0) throw new MissingBudgets(missing);
  return found;
}

const PERIODIC_SQL = PERIODIC.map((scope) => `'${scope}'`).join(", ");

/**
 * Creates budget rows in one statement. Except for accounts, each starts with the amount that the ledger
 * already holds for its period (periods are whole days). For a session or a tag no record can be written in
 * between: where they are limited, a call needs the budget before it makes a record.
 */
export function createBudgets(engine: Engine, missing: readonly BudgetRef[]): Promise<void> {
  return engine.transaction(async (query) => {
    await keepOut(engine, query, missing);
    const sorted = missing.toSorted((a, b) => a.id < b.id ? -1 : 1);
    const from = Math.min(...sorted.map(({ starts }) => starts));
    // Unaggregated rows are queried only if there are any: a key may have a million other rows in its period.
    const { missing: unsummed } = await readSumsState(query, { from, to: Number.MAX_SAFE_INTEGER }, null);
    await insertBudgets(engine, query, sorted, spentSoFar(engine.kind, unsummed));
  });
}

/**
 * Creates the budget of one key. `old` runs in the transaction that creates it and returns the cost of the
 * owner's records that are not in the sums.
 */
export function createBudget(
  engine: Engine,
  ref: BudgetRef,
  old: (query: Query) => Promise<bigint>,
): Promise<void> {
  return engine.transaction(async (query) => {
    await keepOut(engine, query, [ref]);
    const late = "summed IS NULL AND id IN (SELECT id FROM unsummed)";
    await insertBudgets(engine, query, [ref], `${spentSoFar(engine.kind, [late])} + ${await old(query)}`);
  });
}

/** Blocks writers of records, so that none is written between the summation and the insertion of the budget. */
async function keepOut(engine: Engine, query: Query, missing: readonly BudgetRef[]): Promise<void> {
  if (missing.some(({ scope }) => scope === "key" || scope === "team")) {
    await engine.keepWritersOut(query);
  }
}

async function insertBudgets(
  engine: Engine,
  query: Query,
  refs: readonly BudgetRef[],
  ofKey: string,
): Promise<void> {
  const rows = refs.map((
    ref,
  ) => [ref.id, ref.scope, ref.owner, ref.starts, ref.ends, ...labelOf(ref), isMonth(ref) ? 1 : 0]);
  await query(
    `INSERT INTO budgets (id, scope, owner, starts, ends, spent)
     SELECT id, scope, owner, starts, ends, CASE WHEN scope = 'key' THEN ${ofKey}
       WHEN label IS NOT NULL THEN ${spentByLabel(engine.kind)} ELSE 0 END FROM
     ${engine.rows("$1", BUDGET_COLUMNS)} WHERE true ON CONFLICT (id) DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

const BUDGET_COLUMNS: Columns = [
  ["id", "text"],
  ["scope", "text"],
  ["owner", "text"],
  ["starts", "int"],
  ["ends", "int"],
  ["label", "text"],
  ["value", "text"],
  ["key_id", "text"],
  ["month", "int"],
];

export const SPENT_COLUMNS: Columns = [...BUDGET_COLUMNS, ["spent", "money"]];

/** The parameters that identify a budget's row when its spent amount is compared with the sums. */
export function spentRow(row: Row): (string | number | null)[] {
  const ref = { scope: asText(row.scope) as Scope, owner: asText(row.owner) };
  const [starts, ends] = [asInt(row.starts), optional(row.ends, asInt)];
  return [
    asText(row.id),
    ref.scope,
    ref.owner,
    starts,
    ends,
    ...labelOf(ref),
    0,
    asMoney(row.spent).toString(),
  ];
}

/** Which rows of `label_sums` hold the spend of a budget's owner. An empty key id: those of all keys. */
function labelOf(
  { scope, owner }: Pick<BudgetRef, "scope" | "owner">,
): [label: string | null, value: string | null, keyId: string] {
  const [keyId, first, second] = owner.split("\n");
  if (scope === "team") return ["team", owner, ""];
  if (scope === "session") return ["session", first, keyId];
  if (scope === "tag") return [tagLabel(first), second, keyId];
  return [null, null, ""];
}

const spentSoFar = (kind: Engine["kind"], unsummed: readonly string[]) =>
  [
    // A whole month has one row in `sums` per key and key name.
    `CASE WHEN month = 1 THEN (SELECT ${sumOf(kind, "s.cost")} FROM sums s
    WHERE s.kind = 'month' AND s.starts = r.starts AND s.key_id = r.owner)
    ELSE (SELECT ${sumOf(kind, "s.cost")} FROM ${SUMS_OF_KEYS[kind]("s")}
    WHERE s.kind = 'key' AND s.key_id = r.owner AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends)) END`,
    ...unsummed.map((condition) =>
      `(SELECT ${sumOf(kind, "cost")} FROM generations
      WHERE ${condition} AND key_id = r.owner AND created >= r.starts AND (r.ends IS NULL OR created < r.ends))`
    ),
  ].join(" + ");

/** SQL: the amount that the sums report as spent by the owner of a budget row `r`, see {@link spentRow}. */
export const spentByLabel = (kind: Engine["kind"]) =>
  `(SELECT ${sumOf(kind, "s.cost")} FROM label_sums s
  WHERE ${
    ofLabel("r.label", "r.value", "s")
  } AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends)
    AND (r.key_id = '' OR s.key_id = r.key_id))`;

/**
 * A "100 per cent" warning was sent when the budget refused a call although it was not fully spent. That
 * cannot be derived from `spent`.
 */
const TOLD_EARLY = "(COALESCE(warned, 0) >= 100 AND spent < COALESCE(limit_amount, 0))";

/**
 * Deletes those of the given locked budgets that no node has a lease of and whose state can be recreated from
 * the sums.
 */
export async function dropUnleased(engine: Engine, query: Query, ids: readonly string[]): Promise<void> {
  const list = JSON.stringify(ids);
  const unleased = `${engine.among("id", "$1")} AND id NOT IN (SELECT budget FROM leases WHERE ${
    engine.among("budget", "$1")
  })`;
  await query(
    `DELETE FROM budgets WHERE ${unleased} AND ((scope = 'session_rate' AND spent = 0) OR (scope = 'session' AND NOT ${TOLD_EARLY}))`,
    [list],
  );
  const tags = await query(
    `SELECT id, scope, owner, starts, ends, spent FROM budgets WHERE ${unleased} AND scope = 'tag' AND ends IS NULL
     AND COALESCE(warned, 0) = 0`,
    [list],
  );
  if (tags.length === 0) return;
  // A tag with very many values does not have a row for each of them in `label_sums`.
  const whole = await query(
    `SELECT id FROM ${engine.rows("$1", SPENT_COLUMNS)} WHERE r.spent = ${spentByLabel(engine.kind)}`,
    [JSON.stringify(tags.map(spentRow))],
  );
  await query(`DELETE FROM budgets WHERE ${engine.among("id", "$1")}`, [
    JSON.stringify(whole.map((row) => row.id)),
  ]);
}

/** Writes the budgets that changed, in the transaction that read them. */
export async function writeBudgets(
  engine: Engine,
  query: Query,
  budgets: ReadonlyMap<string, Budget>,
): Promise<void> {
  const changed = [...budgets.values()].filter((budget) => budget.changed);
  if (changed.length === 0) return;
  await query(
    `UPDATE budgets SET spent = r.spent, starts = r.starts, limit_amount = r.limit_amount, warned = r.warned FROM
     ${engine.rows("$1", WRITTEN)} WHERE budgets.id = r.id`,
    [JSON.stringify(changed.map((b) => [
      b.id,
      b.spent.toString(),
      b.starts,
      b.limit === null ? null : b.limit.toString(),
      b.warned,
    ]))],
  );
}

const WRITTEN: Columns = [
  ["id", "text"],
  ["spent", "money"],
  ["starts", "int"],
  ["limit_amount", "money"],
  ["warned", "int"],
];
