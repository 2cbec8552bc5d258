/** Items of the accounts that need attention: keys that expire soon, budgets and credits that are nearly spent. */
import type { Most, NearBudget, Store } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Configured } from "../configured.ts";
import type { Keyring } from "../keys/keyring.ts";
import { type Period, spanAt } from "../budgets/period.ts";
import type { Scope } from "../keys/scope.ts";
import type { StoreSync } from "../store_sync.ts";
import { isoOf, type KeyReport } from "./views.ts";

export interface EndingKeyView {
  name: string;
  expires_at: string;
}

export interface BudgetView {
  of: "key" | "team" | "account";
  name: string;
  /** Spent share of the limit, 0 to 1. */
  share: number;
  /** Null: credits, which have no period. */
  period: Period | null;
  reset_at: string | null;
}

export interface Concerns {
  ending: EndingKeyView[];
  budgets: BudgetView[];
  /** Numbers of further items. */
  more: { ending: number; budgets: number };
}

export interface ConcernsOptions extends Scope {
  store: Pick<Store, "endingKeys" | "nearBudgets" | "account">;
  keyring: Keyring;
  sync: Pick<StoreSync, "flush">;
  clock: Clock;
  configured: Configured;
}

/** The share from which a budget is reported. */
export const SHARE = 0.8;
const SOON_MS = 14 * 86_400_000;
/** Maximum number of items of each kind. */
const MOST = 20;
/** Number of budgets read from the store: the limit of some may have changed since. */
const LOOKED_AT = 100;

/** For all keys, teams and accounts, however many there are. */
export async function concerns(options: ConcernsOptions): Promise<Concerns> {
  const { store, sync, clock } = options;
  const now = clock.now();
  await sync.flush();
  const [ending, near] = await Promise.all([
    store.endingKeys({ ...soon(now), limit: MOST }),
    store.nearBudgets({ now, limit: LOOKED_AT }),
  ]);
  const named = configuredEnding(options, now);
  const all = [...named, ...ending.rows.map(({ name, expiresAt }) => ({ name, expiresAt }))];
  const budgets = await checked(near, options, now);
  const rows = budgets.slice(0, MOST);
  return {
    ending: all.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, MOST).map(endingView),
    budgets: rows,
    more: {
      ending: Math.max(0, named.length + ending.all - MOST),
      budgets: near.all - near.rows.length + budgets.length - rows.length,
    },
  };
}

/** For a few given keys only. */
export function concernsOfKeys(keys: readonly KeyReport[], now: number): Concerns {
  const valid = keys.filter(({ revoked_at }) => revoked_at === null);
  const { from, to } = soon(now);
  const timeOf = (text: string | null) => text === null ? Infinity : Date.parse(text);
  const ending = valid.filter(({ expires_at }) => timeOf(expires_at) > from && timeOf(expires_at) < to);
  const budgets = valid.flatMap(({ name, spend, spend_limit, expires_at }): BudgetView[] => {
    if (spend === null || spend_limit === null || timeOf(expires_at) <= now) return [];
    const share = Number(spend.amount) / Number(spend_limit.amount);
    if (!(share >= SHARE)) return [];
    return [{ of: "key", name, share, period: spend.period, reset_at: spend.reset_at }];
  });
  return {
    ending: ending.map(({ name, expires_at }) => ({ name, expires_at: expires_at! })),
    budgets: budgets.sort((a, b) => b.share - a.share),
    more: { ending: 0, budgets: 0 },
  };
}

const soon = (now: number) => ({ from: now - SOON_MS, to: now + SOON_MS });

const endingView = ({ name, expiresAt }: { name: string; expiresAt: number }): EndingKeyView => ({
  name,
  expires_at: new Date(expiresAt).toISOString(),
});

/** Keys of the configuration are not in the store. */
function configuredEnding({ keyring }: ConcernsOptions, now: number): { name: string; expiresAt: number }[] {
  const { from, to } = soon(now);
  const found: { name: string; expiresAt: number }[] = [];
  for (const { key: { name }, expiresAt } of keyring.configured()) {
    if (expiresAt !== null && expiresAt > from && expiresAt < to) found.push({ name, expiresAt });
  }
  return found;
}

/** The budgets that are nearly spent by their current limits. */
async function checked(
  { rows }: Most<NearBudget>,
  options: ConcernsOptions,
  now: number,
): Promise<BudgetView[]> {
  const views: BudgetView[] = [];
  for (const row of rows) {
    const view = row.scope === "account" ? await creditsOf(row.owner, options) : budgetOf(row, options, now);
    if (view !== null && view.share >= SHARE) views.push(view);
  }
  return views.sort((a, b) => b.share - a.share);
}

function budgetOf(
  { scope, owner, spent, starts }: NearBudget,
  { keyring, configured }: ConcernsOptions,
  now: number,
): BudgetView | null {
  const key = scope === "key" ? keyring.state(owner) : undefined;
  if (key !== undefined && (key.revokedAt !== null || (key.expiresAt ?? Infinity) <= now)) return null;
  const limit = (scope === "key" ? key : configured.teams.get(owner))?.spendLimit ?? null;
  if (limit === null || limit.amount <= 0n) return null;
  const span = spanAt(limit.period, now);
  if (span.starts !== starts) return null;
  return {
    of: scope === "key" ? "key" : "team",
    name: key?.key.name ?? owner,
    share: Number(spent) / Number(limit.amount),
    period: limit.period,
    reset_at: isoOf(span.ends),
  };
}

async function creditsOf(name: string, { store }: ConcernsOptions): Promise<BudgetView | null> {
  const row = await store.account(name);
  const all = row === null || row.granted === null ? 0n : row.granted + row.added;
  if (row === null || all <= 0n) return null;
  return { of: "account", name, share: Number(row.spent) / Number(all), period: null, reset_at: null };
}
