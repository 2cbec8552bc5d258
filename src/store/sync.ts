/**
 * The one transaction in which a node and the store settle up: finished generations in, slices of budgets out.
 *
 * A budget is an amount that must not be passed: the credits of an account, a key's spend limit in one period, a key's
 * requests or tokens in one minute. A node takes slices of it, its leases, and admits calls against them without asking
 * again. At all times what is spent plus what is leased stays within the limit, except for what a generation cost beyond
 * what was left when it was recorded.
 *
 * Every answer to "what if the reply is lost" is the same: say it again. Rows are recognised by id, and a lease is set to
 * what the node says it needs, never added to. A number that only grows keeps a delayed older transaction from undoing a
 * newer one.
 */
import type { Engine, Query, Value } from "./engine.ts";
import { type Charge, insertGenerations } from "./generations.ts";

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

export interface Ask {
  budget: BudgetRef;
  /** What the node needs: what it has used and not yet reported, has reserved, and wants on top. */
  floor: bigint;
  /** True: not a bit more than that. A node that gives back says so. */
  exact: boolean;
}

export interface SyncRequest {
  node: string;
  seq: number;
  now: number;
  /** Encoded generations, with what they charge. */
  records: readonly { json: string; account: string; keyId: string }[];
  asks: readonly Ask[];
  /** Generations that began and ended, for a node that has no journal of its own. */
  began?: readonly { id: string; data: string }[];
  ended?: readonly string[];
}

export interface Grant {
  id: string;
  /** For a rate this says when the current minute began. */
  starts: number;
  amount: bigint;
  /** Null: no limit. */
  limit: bigint | null;
  spent: bigint;
  /** Leased by other nodes. */
  others: bigint;
}

export interface SyncResult {
  /** The node was given up and its leases are gone; it must register and ask again. */
  forgotten: boolean;
  grants: Grant[];
}

const MINUTE = 60_000;
/** What a sum may grow to in 64 bits; a provider's absurd counts must not make a row that can never be written. */
const CEILING = 9_200_000_000_000_000_000n;

interface Budget {
  id: string;
  scope: Scope;
  owner: string;
  starts: number;
  ends: number | null;
  spent: bigint;
  changed: boolean;
}

/** A dead or stale transaction arrived after a newer one of the same node. */
export class StaleSync extends Error {
  override readonly name = "StaleSync";
}

export async function sync(engine: Engine, request: SyncRequest): Promise<SyncResult> {
  for (;;) {
    try {
      return await engine.transaction((query) => settleUp(engine, query, request));
    } catch (error) {
      if (!(error instanceof MissingBudgets)) throw error;
      await createBudgets(engine, error.missing);
    }
  }
}

/** Budgets are made in a transaction before, which holds no lock that another's could wait for. */
class MissingBudgets extends Error {
  constructor(readonly missing: BudgetRef[]) {
    super("Budgets are missing.");
  }
}

async function settleUp(engine: Engine, query: Query, request: SyncRequest): Promise<SyncResult> {
  const { node } = request;
  const fenced = await query("UPDATE nodes SET seq = $2 WHERE id = $1 AND seq < $2 RETURNING id", [
    node,
    request.seq,
  ]);
  if (fenced.length === 0) {
    const known = await query("SELECT id FROM nodes WHERE id = $1", [node]);
    if (known.length > 0) throw new StaleSync("A newer transaction of this node has been through.");
    return { forgotten: true, grants: [] };
  }
  await noteRunning(engine, query, request);
  if (request.records.length === 0 && request.asks.length === 0) return { forgotten: false, grants: [] };

  const budgets = await lockBudgets(engine, query, request);
  const leases = await readLeases(engine, query, [...budgets.keys()]);
  renewRates(request, budgets, leases);
  charge(budgets, leases, node, await insertGenerations(engine, query, request.records.map((r) => r.json)));
  const grants = await grant(engine, query, request, { budgets, leases });
  await write(engine, query, node, budgets, leases);
  return { forgotten: false, grants };
}

async function noteRunning(engine: Engine, query: Query, request: SyncRequest): Promise<void> {
  if (request.began !== undefined && request.began.length > 0) {
    await query(
      `INSERT INTO running (id, node, data) SELECT id, $2, data FROM
       ${engine.rows("$1", [["id", "text"], ["data", "text"]])} WHERE true ON CONFLICT (id) DO NOTHING`,
      [JSON.stringify(request.began.map((b) => [b.id, b.data])), request.node],
    );
  }
  if (request.ended !== undefined && request.ended.length > 0) {
    await query(`DELETE FROM running WHERE id IN (${engine.list("$1")})`, [JSON.stringify(request.ended)]);
  }
}

/** All budgets that the request touches, locked in one order, so that nodes cannot wait for each other in a ring. */
async function lockBudgets(engine: Engine, query: Query, request: SyncRequest): Promise<Map<string, Budget>> {
  const wanted = new Map<string, BudgetRef>();
  const keys = new Set<string>();
  for (const ask of request.asks) wanted.set(ask.budget.id, ask.budget);
  for (const record of request.records) {
    keys.add(record.keyId);
    const id = accountBudgetId(record.account);
    if (!wanted.has(id)) wanted.set(id, accountBudget(record.account));
  }
  const rows = await query(
    `SELECT id, scope, owner, starts, ends, spent FROM budgets
     WHERE id IN (${engine.list("$1")}) OR (owner IN (${engine.list("$2")}) AND scope = 'key')
     ORDER BY id ${engine.forUpdate}`,
    [JSON.stringify([...wanted.keys()]), JSON.stringify([...keys])],
  );
  const found = new Map(rows.map((row): [string, Budget] => [String(row.id), {
    id: String(row.id),
    scope: String(row.scope) as Scope,
    owner: String(row.owner),
    starts: Number(row.starts),
    ends: row.ends === null ? null : Number(row.ends),
    spent: BigInt(row.spent!),
    changed: false,
  }]));
  const missing = [...wanted.values()].filter((ref) => !found.has(ref.id));
  if (missing.length > 0) throw new MissingBudgets(missing);
  return found;
}

function createBudgets(engine: Engine, missing: readonly BudgetRef[]): Promise<void> {
  return engine.transaction(async (query) => {
    // A key's budget begins with what the ledger already holds for its period. No row may slip in between the sum and
    // the budget's first appearance.
    if (missing.some((ref) => ref.scope === "key")) await engine.lockTable(query, "generations");
    for (const ref of missing.toSorted((a, b) => a.id < b.id ? -1 : 1)) {
      const spent = ref.scope === "key" ? await spentSoFar(query, ref) : 0n;
      await query(
        `INSERT INTO budgets (id, scope, owner, starts, ends, spent) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO NOTHING`,
        [ref.id, ref.scope, ref.owner, ref.starts, ref.ends, spent],
      );
    }
  });
}

async function spentSoFar(query: Query, ref: BudgetRef): Promise<bigint> {
  const ends: Value = ref.ends ?? Number.MAX_SAFE_INTEGER;
  const rows = await query(
    `SELECT (SELECT COALESCE(SUM(cost), 0) FROM generations WHERE key_id = $1 AND created >= $2 AND created < $3) AS live,
            (SELECT COALESCE(SUM(cost), 0) FROM usage_days WHERE key_id = $1 AND day >= $2 AND day < $3) AS days`,
    [ref.owner, ref.starts, ends],
  );
  return BigInt(rows[0].live!) + BigInt(rows[0].days!);
}

/** Budget id, then node, to amount. */
type Leases = Map<string, Map<string, bigint>>;

async function readLeases(engine: Engine, query: Query, ids: string[]): Promise<Leases> {
  const rows = await query(`SELECT budget, node, amount FROM leases WHERE budget IN (${engine.list("$1")})`, [
    JSON.stringify(ids),
  ]);
  const leases: Leases = new Map();
  for (const row of rows) {
    const of = leases.get(String(row.budget)) ?? new Map<string, bigint>();
    of.set(String(row.node), BigInt(row.amount!));
    leases.set(String(row.budget), of);
  }
  return leases;
}

/** A rate's minute begins with the first call after the last one is over. A start far ahead is a clock that stepped back. */
function renewRates(request: SyncRequest, budgets: Map<string, Budget>, leases: Leases): void {
  for (const { budget: { id, scope } } of request.asks) {
    const budget = budgets.get(id);
    if (scope !== "rate" || budget === undefined) continue;
    if (request.now < budget.starts + MINUTE && request.now > budget.starts - MINUTE) continue;
    budget.starts = request.now;
    budget.changed = true;
    for (const node of leases.get(id)?.keys() ?? []) leases.get(id)!.set(node, 0n);
  }
}

/** Adds costs to what is spent and takes them off the node's slices, which had been set aside for them. */
function charge(
  budgets: Map<string, Budget>,
  leases: Leases,
  node: string,
  charges: readonly Charge[],
): void {
  const costs = new Map<Budget, bigint>();
  const add = (budget: Budget | undefined, cost: bigint) => {
    if (budget !== undefined) costs.set(budget, (costs.get(budget) ?? 0n) + cost);
  };
  const ofKey = Map.groupBy([...budgets.values()].filter((b) => b.scope === "key"), (b) => b.owner);
  for (const { account, keyId, created, cost } of charges) {
    add(budgets.get(accountBudgetId(account)), cost);
    for (const budget of ofKey.get(keyId) ?? []) {
      if (created >= budget.starts && (budget.ends === null || created < budget.ends)) add(budget, cost);
    }
  }
  for (const [budget, cost] of costs) {
    const spent = budget.spent + cost;
    budget.spent = spent > CEILING ? CEILING : spent;
    budget.changed = true;
    const own = leases.get(budget.id);
    const amount = own?.get(node);
    if (own !== undefined && amount !== undefined) own.set(node, amount > cost ? amount - cost : 0n);
  }
}

async function grant(
  engine: Engine,
  query: Query,
  request: SyncRequest,
  at: { budgets: Map<string, Budget>; leases: Leases },
): Promise<Grant[]> {
  if (request.asks.length === 0) return [];
  const nodes = BigInt((await query("SELECT count(*) AS n FROM nodes"))[0].n!);
  const limits = await accountLimits(engine, query, request.asks);
  const grants: Grant[] = [];
  for (const { budget: ref, floor, exact } of request.asks) {
    const budget = at.budgets.get(ref.id);
    if (budget === undefined) continue;
    const of = at.leases.get(ref.id) ?? new Map<string, bigint>();
    at.leases.set(ref.id, of);
    let others = 0n;
    for (const [node, amount] of of) if (node !== request.node) others += amount;
    const limit = ref.scope === "account" ? limits.get(ref.owner) ?? null : ref.limit;
    let amount = floor;
    if (limit !== null) {
      const available = limit - budget.spent - others;
      // Alone a node takes all there is; among others a share that leaves each of them as much again.
      const share = nodes <= 1n ? available : available / (2n * nodes);
      if (!exact && share > amount) amount = share;
      // What it holds may be reserved already by the time this answer is read: only the node itself lowers it.
      const held = of.get(request.node) ?? 0n;
      if (!exact && held > amount) amount = held;
      if (amount > available) amount = available > 0n ? available : 0n;
      await noteWant(engine, query, request.node, {
        id: ref.id,
        wants: amount < floor && others > 0n,
        gives: exact,
      });
    }
    of.set(request.node, amount);
    grants.push({ id: ref.id, starts: budget.starts, amount, limit, spent: budget.spent, others });
  }
  return grants;
}

async function noteWant(
  engine: Engine,
  query: Query,
  node: string,
  note: { id: string; wants: boolean; gives: boolean },
): Promise<void> {
  if (note.wants) {
    await query("INSERT INTO wants (budget, node) VALUES ($1, $2) ON CONFLICT (budget, node) DO NOTHING", [
      note.id,
      node,
    ]);
    await engine.notify(query, `want ${node} ${note.id}`);
  } else if (note.gives) {
    await query("DELETE FROM wants WHERE budget = $1", [note.id]);
    await engine.notify(query, `gave ${node} ${note.id}`);
  }
}

/** Limits of the accounts asked for: what was granted and added. Absent: unlimited. One nobody declared has nothing. */
async function accountLimits(
  engine: Engine,
  query: Query,
  asks: readonly Ask[],
): Promise<Map<string, bigint>> {
  const owners = asks.filter((a) => a.budget.scope === "account").map((a) => a.budget.owner);
  if (owners.length === 0) return new Map();
  const rows = await query(`SELECT name, granted, added FROM accounts WHERE name IN (${engine.list("$1")})`, [
    JSON.stringify(owners),
  ]);
  const limits = new Map<string, bigint>(owners.map((owner) => [owner, 0n]));
  for (const row of rows) {
    if (row.granted === null) limits.delete(String(row.name));
    else limits.set(String(row.name), BigInt(row.granted) + BigInt(row.added!));
  }
  return limits;
}

async function write(
  engine: Engine,
  query: Query,
  node: string,
  budgets: Map<string, Budget>,
  leases: Leases,
): Promise<void> {
  const changed = [...budgets.values()].filter((b) => b.changed);
  if (changed.length > 0) {
    await query(
      `UPDATE budgets SET spent = r.spent, starts = r.starts FROM
       ${engine.rows("$1", [["id", "text"], ["spent", "money"], ["starts", "int"]])} WHERE budgets.id = r.id`,
      [JSON.stringify(changed.map((b) => [b.id, b.spent.toString(), b.starts]))],
    );
  }
  const amounts: [string, string, string][] = [];
  for (const [budget, of] of leases) {
    for (const [holder, amount] of of) {
      // Other nodes' leases change here only where a minute began anew.
      const renewed = holder !== node && amount === 0n && budgets.get(budget)?.scope === "rate";
      if (holder === node || renewed) amounts.push([budget, holder, amount.toString()]);
    }
  }
  if (amounts.length === 0) return;
  await query(
    `INSERT INTO leases (budget, node, amount) SELECT budget, node, amount FROM
     ${engine.rows("$1", [["budget", "text"], ["node", "text"], ["amount", "money"]])} WHERE true
     ON CONFLICT (budget, node) DO UPDATE SET amount = excluded.amount`,
    [JSON.stringify(amounts)],
  );
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
