/** Options and interface of the accounts. */
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
  /** The key of the hashes of secrets. Absent: created on first start and stored beside or in the store. */
  pepper?: string;
  /** Days for which generations are kept; their daily sums are kept for ever. */
  retentionDays?: number;
  /** Maximum size of records waiting for the store, in memory and in the journal. */
  outboxBytes?: number;
  /** How long keys of the store are trusted after the last contact with it, in milliseconds. */
  offlineMs?: number;
  /** A reservation is released if its call has not ended after this time, in milliseconds. */
  reservationMs?: number;
  /** How long a call may wait for budget held by other nodes, or for a slow store, in milliseconds. */
  waitMs?: number;
  /** Budgets have reached a percentage of their limit. */
  warned?(warnings: readonly BudgetWarning[]): void;
  /** Result of a delivery to a webhook. */
  deliveryEnded?(outcome: DeliveryOutcome): void;
  /** An administrator has closed circuit breakers, on any node. */
  breakersClosed?(closed: readonly ClosedBreaker[]): void;
  /** The process's status, published to others that share the store. */
  about?(): unknown;
  /** Called for each generation that ended here with a record. */
  recorded?(generation: Generation): void;
  /** False: {@link AccountsService.tick} is called by the owner. */
  ticking?: boolean;
}

export interface AccountsService extends Accounts, Administration {
  /** The administration for one request. */
  administration: OpenAdministration;
  /** The audit trail for a request of this principal. */
  trail(of: Omit<TrailOptions, "audit">): Trail;
  /** Whether the team exists. */
  isTeam(name: string): boolean;
  /** A 32-byte key per purpose, the same on every node. Throws `service_unavailable` while it is not known. */
  derivedKey(purpose: string): Uint8Array;
  /** Administration tokens. */
  tokens: Pick<AdminTokens, "authenticate" | "isGood">;
  /** Console sessions that were ended before they expired. */
  endedSessions: EndedSessions;
  /** Active console sessions. */
  consoleSessions: Pick<ConsoleSessions, "began" | "renewed">;
  /** The id of this process among those that share the store. */
  readonly node: string;
  /** A key per purpose that only gateways on this store can compute; null: the store has not been reached yet. */
  keyFor(purpose: string): Uint8Array | null;
  /** Adds receivers of events that other modules write to the outbox. */
  addReceivers(receivers: readonly EventReceiver[]): void;
  /** The outbox has new entries. */
  wakeOutbox(): void;
  /** False: the store is unavailable; requests that need it are answered with 503. */
  storeUp(): boolean;
  /** Why this gateway must not use its database; null: it may. */
  refusal(): string | null;
  /** Number of records that are not in the store yet. */
  pendingCount(): number;
  /** Number of journal lines that could not be parsed, and were set aside. */
  damagedLines(): number;
  /** Publishes this node's status again. */
  announce(): Promise<void>;
  /** The status of each registered node; null: none. Rejects with `StoreUnavailable`. */
  nodes(): Promise<{ node: string; self: boolean; about: unknown }[]>;
  /**
   * Applies a new configuration; nothing of it if the store is unavailable.
   * @param applied called in the step that applies it: no call gets new keys with something else that is old
   */
  reload(config: AccountsConfig, applied?: () => void): Promise<void>;
  /** Reads from the store what other processes have changed. */
  takeChanges(): Promise<void>;
  /** @param notify makes other workers read a change; resolves when they have */
  onOwnChange(notify: () => Promise<unknown>): void;
  /** After a change by an administrator: resolves when the other workers have read it. */
  changed(): Promise<void>;
  /** One turn of the maintenance: reads changes, sends a heartbeat, takes over from dead nodes. */
  tick(): Promise<void>;
  /** Resolves when every record that exists now is in the store; rejects while that is unavailable. */
  flush(): Promise<void>;
  /** Writes pending records, releases leases, closes the store. */
  close(): Promise<void>;
}
