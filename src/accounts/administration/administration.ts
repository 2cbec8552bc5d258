/**
 * What an operator does: make, change, rotate and revoke keys, add credits, read usage and generations.
 *
 * Answers are in the shapes of the administration API: snake case, money as decimal strings, times in ISO 8601. A list is
 * `{data, next_cursor}`, newest first.
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
  /** True: the store has been reached, has its tables, and belongs to this gateway. */
  storePrepared(): boolean;
  /** True: while the store is away, the answer is what this process knows by itself. */
  tellsWhatIsKnown: boolean;
}

/** The administration as one call sees it: what it changes goes into that call's trail. */
export type OpenAdministration = (trail: Trail) => Administration;
