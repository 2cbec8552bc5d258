/** Records of this node that the store does not have yet. They are also in the journal. */
import type { LedgerRecord, Store } from "../../store/mod.ts";
import type { Lease } from "../budgets/lease.ts";

export interface OutboxEntry {
  readonly record: LedgerRecord;
  /** The leases in which the cost counts as used until the store has charged it. */
  readonly leases: readonly Lease[];
  /** Called once the store has it. */
  delivered(): void;
}

const BATCH = 512;
const NO_IDS: ReadonlySet<string> = new Set();

export class Outbox {
  #waiting: OutboxEntry[] = [];
  /** Records that the store rejects individually. */
  #rejected: OutboxEntry[] = [];
  /** Reduced after a batch was rejected, to find the record that cannot be written. */
  #batchSize = BATCH;

  get size(): number {
    return this.#waiting.length + this.#rejected.length;
  }

  /** The most recent waiting records, newest first. */
  *newest(most: number): Generator<LedgerRecord> {
    const from = Math.max(0, this.#waiting.length - most);
    for (let i = this.#waiting.length - 1; i >= from; i--) yield this.#waiting[i].record;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  hasFullBatch(most: number): boolean {
    return this.#waiting.length >= Math.min(most, this.#batchSize);
  }

  get last(): OutboxEntry | undefined {
    return this.#waiting.at(-1);
  }

  isWaiting(entry: OutboxEntry): boolean {
    return this.#waiting.includes(entry);
  }

  /** Ids of the records that stay here when a batch has been sent. */
  idsAfter(batch: readonly OutboxEntry[]): ReadonlySet<string> {
    if (this.size === batch.length) return NO_IDS;
    const left = [...this.#waiting.slice(batch.length), ...this.#rejected];
    return new Set(left.map(({ record }) => record.id));
  }

  add(entry: OutboxEntry): void {
    this.#waiting.push(entry);
  }

  nextBatch(most: number): OutboxEntry[] {
    return this.#waiting.slice(0, Math.min(most, this.#batchSize));
  }

  /** The store has accepted a batch. */
  remove(batch: readonly OutboxEntry[]): void {
    this.#batchSize = Math.min(BATCH, this.#batchSize * 2);
    this.#waiting = this.#waiting.slice(batch.length);
  }

  /** The store rejected a batch: half of it is tried next; a single rejected record is set aside. */
  refused(batch: readonly OutboxEntry[]): void {
    if (batch.length === 1) this.#rejected.push(this.#waiting.shift()!);
    this.#batchSize = Math.max(1, Math.floor(batch.length / 2));
  }

  /** Tries rejected records again. False: there are none. */
  retryRejected(): boolean {
    if (this.#rejected.length === 0) return false;
    this.#waiting.push(...this.#rejected);
    this.#rejected = [];
    return true;
  }
}

/** Costs of records, by the leases in which they count as used. */
export function chargesOf(batch: readonly OutboxEntry[]): Map<Lease, bigint> {
  const charges = new Map<Lease, bigint>();
  for (const { record, leases } of batch) {
    for (const lease of leases) charges.set(lease, (charges.get(lease) ?? 0n) + record.cost);
  }
  return charges;
}

/** The type of the error with which the store rejected a batch, without its message, which may quote a row. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}

/** The name of a store in log messages: its file, if it has one. */
export function nameOf({ kind, filePrefix }: Pick<Store, "kind" | "filePrefix">): string {
  return kind === "sqlite" && filePrefix !== null ? `The store ${filePrefix}` : "The store";
}
