/**
 * What an operator does: make, change, rotate and revoke keys, add credits, read usage and generations.
 *
 * Answers are in the shapes of the administration API: snake case, money as decimal strings, times in ISO 8601. A list is
 * `{data, next_cursor}`, newest first.
 */
import { Failure } from "../exchange/failure.ts";
import { type ClosedBreaker, type Store, StoreUnavailable } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import type { Configured } from "./configured.ts";
import type { AdminTokens } from "./admin_tokens.ts";
import type { AuditLog } from "./audit_log.ts";
import type {
  AccountInput,
  AuditQuery,
  GenerationQuery,
  KeyInput,
  KeyQuery,
  PageQuery,
  TeamChange,
  TeamInput,
  UsageQuery,
} from "./input.ts";
import { KeyAdministration } from "./key_administration.ts";
import type { Keyring } from "./keyring.ts";
import { memberAdministration } from "./member_administration.ts";
import { Reports, type UsageList } from "./reports.ts";
import { makeStatement, type Statement, type StatementQuery } from "./statement.ts";
import type { Scope } from "./scope.ts";
import type { StoreChanges } from "./store_changes.ts";
import type { StoreSync } from "./store_sync.ts";
import { TeamAdministration } from "./team_administration.ts";
import type { GenerationDetails } from "./generation_details.ts";
import type { Trail } from "./trail.ts";
import type { Key } from "./types.ts";
import type {
  AuditView,
  CreditsView,
  GenerationView,
  KeyReport,
  KeyStatus,
  TeamView,
  TokenView,
} from "./views.ts";

export interface Administration {
  createKey(input: KeyInput): Promise<{ key: KeyReport; secret: string }>;
  listKeys(query?: KeyQuery): Promise<{ data: KeyReport[]; next_cursor: string | null }>;
  /** By id or by name; throws `not_found`. */
  getKey(idOrName: string): Promise<KeyReport>;
  patchKey(idOrName: string, patch: Partial<KeyInput>): Promise<KeyReport>;
  /** A new secret; the old one is good for so many seconds more. */
  rotateKey(
    idOrName: string,
    options?: { overlapSeconds?: number },
  ): Promise<{ key: KeyReport; secret: string }>;
  revokeKey(idOrName: string): Promise<KeyReport>;
  /** A token of the administration, with its secret, this once. */
  createToken(input: unknown): Promise<TokenView & { secret: string }>;
  listTokens(query?: PageQuery): Promise<{ data: TokenView[]; next_cursor: string | null }>;
  /** Throws `not_found`. */
  revokeToken(id: string): Promise<TokenView>;
  keyStatus(key: Key): Promise<KeyStatus>;
  teams(query?: PageQuery): Promise<{ data: TeamView[]; next_cursor: string | null }>;
  /** Throws `not_found`. */
  team(name: string): Promise<TeamView>;
  createTeam(input: TeamInput): Promise<TeamView>;
  changeTeam(name: string, input: TeamChange): Promise<TeamView>;
  /** Throws while keys name it. Answers the team as it was. */
  removeTeam(name: string): Promise<TeamView>;
  accounts(query?: PageQuery): Promise<{ data: CreditsView[]; next_cursor: string | null }>;
  createAccount(input: AccountInput): Promise<CreditsView>;
  /** A key as calls know it: with its rights and its team's. Throws `not_found`. */
  keyOf(idOrName: string): Promise<Key>;
  /** Tells every node to close its breakers of these routes. */
  closeBreakers(routes: readonly Omit<ClosedBreaker, "closedAt">[]): Promise<void>;
  credits(account: string): Promise<CreditsView>;
  addCredits(account: string, amount: string, options?: { note?: string }): Promise<CreditsView>;
  usage(query: UsageQuery): Promise<UsageList>;
  generations(query: GenerationQuery): Promise<{ data: GenerationView[]; next_cursor: string | null }>;
  /** What an account used in a month. Throws `not_found`. */
  statement(query: StatementQuery): Promise<Statement>;
  /** Somebody asks for the payload of a generation: the audit log is told. */
  payloadAsked(id: string): Promise<void>;
  /** The machine that has the payload of a generation in its files; null: none has said so. */
  payloadPlace(id: string): Promise<string | null>;
  auditEntries(query: AuditQuery): Promise<{ data: AuditView[]; next_cursor: string | null }>;
  /** Throws `not_found`; with `owner` also for a generation of another key. */
  generation(id: string, options?: { owner?: Key }): Promise<GenerationView & Partial<GenerationDetails>>;
}

export interface AdministrationOptions extends Scope {
  store: Store;
  keyring: Keyring;
  sync: StoreSync;
  clock: Clock;
  changes: StoreChanges;
  configured: Configured;
  audit: AuditLog;
  tokens: AdminTokens;
}

const RETRY_AFTER = 2;

/** The administration as one call sees it: what it changes goes into that call's trail. */
export type OpenAdministration = (trail: Trail) => Administration;

export function openAdministration(options: AdministrationOptions): OpenAdministration {
  const all = administrationOf(options);
  const { configured } = options;
  return (trail) => {
    const { principal } = trail;
    if (principal.role !== "member") return all(trail);
    // Whoever has no name as a person has no keys: that of nobody is nobody's.
    const own = administrationOf({ ...options, member: principal.member ?? "" })(trail);
    return memberAdministration(own, {
      principal,
      rules: configured.members,
      hasTeam: (name) => configured.teams.get(name) !== undefined,
    });
  };
}

function administrationOf(options: AdministrationOptions): OpenAdministration {
  const keys = new KeyAdministration(options);
  const reports = new Reports(options);
  const { tokens } = options;
  const teams = new TeamAdministration(options);
  return (trail) => ({
    createKey: needingStore(async (input) => {
      const made = await keys.create(input);
      await trail.note({ action: "key.created", key: made.key, fields: input });
      return made;
    }),
    listKeys: needingStore((query = {}) => keys.list(query)),
    getKey: needingStore((idOrName) => keys.get(idOrName)),
    patchKey: needingStore(async (idOrName, patch) => {
      const { before, key } = await keys.patch(idOrName, patch);
      await trail.note({ action: "key.changed", key, fields: patch, before: pick(before, patch) });
      return key;
    }),
    rotateKey: needingStore(async (idOrName, { overlapSeconds = 0 } = {}) => {
      const rotated = await keys.rotate(idOrName, overlapSeconds);
      await trail.note({
        action: "key.rotated",
        key: rotated.key,
        fields: { overlap_seconds: overlapSeconds },
      });
      return rotated;
    }),
    revokeKey: needingStore(async (idOrName) => {
      const key = await keys.revoke(idOrName);
      await trail.note({ action: "key.revoked", key, fields: {} });
      return key;
    }),
    createToken: needingStore((input) => tokens.create(input, trail.principal, trail)),
    listTokens: needingStore((query = {}) => tokens.list(query)),
    revokeToken: needingStore((id) => tokens.revoke(id, trail)),
    keyStatus: needingStore((key) => reports.keyStatus(key)),
    teams: needingStore((query = {}) => reports.teams(query)),
    team: needingStore((name) => reports.team(name)),
    createTeam: needingStore(async (input) => {
      await teams.create(input);
      await trail.note({ action: "team.created", target: input.name, fields: input });
      return await reports.team(input.name);
    }),
    changeTeam: needingStore(async (name, input) => {
      const before = await reports.team(name);
      await teams.change(name, input);
      await trail.note({ action: "team.changed", target: name, fields: input, before: pick(before, input) });
      return await reports.team(name);
    }),
    removeTeam: needingStore(async (name) => {
      const before = await reports.team(name);
      await teams.remove(name);
      await trail.note({ action: "team.removed", target: name, fields: {} });
      return before;
    }),
    keyOf: needingStore((idOrName) => keys.keyOf(idOrName)),
    closeBreakers: needingStore(async (routes) => {
      const closedAt = options.clock.now();
      await options.store.closeBreakers(routes.map((route) => ({ ...route, closedAt })));
      await trail.note({ action: "breakers.closed", fields: { routes } });
    }),
    accounts: needingStore((query = {}) => reports.accounts(query)),
    createAccount: needingStore(async (input) => {
      const credits = await reports.createAccount(input);
      const { account } = credits;
      await trail.note({ action: "account.created", account, fields: input });
      return credits;
    }),
    credits: needingStore((account) => reports.credits(account)),
    addCredits: needingStore(async (account, amount, { note } = {}) => {
      const credits = await reports.addCredits(account, amount, note);
      await trail.note({
        action: "credits.added",
        account,
        fields: { amount, ...(note !== undefined && { note }) },
      });
      return credits;
    }),
    usage: needingStore((query) => reports.usage(query)),
    payloadAsked: (id) => trail.note({ action: "payload.read", fields: { generation: id.slice(0, 64) } }),
    payloadPlace: needingStore((id) => options.store.payloadPlace(id)),
    generations: needingStore((query) => reports.generations(query)),
    statement: needingStore((query) => makeStatement(options, query)),
    auditEntries: needingStore((query) => reports.audit(query)),
    generation: needingStore((id, { owner } = {}) => reports.generation(id, owner)),
  });
}

/** Of a key or a team those fields that a change names. */
function pick(before: object, patch: object): object {
  return Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(patch, name)));
}

/** Everything an operator reads needs the store; while it is away each method says so. */
function needingStore<Args extends unknown[], Result>(
  method: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      throw new Failure("service_unavailable", "The store is unavailable.", {
        retryAfter: RETRY_AFTER,
        cause: error,
      });
    }
  };
}
