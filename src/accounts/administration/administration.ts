/**
 * The administration: manages keys, teams, accounts and tokens; reads usage, generations and the audit log.
 *
 * Results have the form of the administration API: snake case, amounts as decimal strings, times in ISO 8601.
 * A list is `{data, next_cursor}`, newest first.
 */
import type { ClosedBreaker, Store } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Configured } from "../configured.ts";
import type { AdminTokens } from "../keys/admin_tokens.ts";
import type { AuditLog } from "./audit_log.ts";
import type { CallLog } from "../live/call_log.ts";
import type { Concerns } from "./concerns.ts";
import type { ConsoleSessions, SessionQuery, SessionView } from "../keys/console_sessions.ts";
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
import type { Keyring } from "../keys/keyring.ts";
import type { LiveFilter } from "../live/live_events.ts";
import type { UsageList } from "./reports.ts";
import type { Statement, StatementQuery } from "./statement.ts";
import type { Scope } from "../keys/scope.ts";
import type { SpanReader } from "../live/timeline.ts";
import type { StoreChanges } from "../store_changes.ts";
import type { StoreSync } from "../store_sync.ts";
import type { GenerationDetails } from "./generation_details.ts";
import type { Trail } from "./trail.ts";
import type { Key } from "../types.ts";
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
  /** Creates a new secret; the old one expires after this many seconds. */
  rotateKey(
    idOrName: string,
    options?: { overlapSeconds?: number },
  ): Promise<{ key: KeyReport; secret: string }>;
  revokeKey(idOrName: string): Promise<KeyReport>;
  /** Creates an administration token; its secret is returned only here. */
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
  /** Throws while keys refer to the team. Returns the team as it was. */
  removeTeam(name: string): Promise<TeamView>;
  accounts(query?: PageQuery): Promise<Listed<CreditsView>>;
  createAccount(input: AccountInput): Promise<CreditsView>;
  /** A key as used for calls, including its team's rights. Throws `not_found`. */
  keyOf(idOrName: string): Promise<Key>;
  /** Makes every node close its circuit breakers of these routes. */
  closeBreakers(routes: readonly Omit<ClosedBreaker, "closedAt">[]): Promise<void>;
  credits(account: string): Promise<CreditsView>;
  addCredits(account: string, amount: string, options?: { note?: string }): Promise<CreditsView>;
  usage(query: UsageQuery): Promise<UsageList>;
  generations(query: GenerationQuery): Promise<Listed<GenerationView>>;
  /** Usage of an account in one month. Throws `not_found`. */
  statement(query: StatementQuery): Promise<Statement>;
  /** Records in the audit log that the payload of a generation was read. */
  payloadAsked(id: string): Promise<void>;
  /** The machine that stores the payload of a generation in its files; null: none has reported it. */
  payloadPlace(id: string): Promise<string | null>;
  auditEntries(query: AuditQuery): Promise<Listed<AuditView>>;
  /** Throws `not_found`; with `owner` also for a generation of another key. */
  generation(id: string, options?: { owner?: Key }): Promise<GenerationView & Partial<GenerationDetails>>;
  /** Metrics of calls by time span. */
  timeline(): Promise<SpanReader>;
  /** Starts and ends of calls, as server-sent events. */
  watch(options: { filter: LiveFilter; stillMay(): boolean }): Promise<ReadableStream<Uint8Array>>;
  /** Keys and budgets that need attention. */
  concerns(): Promise<Concerns>;
  /** Active console sessions, newest first. */
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
  /** False: the store is unavailable. */
  storeReady(): boolean;
  /** True: the store has been reached, has its tables, and belongs to this gateway. */
  storePrepared(): boolean;
  /** True: while the store is unavailable, reads are answered from the memory of this process. */
  answersFromMemory: boolean;
}

/** The administration for one request; changes are recorded in the request's trail. */
export type OpenAdministration = (trail: Trail) => Administration;
