/**
 * Budgets: amounts that must not be exceeded. The credits of an account, the spend limit of a key or a team in one period,
 * that of a key's session or of a value of one of its tags, a key's or a session's requests or tokens in one minute.
 *
 * A budget's row holds what is spent. Its limit is the configuration's, the key's or, for an account, the sum of what was
 * granted and added. Rows of sessions, and of tags without a period, last as long as a node has a lease of them: what one
 * spent is in its sums.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import { ofLabel, tagLabel } from "./labels.ts";
import type { LedgerRecord } from "./records.ts";
import { asInt, asMoney, asText, optional, type Row } from "./rows.ts";
import { isMonth, sumOf, SUMS_OF_KEYS } from "./sums.ts";
import { readSumsState } from "./sums_state.ts";

export type Scope = "account" | "key" | "team" | "session" | "tag" | "rate" | "session_rate";
/** Scopes of which a record is charged to each budget of its owner whose period it falls into. */
const PERIODIC = ["key", "team", "session", "tag"] as const satisfies readonly Scope[];

export interface BudgetRef {
  id: string;
  scope: Scope;
  /** An account's name, a key's id, a team's name, {@link sessionOwner}, {@link tagOwner}. */
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
  /** As far as a node has said it; null: none has. */
  limit: bigint | null;
  /** The highest share of the limit, in per cent, that has been warned of. */
  warned: number;
  changed: boolean;
}

/** Whether a budget is of a minute and refills, and is no sum of money. */
export function isRate(scope: Scope): boolean {
  return scope === "rate" || scope === "session_rate";
}

/** No name has a line break. */
export function sessionOwner(keyId: string, session: string): string {
  return `${keyId}\n${session}`;
}

/** Who owns the budget of a key's calls with one tag. */
export function tagOwner(keyId: string, name: string, value: string): string {
  return `${keyId}\n${name}\n${value}`;
}

/** Whose budgets a record is charged to, beside its account's. */
export function* ownersOf(
  { keyId, labels }: Pick<LedgerRecord, "keyId" | "labels">,
): Generator<[scope: Scope, owner: string]> {
  yield ["key", keyId];
  if (labels === null) return;
  if (labels.team !== null) yield ["team", labels.team];
  if (labels.session !== null) yield ["session", sessionOwner(keyId, labels.session)];
  for (const [name, value] of Object.entries(labels.tags ?? {})) yield ["tag", tagOwner(keyId, name, value)];
}

/** Whether two records are charged to the same budgets, as far as that can be seen at once. */
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
  { asked, dropped, records }: {
    asked: readonly BudgetRef[];
    /** Ids of others, which may be gone. */
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
 * Makes rows of budgets, all in one statement. Each but an account's begins with what the ledger already holds for its
 * period, which consists of whole days. Of a session or a tag no record can slip in between: where they are limited, a call
 * needs the budget before it makes a record.
 */
export function createBudgets(engine: Engine, missing: readonly BudgetRef[]): Promise<void> {
  return engine.transaction(async (query) => {
    await keepOut(engine, query, missing);
    const sorted = missing.toSorted((a, b) => a.id < b.id ? -1 : 1);
    const from = Math.min(...sorted.map(({ starts }) => starts));
    // Rows that are in no sum are looked for only while there are some: a key may have a million others in its period.
    const { missing: unsummed } = await readSumsState(query, { from, to: Number.MAX_SAFE_INTEGER }, null);
    await insertBudgets(engine, query, sorted, spentSoFar(engine.kind, unsummed));
  });
}

/**
 * Makes one key's budget. `old` answers, in the transaction that makes it, what its owner's records of before the sums cost
 * that are in no sum.
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

/** No record may slip in between the sum and the budget's first appearance. */
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

/** A row of a budget that there is, to compare what it has spent with its sums. */
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

/** The sums that hold what a budget's owner has spent; the key is empty where all of them count. */
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
    // Of a whole month there is one sum a key, or one for each of its names.
    `CASE WHEN month = 1 THEN (SELECT ${sumOf(kind, "s.cost")} FROM sums s
    WHERE s.kind = 'month' AND s.starts = r.starts AND s.key_id = r.owner)
    ELSE (SELECT ${sumOf(kind, "s.cost")} FROM ${SUMS_OF_KEYS[kind]("s")}
    WHERE s.kind = 'key' AND s.key_id = r.owner AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends)) END`,
    ...unsummed.map((condition) =>
      `(SELECT ${sumOf(kind, "cost")} FROM generations
      WHERE ${condition} AND key_id = r.owner AND created >= r.starts AND (r.ends IS NULL OR created < r.ends))`
    ),
  ].join(" + ");

/** What sums say that the owner of a budget `r` of {@link spentRow} has spent. */
export const spentByLabel = (kind: Engine["kind"]) =>
  `(SELECT ${sumOf(kind, "s.cost")} FROM label_sums s
  WHERE ${
    ofLabel("r.label", "r.value", "s")
  } AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends)
    AND (r.key_id = '' OR s.key_id = r.key_id))`;

/** It refused a call before all of it was spent, and was warned of as used up: what it has spent does not tell that. */
const TOLD_EARLY = "(COALESCE(warned, 0) >= 100 AND spent < COALESCE(limit_amount, 0))";

/** Deletes those of these budgets, which are locked, that nobody has a lease of and that can be made anew as they are. */
export async function dropUnleased(engine: Engine, query: Query, ids: readonly string[]): Promise<void> {
  const list = JSON.stringify(ids);
  const unleased = `${engine.among("id", "$1")} AND id NOT IN (SELECT budget FROM leases WHERE ${
    engine.among("budget", "$1")
  })`;
  await query(
    `DELETE FROM budgets WHERE ${unleased} AND (scope = 'session_rate' OR (scope = 'session' AND NOT ${TOLD_EARLY}))`,
    [list],
  );
  const tags = await query(
    `SELECT id, scope, owner, starts, ends, spent FROM budgets WHERE ${unleased} AND scope = 'tag' AND ends IS NULL
     AND COALESCE(warned, 0) = 0`,
    [list],
  );
  if (tags.length === 0) return;
  // Of a tag with very many values not each has sums of its own.
  const whole = await query(
    `SELECT id FROM ${engine.rows("$1", SPENT_COLUMNS)} WHERE r.spent = ${spentByLabel(engine.kind)}`,
    [JSON.stringify(tags.map(spentRow))],
  );
  await query(`DELETE FROM budgets WHERE ${engine.among("id", "$1")}`, [
    JSON.stringify(whole.map((row) => row.id)),
  ]);
}

/** Writes those that have changed, in the transaction that has read them. */
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
