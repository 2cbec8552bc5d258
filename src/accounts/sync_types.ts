/** What the transactions between a node and the store need, and what one of them contains. */
import type { BudgetWarning, Store, WebhookRef } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import type { Lease } from "./budgets/lease.ts";
import type { LeaseWaiters } from "./budgets/lease_waiters.ts";
import type { OutboxEntry } from "./journal/outbox.ts";
import type { RunningChanges } from "./journal/running_report.ts";

export interface StoreSyncOptions {
  store: Store;
  node: string;
  clock: Clock;
  warn(message: string): void;
  /** Also reports running generations to the store: for a node without a journal. */
  reportRunning: boolean;
  /** False: nothing may be written, since the database may belong to another gateway; absent: true. */
  allowed?(): boolean;
  granted(): void;
  /** This node has been registered again after it had been removed as dead. */
  rejoined?(): void;
  /** Webhooks to notify when budgets are used up. */
  webhooks?(): readonly WebhookRef[];
  /** Budgets have reached a percentage of their limit. */
  warned?(warnings: readonly BudgetWarning[]): void;
}

/** The contents of one transaction, to be put back if it fails. */
export interface SyncRound {
  batch: readonly OutboxEntry[];
  /** Costs of the batch by lease. */
  charges: ReadonlyMap<Lease, bigint>;
  renewing: readonly Lease[];
  dropped: readonly string[];
  exhausted: readonly Lease[];
  waiters: LeaseWaiters;
  running: RunningChanges;
}
