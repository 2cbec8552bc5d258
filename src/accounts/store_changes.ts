/** What other processes changed in the store, taken in by revision: keys, and credits of accounts. */
import type { Store } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import type { Keyring } from "./keyring.ts";
import type { LeaseTable } from "./lease_table.ts";

export interface StoreChangesOptions {
  store: Store;
  clock: Clock;
  keyring: Keyring;
  leases: LeaseTable;
}

export class StoreChanges {
  readonly #options: StoreChangesOptions;
  #rev = 0;

  constructor(options: StoreChangesOptions) {
    this.#options = options;
    this.#heardAt = options.clock.now();
  }

  #heardAt: number;

  /** How long ago the store was heard of. */
  get age(): number {
    return Math.abs(this.#options.clock.now() - this.#heardAt);
  }

  /** What the next pull will be, while one is under way: whoever asks meanwhile joins it. */
  #next: Promise<void> | null = null;
  #current: Promise<void> = Promise.resolve();

  /** One after the other: an answer that is older than one taken in already would undo it. */
  pull(): Promise<void> {
    if (this.#next !== null) return this.#next;
    const next = this.#current.then(() => {
      this.#next = null;
      return this.#pull();
    });
    this.#next = next;
    this.#current = next.catch(() => {});
    return next;
  }

  async #pull(): Promise<void> {
    const { store, clock, keyring, leases } = this.#options;
    const changes = await store.changesSince(this.#rev);
    this.#rev = changes.rev;
    keyring.learn(changes.keys);
    this.#heardAt = clock.now();
    for (const lease of leases.all()) {
      if (lease.kind === "credits" && changes.accounts.includes(lease.budget.owner)) lease.forgetAnswers();
    }
  }
}
