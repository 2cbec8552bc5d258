/** Reads of the ledger for operators and key owners: credits, usage, generations. */
import { Failure } from "../../exchange/failure.ts";
import { shownInput } from "../../schema/mistakes.ts";
import {
  accountBudget,
  type AuditFilter,
  type GenerationFilter,
  NameTaken,
  type Store,
  TooManyCredits,
  type UsageSum,
} from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { AuditLog } from "./audit_log.ts";
import {
  type AccountInput,
  auditKindOf,
  type AuditQuery,
  decodeCursor,
  decodeName,
  decodeOffset,
  dimensionsOf,
  encodeCursor,
  encodeName,
  encodeOffset,
  type GenerationQuery,
  invalid,
  LARGEST_PAGE,
  type PageQuery,
  pageSize,
  readAccount,
  readAccountName,
  readCreditAddition,
  readNewAccount,
  spanOf,
  type UsageQuery,
} from "./input.ts";
import type { Keyring } from "../keys/keyring.ts";
import { CONFIG_KEY_ID, type Configured } from "../configured.ts";
import { formatAmount, MOST_CREDITS } from "../budgets/money.ts";
import { spanAt } from "../budgets/period.ts";
import type { Scope } from "../keys/scope.ts";
import type { StoreChanges } from "../store_changes.ts";
import type { StoreSync } from "../store_sync.ts";
import { noSuchTeam } from "./team_administration.ts";
import { type GenerationDetails, generationDetails } from "./generation_details.ts";
import { traitsOf } from "./traits.ts";
import { TeamReports } from "./team_reports.ts";
import type { Key } from "../types.ts";
import {
  type AuditView,
  auditView,
  type CreditsView,
  creditsView,
  type GenerationView,
  generationView,
  type KeyStatus,
  keyView,
  type Listed,
  spendView,
  type TeamView,
  type UsageView,
  usageView,
} from "./views.ts";

export interface ReportsOptions extends Scope {
  store: Store;
  keyring: Keyring;
  sync: StoreSync;
  clock: Clock;
  changes: StoreChanges;
  audit: AuditLog;
  configured: Configured;
}

const PAGE = 50;

export interface UsageList extends Listed<UsageView> {
  /**
   * Records before this time may be missing from the sums: those of an older release are still being
   * aggregated, or there are too many for sums by two labels. Absent: none is missing.
   */
  incomplete_before?: string;
}

/** Each read writes pending records first, so that calls that have just ended are included. */
export class Reports {
  readonly #options: ReportsOptions;

  readonly #teams: TeamReports;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#teams = new TeamReports(options);
  }

  async teams(query: PageQuery = {}): Promise<{ data: TeamView[]; next_cursor: string | null }> {
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const skip = query.cursor === undefined ? 0 : decodeOffset(query.cursor);
    const { sync, changes } = this.#options;
    await Promise.all([sync.flush(), changes.pull()]);
    const { page, more } = await this.#teams.page(skip, limit);
    return { data: page, next_cursor: more ? encodeOffset(skip + limit) : null };
  }

  async team(name: string): Promise<TeamView> {
    const { sync, changes } = this.#options;
    // Another process may have just created or changed the team.
    await Promise.all([sync.flush(), changes.pull()]);
    const found = await this.#teams.one(name);
    if (found !== null) return found;
    throw noSuchTeam();
  }

  async keyStatus(key: Key): Promise<KeyStatus> {
    const { store, keyring, sync, clock } = this.#options;
    const state = keyring.state(key.id);
    if (state === undefined) throw new Failure("not_found", "There is no such key.");
    await sync.flush();
    const now = clock.now();
    const { starts: from, ends: to } = spanAt(state.spendLimit?.period ?? "month", now);
    const span = { from, to: to ?? now, keyId: key.id };
    const incompleteBefore = await store.incompleteBefore(span, key.id);
    const sums = await store.sumUsage({ by: ["key"], from, to, keyId: key.id }, undefined, key.id);
    const spent = sums.reduce((sum, { cost }) => sum + cost, 0n);
    const saved = sums.reduce((sum, { cacheSaved }) => sum + cacheSaved, 0n);
    const { unlimited, balance } = await this.#creditsOf(key.account);
    return {
      ...keyView(state),
      spend: spendView(spent, state.spendLimit, now, incompleteBefore),
      cache_saved: formatAmount(saved),
      team_spend: await this.#teams.spendOf(state.team, key.id),
      credits: { unlimited, balance },
    };
  }

  async credits(account: string): Promise<CreditsView> {
    await this.#options.sync.flush();
    return await this.#creditsOf(account);
  }

  /** Ordered by name. */
  async accounts(query: PageQuery): Promise<{ data: CreditsView[]; next_cursor: string | null }> {
    const { store, sync } = this.#options;
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const after = query.cursor === undefined ? "" : decodeName(query.cursor);
    await sync.flush();
    // One row more than the page, to find out whether there is another page.
    const rows = await store.listAccounts(after, limit + 1);
    const page = rows.slice(0, limit);
    return {
      data: page.map(creditsView),
      next_cursor: rows.length > limit ? encodeName(page[page.length - 1].name) : null,
    };
  }

  async createAccount(input: AccountInput): Promise<CreditsView> {
    const { store, changes, configured } = this.#options;
    const account = readNewAccount(input);
    if (configured.hasAccount(account.name)) throw nameTaken(account.name);
    try {
      await store.insertAccount(account);
    } catch (error) {
      throw error instanceof NameTaken ? nameTaken(account.name) : error;
    }
    await changes.pull();
    return await this.#creditsOf(account.name);
  }

  async #creditsOf(account: string): Promise<CreditsView> {
    const row = await this.#options.store.account(account);
    if (row === null) throw new Failure("not_found", "There is no such account.", { param: "name" });
    return creditsView(row);
  }

  async addCredits(account: string, amount: string, note: string | undefined): Promise<CreditsView> {
    const { store, clock, changes, configured, sync } = this.#options;
    const addition = readCreditAddition({ amount, note });
    const named = readAccount(account);
    const name = await store.account(named) === null ? readAccountName(named) : named;
    try {
      await store.addCredits(name, { ...addition, now: clock.now(), most: MOST_CREDITS });
    } catch (error) {
      if (!(error instanceof TooManyCredits)) throw error;
      throw new Failure(
        "validation_error",
        `Cannot add ${amount}: expected at most ${formatAmount(MOST_CREDITS)} of credits in all, got ${
          formatAmount(error.total)
        }.`,
        { param: "amount" },
      );
    }
    await changes.pull();
    if (!configured.isUnlimited(name)) await sync.reportLimit("credits", accountBudget(name));
    return await this.credits(account);
  }

  async usage(query: UsageQuery): Promise<UsageList> {
    const { store, sync, member } = this.#options;
    const by = dimensionsOf(query.by);
    const limit = query.most ?? pageSize(query.limit, LARGEST_PAGE);
    const skip = query.cursor === undefined ? 0 : decodeOffset(query.cursor);
    const span = spanOf(query);
    await sync.flush();
    const unsummed = await store.incompleteBefore({
      from: span.from ?? 0,
      to: span.to ?? Number.MAX_SAFE_INTEGER,
    });
    const readFrom = query.whole ? null : await store.usageFrom({ by, ...span });
    const incompleteBefore = unsummed === null || readFrom === null
      ? unsummed ?? readFrom
      : Math.max(unsummed, readFrom);
    const from = readFrom ?? span.from;
    // One row more than the page, to find out whether there is another page.
    const sums = await store.sumUsage({ by, ...span, from, member }, { skip, limit: limit + 1 });
    return {
      data: sums.slice(0, limit).map((sum) => usageView(this.#named(sum))),
      next_cursor: sums.length > limit ? encodeOffset(skip + limit) : null,
      ...(incompleteBefore !== null && { incomplete_before: new Date(incompleteBefore).toISOString() }),
    };
  }

  /** A key that was renamed has its present name. */
  #named(sum: UsageSum): UsageSum {
    const { key, keyId } = sum.of;
    if (keyId === undefined) return sum;
    const name = this.#options.keyring.state(keyId)?.name ?? key;
    return name === key ? sum : { ...sum, of: { ...sum.of, key: name } };
  }

  async generations(
    query: GenerationQuery,
  ): Promise<{ data: GenerationView[]; next_cursor: string | null }> {
    const { store, sync } = this.#options;
    const limit = pageSize(query.limit, PAGE);
    const filter = this.#filterOf(query);
    await sync.flush();
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    const traits = traitsOf(query) ?? await this.#boundedBySearch(filter);
    if (traits !== null) {
      const { rows, next } = await store.searchGenerations({ filter, traits }, { after, limit });
      return { data: rows.map(generationView), next_cursor: next === null ? null : encodeCursor(next) };
    }
    // One row more than the page, to find out whether there is another page.
    const rows = await store.listGenerations(filter, { after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      data: page.map(generationView),
      next_cursor: rows.length > limit ? encodeCursor(page[page.length - 1]) : null,
    };
  }

  /**
   * While the sums are incomplete, days without generations are not known, so the number of records read must
   * be bounded as in a search.
   */
  async #boundedBySearch({ key, keyId, account, model, from = 0, to }: GenerationFilter) {
    if (keyId !== undefined || (key ?? account ?? model) === undefined) return null;
    const span = { from, to: to ?? Number.MAX_SAFE_INTEGER };
    return await this.#options.store.incompleteBefore(span) === null ? null : {};
  }

  /** Throws `not_found`; with an owner also for a generation of another key. */
  async generation(id: string, owner: Key | undefined): Promise<GenerationView & Partial<GenerationDetails>> {
    const { store, sync } = this.#options;
    await sync.flush();
    const row = await store.generation(id, owner?.id);
    if (row === null || (owner !== undefined && row.keyId !== owner.id) || !await this.#isSeen(row.keyId)) {
      throw new Failure("not_found", "There is no such generation.", { param: "id" });
    }
    // Routes and search engines are shown to operators only.
    const operates = owner === undefined && this.#options.member === undefined;
    return operates ? await generationDetails(row, store) : generationView(row);
  }

  async audit(query: AuditQuery): Promise<{ data: AuditView[]; next_cursor: string | null }> {
    const { store, audit } = this.#options;
    const limit = pageSize(query.limit, PAGE);
    const { model: _, account: __, session: ___, member: ____, ...span } = this.#filterOf(query);
    const filter: AuditFilter = { kind: auditKindOf(query.kind), ...span };
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    await audit.flush();
    const rows = await store.listAudit(filter, { after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      data: page.map(auditView),
      next_cursor: rows.length > limit ? encodeCursor(page[page.length - 1]) : null,
    };
  }

  async #isSeen(keyId: string): Promise<boolean> {
    const { member, keyring, changes } = this.#options;
    if (member === undefined) return true;
    if (keyring.state(keyId) === undefined) await changes.pull();
    return keyring.state(keyId)?.member === member;
  }

  #filterOf(query: GenerationQuery): GenerationFilter {
    const { from, to } = spanOf(query);
    const filter: GenerationFilter = {
      member: this.#options.member,
      model: query.model,
      account: query.account,
      session: query.session,
      from: from ?? undefined,
      to: to ?? undefined,
    };
    const { key } = query;
    if (key === undefined) return filter;
    if (this.#isId(key)) return { ...filter, keyId: key };
    const named = this.#options.keyring.states().filter(({ name }) => name === key);
    return { ...filter, key, keysNow: named.map(({ id }) => id).toArray() };
  }

  /** A key may be given by id or by name. Keys that have left the configuration file are no longer known. */
  #isId(key: string): boolean {
    const { keyring } = this.#options;
    if (keyring.state(key) !== undefined) return true;
    return key.startsWith(CONFIG_KEY_ID) && !keyring.states().some(({ name }) => name === key);
  }
}

function nameTaken(name: string): Failure {
  return invalid("name", `expected a name that no other account has, got ${shownInput(name, ["name"])}`);
}
