/**
 * Recovers data of dead processes: records in journals beside the store, running generations, leases.
 *
 * Ended generations are written to the store, running ones are recorded as interrupted, and leases are
 * released once the records are stored.
 */
import { countOf } from "../../exchange/printable.ts";
import {
  decodeRecord,
  encodePresumed,
  encodeRecord,
  type LedgerRecord,
  type RunningGeneration,
  type Store,
} from "../../store/mod.ts";
import type { Journal } from "./journal.ts";
import { learnPrices } from "../budgets/money.ts";
import { decodeBeginning, interruptedGeneration } from "../ledger.ts";
import { adoptOrphans, type Orphan } from "./orphans.ts";
import type { StoreSync } from "../store_sync.ts";

/** Maximum number of lost records named in the log. */
const MOST_NAMED = 100;

export interface RecoveryOptions {
  store: Store;
  sync: StoreSync;
  log: { info(message: string): void; warn(message: string): void };
}

export class Recovery {
  readonly #options: RecoveryOptions;
  /** Journals taken over whose records are still being written to the store. */
  readonly #adopted = new Set<Orphan>();
  /** Nodes whose records are all in the store: their leases are to be released. */
  readonly #delivered = new Set<string>();
  /** Journals of dead processes that used another store. */
  readonly #foreign = new Set<string>();
  /** Journals that cannot be read; each is logged once. */
  readonly #unreadable = new Set<string>();
  /** Calls of dead nodes whose ends are on their way to the store. */
  readonly #presumed = new Set<string>();
  /** Calls of nodes that were not registered at the last search. */
  #missing: ReadonlySet<string> = new Set();
  #damagedLines = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Number of journal lines that could not be parsed. */
  get damagedLines(): number {
    return this.#damagedLines;
  }

  /** Takes over journals of dead processes on this machine; skips those of another store. */
  async adoptJournals(storeId: string): Promise<void> {
    const { store, sync, log } = this.#options;
    if (store.filePrefix === null) return;
    for (
      const orphan of adoptOrphans(
        store.filePrefix,
        sync.node,
        this.#foreign,
        (path) => this.#tellUnreadable(path),
      )
    ) {
      if (orphan.storeId === "" || orphan.storeId === storeId) {
        await this.#takeOver(orphan);
        continue;
      }
      this.#foreign.add(orphan.path);
      orphan.leave();
      const count = orphan.ended.size + orphan.running.size;
      log.warn(
        `The journal ${orphan.path} holds ${
          countOf(count, "generation")
        } of a gateway on another store: start that one again, or ` +
          "remove the file.",
      );
    }
  }

  /** Releases the leases of nodes whose records are all in the store. */
  async removeDelivered(): Promise<void> {
    const nodes = [...this.#delivered];
    await this.#options.store.removeNodes(nodes);
    for (const node of nodes) this.#delivered.delete(node);
  }

  /** Removes nodes whose heartbeat has stopped, and records their running generations. */
  async removeDead(nodes: readonly string[]): Promise<void> {
    this.#presume(await this.#options.store.removeNodes(nodes));
  }

  /**
   * Records what removed nodes had running where the node that removed them could not: it may have died too.
   *
   * Calls count only if their node was missing at the previous search already, because a node that was
   * removed and is alive registers again with its next heartbeat.
   */
  async recordLeft(): Promise<void> {
    const { store, sync } = this.#options;
    const left = (await store.runningOfRemoved()).filter(({ node }) => node !== sync.node);
    this.#presume(left.filter(({ id }) => this.#missing.has(id)));
    this.#missing = new Set(left.map(({ id }) => id));
  }

  #presume(running: readonly RunningGeneration[]): void {
    for (const { id, data } of running) {
      if (this.#presumed.has(id)) continue;
      const delivered = () => {
        this.#presumed.delete(id);
        this.#options.sync.ended(id);
      };
      if (this.#recordInterrupted(data, delivered, true)) this.#presumed.add(id);
    }
  }

  /**
   * Releases journals whose records are not all in the store, for the next process, and logs what remains of
   * this one.
   */
  leave(journal: Journal): void {
    const { sync, log } = this.#options;
    for (const orphan of this.#adopted) orphan.leave();
    const left = countOf(sync.pending, "record");
    if (sync.pending === 0) return;
    if (journal.durable && journal.whole) {
      return log.info(`The next start takes ${left} over from the journal.`);
    }
    const ids = Array.from(sync.waiting(MOST_NAMED), ({ id }) => id).join(", ");
    log.warn(
      `Neither the database nor the journal could take all of ${left}. What is in neither is lost: ${ids}`,
    );
  }

  #tellUnreadable(path: string): void {
    if (this.#unreadable.has(path)) return;
    this.#unreadable.add(path);
    this.#options.log.warn(
      `The journal ${path} cannot be read, and holds records that the database may lack: give this user the right to.`,
    );
  }

  async #takeOver(orphan: Orphan): Promise<void> {
    const { sync, log } = this.#options;
    let left = 1;
    /** The journal is kept and locked until the store has the last of its records. */
    const delivered = () => {
      if (--left > 0) return;
      this.#adopted.delete(orphan);
      orphan.remove();
      if (orphan.node !== "") this.#delivered.add(orphan.node);
    };
    this.#adopted.add(orphan);
    if (orphan.empty) {
      log.warn(
        `The journal ${orphan.path} is empty: what its process had not told the database yet is lost.`,
      );
    }
    for (const prices of orphan.prices) learnPrices(prices);
    const unreadable = [...orphan.damaged];
    for (const [id, { json, begun }] of orphan.ended) {
      const record = readRecord(json);
      if (record !== null) {
        left++;
        const holder = orphan.node === "" ? undefined : orphan.node;
        sync.deliver({ record: { ...record, holder }, leases: [], delivered });
        continue;
      }
      unreadable.push(`= ${id} ${json}`);
      if (begun !== undefined) orphan.running.set(id, begun);
    }
    let interrupted = 0;
    for (const [id, json] of orphan.running) {
      if (this.#recordInterrupted(json, delivered)) interrupted++;
      else unreadable.push(`+ ${id} ${json}`);
    }
    if (unreadable.length > 0) {
      this.#damagedLines += unreadable.length;
      const path = orphan.setAside(unreadable);
      log.warn(
        `The journal of ${orphan.node} has ${
          countOf(unreadable.length, "unreadable line")
        }, set aside in ${path}.`,
      );
    }
    left += interrupted;
    delivered();
    if (interrupted > 0) log.info(`Recording ${countOf(interrupted, "generation")} as interrupted.`);
    await sync.flush();
    await this.removeDelivered();
  }

  /** False: the start could not be parsed. */
  #recordInterrupted(json: string, delivered: () => void, whileRunning = false): boolean {
    const beginning = decodeBeginning(json);
    if (beginning === null) return false;
    const generation = interruptedGeneration(beginning);
    const record = whileRunning ? encodePresumed(generation) : encodeRecord(generation);
    this.#options.sync.deliver({ record, leases: [], delivered });
    return true;
  }
}

/** Null: a truncated line that is not a valid record. */
function readRecord(json: string): LedgerRecord | null {
  try {
    return decodeRecord(json);
  } catch {
    return null;
  }
}
