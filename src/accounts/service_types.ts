/** What the accounts are opened with, and what they offer. */
import type { BudgetWarning, ClosedBreaker, Generation, Store } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import type { AdminTokens } from "./keys/admin_tokens.ts";
import type { Administration, OpenAdministration } from "./administration/administration.ts";
import type { AccountsConfig } from "./configured.ts";
import type { ConsoleSessions } from "./keys/console_sessions.ts";
import type { EndedSessions } from "./keys/ended_sessions.ts";
import type { Trail, TrailOptions } from "./administration/trail.ts";
import type { Accounts } from "./types.ts";
import type { DeliveryOutcome, EventReceiver } from "./webhooks.ts";

export interface AccountsOptions {
  store: Store;
  config: AccountsConfig;
  clock: Clock;
  log: { info(message: string): void; warn(message: string): void };
  /** What hashes of secrets are keyed with. Absent: made on first start and kept beside the store. */
  pepper?: string;
  /** Days that generations are kept; their sums by day stay. */
  retentionDays?: number;
  /** The most that records waiting for the store may take, here and in the journal. */
  outboxBytes?: number;
  /** How long keys of the store are trusted after the store was last heard of. */
  offlineMs?: number;
  /** A reservation is given back when its call has not ended after this long. */
  reservationMs?: number;
  /** How long a call may wait for budget that other nodes hold, or for a slow store. */
  waitMs?: number;
  /** Budgets have reached a share of their limit. */
  warned?(warnings: readonly BudgetWarning[]): void;
  /** A webhook has been told of an event, or could not be. */
  told?(outcome: DeliveryOutcome): void;
  /** An administrator has closed circuit breakers, here or on another node. */
  breakersClosed?(closed: readonly ClosedBreaker[]): void;
  /** What the process says of itself to others that share the store. */
  about?(): unknown;
  /** Told of each generation that ended here, once it has its record. */
  recorded?(generation: Generation): void;
  /** False: {@link AccountsService.tick} is called by someone else. */
  ticking?: boolean;
}

export interface AccountsService extends Accounts, Administration {
  /** The administration for one call. */
  administration: OpenAdministration;
  /** What a call of this principal leaves in the audit log. */
  trail(of: Omit<TrailOptions, "audit">): Trail;
  /** Whether there is such a team. */
  isTeam(name: string): boolean;
  /** 32 bytes that are the same on every node, for one purpose. Throws `service_unavailable` while they are not known. */
  derivedKey(purpose: string): Uint8Array;
  /** Tokens of the administration. */
  tokens: Pick<AdminTokens, "authenticate" | "isGood">;
  /** Sessions of the console that have been ended before their time. */
  endedSessions: EndedSessions;
  /** Those that last. */
  consoleSessions: Pick<ConsoleSessions, "began" | "renewed">;
  /** This process among those that share the store. */
  readonly node: string;
  /** A key for a purpose that only gateways over this store can make; null: the store has not been reached yet. */
  keyFor(purpose: string): Uint8Array | null;
  /** Who is told of events that others put into the outbox. */
  tellAlso(receivers: readonly EventReceiver[]): void;
  /** There is something in the outbox. */
  wakeOutbox(): void;
  /** False: the store is away, and what is not known here is answered with 503. */
  storeUp(): boolean;
  /** Why this gateway must not use the database that it has; null: it may. */
  refusal(): string | null;
  /** Records that are not in the store yet. */
  pendingCount(): number;
  /** Lines of journals that could not be read, and were set aside. */
  damagedLines(): number;
  /** Tells the other nodes anew what this one says of itself. */
  announce(): Promise<void>;
  /** What each node that is not gone says of itself; null: nothing. Rejects with `StoreUnavailable`. */
  nodes(): Promise<{ node: string; self: boolean; about: unknown }[]>;
  /** Takes a new configuration, or none of it when the store cannot be told. */
  reload(config: AccountsConfig): Promise<void>;
  /** One turn of the maintenance: hears what changed, sends a heartbeat, takes over from dead nodes. */
  tick(): Promise<void>;
  /** Resolves when every record that exists now is in the store; rejects while that is away. */
  flush(): Promise<void>;
  /** Delivers what is pending, gives budgets back, closes the store. */
  close(): Promise<void>;
}
