/**
 * Reports from the memory of this process while the store is unavailable: keys, teams and accounts with
 * limits and leases; calls that ended recently or wait for the store. Spend is not reported, since only a
 * part of it is known.
 */
import { accountBudget, type BudgetRef, decodeJson, type Generation } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { AdminTokens } from "../keys/admin_tokens.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Configured } from "../configured.ts";
import { keyBudget, teamBudget } from "../budgets/demands.ts";
import {
  auditKindOf,
  type AuditQuery,
  decodeCursor,
  decodeOffset,
  dimensionsOf,
  encodeCursor,
  encodeOffset,
  type GenerationQuery,
  invalid,
  isOffset,
  type KeyQuery,
  LARGEST_PAGE,
  type PageQuery,
  pageSize,
  spanOf,
  type UsageQuery,
} from "./input.ts";
import type { KeyState } from "../keys/key_state.ts";
import type { Keyring } from "../keys/keyring.ts";
import { knownSums } from "./known_sums.ts";
import { formatAmount } from "../budgets/money.ts";
import type { Scope } from "../keys/scope.ts";
import { stepsView } from "./steps_view.ts";
import type { StoreSync } from "../store_sync.ts";
import { keysOfTeams, teamView } from "./team_reports.ts";
import { hasTraits } from "../../store/traits.ts";
import { traitsOf } from "./traits.ts";
import {
  type AuditView,
  auditView,
  type CreditsView,
  type GenerationView,
  generationView,
  isoOf,
  type KeyReport,
  keyView,
  type LeaseView,
  type Listed,
  type TeamView,
  type TokenView,
  tokenView,
  type UsageView,
  usageView,
} from "./views.ts";
import type { GenerationDetails } from "./generation_details.ts";

export interface OfflineReportsOptions extends Scope {
  keyring: Keyring;
  sync: StoreSync;
  clock: Clock;
  configured: Configured;
  tokens: AdminTokens;
  audit: AuditLog;
  /** Calls of this process that ended most recently; oldest first. */
  recent(): readonly Generation[];
}

/** Maximum number of records waiting for the store that are searched. */
const MOST_WAITING = 5000;
const PAGE = 50;
const AWAY = "away" as const;

export class OfflineReports {
  readonly #options: OfflineReportsOptions;

  constructor(options: OfflineReportsOptions) {
    this.#options = options;
  }

  keys({ search, team, limit, cursor }: KeyQuery): Listed<KeyReport> {
    const wanted = (state: KeyState) =>
      this.#isSeen(state) && (team === undefined || state.team === team) &&
      (search === undefined || state.key.name.toLowerCase().includes(search.toLowerCase()));
    const all = [...this.#options.keyring.states()].filter(wanted).sort((a, b) =>
      a.source === b.source ? b.created - a.created : a.source === "config" ? -1 : 1
    );
    const used = this.#lastUses();
    return pageOf(all, { limit, cursor }, (state) => this.#keyReport(state, used));
  }

  /** Null: unknown to this process. */
  key(idOrName: string): KeyReport | null {
    const state = this.keyState(idOrName);
    return state === null ? null : this.#keyReport(state, this.#lastUses());
  }

  keyState(idOrName: string): KeyState | null {
    const byId = this.#options.keyring.state(idOrName);
    if (byId !== undefined) return this.#isSeen(byId) ? byId : null;
    const named = [...this.#options.keyring.states()].filter((state) =>
      state.key.name === idOrName && this.#isSeen(state)
    );
    return named.find((state) => state.revokedAt === null) ?? named.at(-1) ?? null;
  }

  /** Null: unknown to this process. */
  team(name: string): TeamView | null {
    return this.teams({ limit: LARGEST_PAGE }).data.find((team) => team.name === name) ?? null;
  }

  /** Null: unknown to this process. */
  credits(account: string): CreditsView | null {
    return this.accounts({ limit: LARGEST_PAGE }).data.find((one) => one.account === account) ?? null;
  }

  teams({ limit, cursor }: PageQuery): Listed<TeamView> {
    const { configured, keyring } = this.#options;
    const members = keysOfTeams(keyring);
    return pageOf(configured.teams.all(), { limit, cursor }, (team) => ({
      ...teamView(team, { keys: members.get(team.name) ?? 0, spend: null }),
      lease: this.#lease(team.spendLimit && teamBudget(team.name, team.spendLimit, this.#now)),
    }));
  }

  accounts({ limit, cursor }: PageQuery): Listed<CreditsView> {
    const named = this.#options.configured.accounts().sort((a, b) => a.name < b.name ? -1 : 1);
    return pageOf(named, { limit, cursor }, ({ name, credits }) => ({
      account: name,
      unlimited: credits === null,
      granted: credits === null ? null : formatAmount(credits),
      added: null,
      spent: null,
      balance: null,
      lease: this.#lease(accountBudget(name)),
    }));
  }

  tokens({ limit, cursor }: PageQuery): Listed<TokenView> {
    return pageOf(this.#options.tokens.known(), { limit, cursor }, tokenView);
  }

  generations(query: GenerationQuery): Listed<GenerationView> {
    const limit = pageSize(query.limit, PAGE);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    const { from, to } = spanOf(query);
    const traits = traitsOf(query);
    const is = (wanted: string | undefined, ...found: string[]) =>
      wanted === undefined || found.includes(wanted);
    const all = this.calls();
    const found = all.filter((g) =>
      is(query.key, g.key, g.keyId, this.#nameOf(g.keyId)) && is(query.model, g.model) &&
      is(query.account, g.account) &&
      is(query.session, g.session ?? "") && (from === null || g.created >= from) &&
      (to === null || g.created < to) && (traits === null || hasTraits(g, traits)) &&
      (after === null || g.created < after.created || (g.created === after.created && g.id < after.id))
    );
    return {
      data: found.slice(0, limit).map(generationView),
      next_cursor: found.length > limit ? encodeCursor(found[limit - 1]) : null,
      store: AWAY,
      since: isoOf(all.at(-1)?.created ?? null),
    };
  }

  /** Null: unknown to this process. */
  generation(id: string): GenerationView & Partial<GenerationDetails> | null {
    const g = this.calls().find((one) => one.id === id);
    if (g === undefined) return null;
    if (this.#options.member !== undefined) return generationView(g);
    return { ...generationView(g), steps: stepsView(g), prices: [], findings: [] };
  }

  /** Sums of the calls in memory only: `since` is the time of the oldest. */
  usage(query: UsageQuery): Listed<UsageView> {
    const by = dimensionsOf(query.by);
    const { from, to } = spanOf(query);
    const all = this.calls();
    const within = all.filter(({ created }) =>
      (from === null || created >= from) && (to === null || created < to)
    );
    return { ...pageOf(knownSums(within, by), query, usageView), since: isoOf(all.at(-1)?.created ?? null) };
  }

  /** Unwritten entries of this process. */
  auditEntries(query: AuditQuery): Listed<AuditView> {
    const limit = pageSize(query.limit, PAGE);
    const kind = auditKindOf(query.kind);
    const { from, to } = spanOf(query);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    const { waiting } = this.#options.audit;
    const found = waiting.toReversed().filter((entry) =>
      (kind === undefined || entry.kind === kind) &&
      (query.key === undefined || query.key === entry.key || query.key === entry.keyId) &&
      (from === null || entry.created >= from) && (to === null || entry.created < to) &&
      (after === null || entry.created < after.created ||
        (entry.created === after.created && entry.id < after.id))
    );
    return {
      data: found.slice(0, limit).map(auditView),
      next_cursor: found.length > limit ? encodeCursor(found[limit - 1]) : null,
      store: AWAY,
      since: isoOf(waiting[0]?.created ?? null),
    };
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** The present name of a key; empty: unknown. */
  #nameOf(keyId: string): string {
    return this.#options.keyring.state(keyId)?.name ?? "";
  }

  #isSeen({ member }: { member: string | null }): boolean {
    return this.#options.member === undefined || member === this.#options.member;
  }

  /** By key id. */
  #lastUses(): Map<string, number> {
    return new Map(this.calls().toReversed().map(({ keyId, created }) => [keyId, created]));
  }

  #keyReport(state: KeyState, used: ReadonlyMap<string, number>): KeyReport {
    return {
      ...keyView(state),
      spend: null,
      last_used: isoOf(used.get(state.id) ?? null),
      lease: this.#lease(state.spendLimit && keyBudget(state.id, state.spendLimit, this.#now)),
    };
  }

  #lease(budget: BudgetRef | null): LeaseView | null {
    const lease = budget === null ? undefined : this.#options.sync.leases.get(budget.id);
    if (lease === undefined) return null;
    return {
      granted: formatAmount(lease.granted),
      used: formatAmount(lease.used),
      reserved: formatAmount(lease.reserved),
    };
  }

  /** Newest first: calls that ended recently, and those waiting for the store. */
  calls(): Generation[] {
    const { recent, sync, keyring, member } = this.#options;
    const byId = new Map(recent().map((g) => [g.id, g]));
    for (const { id, json } of sync.waiting(MOST_WAITING)) if (!byId.has(id)) byId.set(id, decodeJson(json));
    const all = [...byId.values()].filter(({ keyId }) =>
      member === undefined || keyring.state(keyId)?.member === member
    );
    return all.sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
  }
}

function pageOf<Row, View>(
  all: readonly Row[],
  { limit, cursor }: PageQuery,
  view: (row: Row) => View,
): Listed<View> {
  const size = pageSize(limit, LARGEST_PAGE);
  // Cursors of lists from the store are not valid here.
  if (cursor !== undefined && !isOffset(cursor)) {
    throw invalid("cursor", "the store, which this page is of, is away: begin anew");
  }
  const skip = cursor === undefined ? 0 : decodeOffset(cursor);
  return {
    data: all.slice(skip, skip + size).map(view),
    next_cursor: all.length > skip + size ? encodeOffset(skip + size) : null,
    store: AWAY,
  };
}
