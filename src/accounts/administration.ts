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
import type { CallLog } from "./call_log.ts";
import { type Concerns, concerns, concernsOfKeys } from "./concerns.ts";
import type { ConsoleSessions, SessionQuery, SessionView } from "./console_sessions.ts";
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
import { Known } from "./known.ts";
import type { LiveFilter } from "./live_events.ts";
import { memberAdministration } from "./member_administration.ts";
import { Reports, type UsageList } from "./reports.ts";
import { makeStatement, type Statement, type StatementQuery } from "./statement.ts";
import type { Scope } from "./scope.ts";
import type { SpanReader } from "./timeline.ts";
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
  Listed,
  TeamView,
  TokenView,
} from "./views.ts";

export interface Administration {
  createKey(input: KeyInput): Promise<{ key: KeyReport; secret: string }>;
  listKeys(query?: KeyQuery): Promise<Listed<KeyReport>>;
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
  listTokens(query?: PageQuery): Promise<Listed<TokenView>>;
  /** Throws `not_found`. */
  revokeToken(id: string): Promise<TokenView>;
  keyStatus(key: Key): Promise<KeyStatus>;
  teams(query?: PageQuery): Promise<Listed<TeamView>>;
  /** Throws `not_found`. */
  team(name: string): Promise<TeamView>;
  createTeam(input: TeamInput): Promise<TeamView>;
  changeTeam(name: string, input: TeamChange): Promise<TeamView>;
  /** Throws while keys name it. Answers the team as it was. */
  removeTeam(name: string): Promise<TeamView>;
  accounts(query?: PageQuery): Promise<Listed<CreditsView>>;
  createAccount(input: AccountInput): Promise<CreditsView>;
  /** A key as calls know it: with its rights and its team's. Throws `not_found`. */
  keyOf(idOrName: string): Promise<Key>;
  /** Tells every node to close its breakers of these routes. */
  closeBreakers(routes: readonly Omit<ClosedBreaker, "closedAt">[]): Promise<void>;
  credits(account: string): Promise<CreditsView>;
  addCredits(account: string, amount: string, options?: { note?: string }): Promise<CreditsView>;
  usage(query: UsageQuery): Promise<UsageList>;
  generations(query: GenerationQuery): Promise<Listed<GenerationView>>;
  /** What an account used in a month. Throws `not_found`. */
  statement(query: StatementQuery): Promise<Statement>;
  /** Somebody asks for the payload of a generation: the audit log is told. */
  payloadAsked(id: string): Promise<void>;
  /** The machine that has the payload of a generation in its files; null: none has said so. */
  payloadPlace(id: string): Promise<string | null>;
  auditEntries(query: AuditQuery): Promise<Listed<AuditView>>;
  /** Throws `not_found`; with `owner` also for a generation of another key. */
  generation(id: string, options?: { owner?: Key }): Promise<GenerationView & Partial<GenerationDetails>>;
  /** Calls summed up by span of time. */
  timeline(): Promise<SpanReader>;
  /** Calls as they begin and end, as server-sent events. */
  watch(options: { filter: LiveFilter; stillMay(): boolean }): Promise<ReadableStream<Uint8Array>>;
  /** What somebody may have to decide. */
  concerns(): Promise<Concerns>;
  /** Sessions of the console that last, newest first. */
  sessions(query?: SessionQuery): Promise<Listed<SessionView>>;
  /** Throws `not_found`. */
  endSession(id: string): Promise<SessionView>;
  endSessionsOf(member: string): Promise<SessionView[]>;
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
  calls: CallLog;
  sessions: ConsoleSessions;
  /** False: the store cannot be asked. */
  storeReady(): boolean;
  /** True: while the store is away, the answer is what this process knows by itself. */
  tellsWhatIsKnown: boolean;
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
  const { tokens, calls, sessions, member, sync } = options;
  const teams = new TeamAdministration(options);
  const known = new Known({ ...options, recent: () => calls.recent() });
  const reading = <Args extends unknown[], Result>(
    method: (...args: Args) => Promise<Result>,
    knownHere: (...args: Args) => Result | null,
  ) => needingStore(orKnown(method, knownHere, options));
  return (trail) => ({
    createKey: needingStore(async (input) => {
      const made = await keys.create(input);
      await trail.note({ action: "key.created", key: made.key, fields: input });
      return made;
    }),
    listKeys: reading((query = {}) => keys.list(query), (query = {}) => known.keys(query)),
    getKey: reading((idOrName) => keys.get(idOrName), (idOrName) => known.key(idOrName)),
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
    listTokens: reading((query = {}) => tokens.list(query), (query = {}) => known.tokens(query)),
    revokeToken: needingStore((id) => tokens.revoke(id, trail)),
    keyStatus: needingStore((key) => reports.keyStatus(key)),
    teams: reading((query = {}) => reports.teams(query), (query = {}) => known.teams(query)),
    team: reading((name) => reports.team(name), (name) => known.team(name)),
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
    keyOf: reading((idOrName) => keys.keyOf(idOrName), (idOrName) => known.keyState(idOrName)?.key ?? null),
    closeBreakers: needingStore(async (routes) => {
      const closedAt = options.clock.now();
      await options.store.closeBreakers(routes.map((route) => ({ ...route, closedAt })));
      await trail.note({ action: "breakers.closed", fields: { routes } });
    }),
    accounts: reading((query = {}) => reports.accounts(query), (query = {}) => known.accounts(query)),
    createAccount: needingStore(async (input) => {
      const credits = await reports.createAccount(input);
      const { account } = credits;
      await trail.note({ action: "account.created", account, fields: input });
      return credits;
    }),
    credits: reading((account) => reports.credits(account), (account) => known.credits(account)),
    addCredits: needingStore(async (account, amount, { note } = {}) => {
      const credits = await reports.addCredits(account, amount, note);
      await trail.note({
        action: "credits.added",
        account,
        fields: { amount, ...(note !== undefined && { note }) },
      });
      return credits;
    }),
    usage: reading((query) => reports.usage(query), (query) => known.usage(query)),
    payloadAsked: (id) => trail.note({ action: "payload.read", fields: { generation: id.slice(0, 64) } }),
    payloadPlace: needingStore((id) => options.store.payloadPlace(id)),
    generations: reading((query) => reports.generations(query), (query) => known.generations(query)),
    statement: needingStore((query) => makeStatement(options, query)),
    auditEntries: reading((query) => reports.audit(query), (query) => known.auditEntries(query)),
    generation: reading(
      (id, { owner } = {}) => reports.generation(id, owner),
      (id, { owner } = {}) => owner === undefined ? known.generation(id) : null,
    ),
    async timeline() {
      if (member === undefined) return await calls.timeline();
      const { MemberTimeline } = await import("./member_timeline.ts");
      return new MemberTimeline({
        store: options.store,
        member,
        known: () => known.calls(),
        ready: options.storeReady,
        flush: () => sync.flush(),
      });
    },
    watch: async (watched) => (await calls.live()).watch({ ...watched, member }),
    concerns: needingStore(async () => {
      if (member === undefined) return await concerns(options);
      return concernsOfKeys((await keys.list({})).data, options.clock.now());
    }),
    sessions: reading(
      (query = {}) => sessions.list(query, trail.principal.credential),
      (query = {}) => sessions.known(query, trail.principal.credential),
    ),
    endSession: needingStore((id) => sessions.end(id, trail)),
    endSessionsOf: needingStore((person) => sessions.endOf(person, trail)),
  });
}

/** Of a key or a team those fields that a change names. */
function pick(before: object, patch: object): object {
  return Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(patch, name)));
}

/** What the store answers, or what this process knows by itself while it is away; null: nothing. */
function orKnown<Args extends unknown[], Result>(
  method: (...args: Args) => Promise<Result>,
  knownHere: (...args: Args) => Result | null,
  { sync, storeReady, tellsWhatIsKnown }: AdministrationOptions,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const known = () => {
      const found = knownHere(...args);
      if (found !== null) return found;
      throw new StoreUnavailable("It is not known here.");
    };
    if (tellsWhatIsKnown && !storeReady()) return known();
    try {
      return await method(...args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !tellsWhatIsKnown) throw error;
      // It may only be busy with reads.
      const isThere = await sync.connect().then(() => true, () => false);
      if (isThere) throw error;
      return known();
    }
  };
}

/** While the store is away, what needs it says so. */
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
