/**
 * Applies changes that other processes made in the store, by revision: keys, teams, credits of accounts,
 * closed breakers.
 */
import type { ClosedBreaker, PeopleChanges, Store, StoredTeam } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import { pause } from "../timing/waits.ts";
import type { Configured } from "./configured.ts";
import type { Keyring } from "./keys/keyring.ts";
import type { LeaseTable } from "./budgets/lease_table.ts";
import type { Teams } from "./keys/teams.ts";

export interface StoreChangesOptions {
  store: Store;
  clock: Clock;
  keyring: Keyring;
  leases: LeaseTable;
  /** Changes of administration tokens and sessions. */
  people(changes: PeopleChanges): void;
  teams: Teams;
  accounts: Pick<Configured, "setUnlimited" | "learnAccounts">;
  /** Somebody is watching calls at these nodes. */
  watches?(nodes: readonly string[]): void;
  /** An administrator has closed these breakers, on any node. */
  breakersClosed?(closed: readonly ClosedBreaker[]): void;
}

/** Keys applied at a time, which takes some milliseconds. */
const KEYS = 500;
const PAUSE_MS = 2;

export class StoreChanges {
  readonly #options: StoreChangesOptions;
  /** The revision that has been applied; null: not all keys have been read. */
  #rev: number | null = null;
  #ended = false;

  constructor(options: StoreChangesOptions) {
    this.#options = options;
    this.#heardAt = options.clock.now();
  }

  #heardAt: number;

  /** Time since the last contact with the store, in milliseconds. */
  get age(): number {
    return Math.abs(this.#options.clock.now() - this.#heardAt);
  }

  /** The next pull, while one is in progress; later callers share it. */
  #next: Promise<void> | null = null;
  #current: Promise<void> = Promise.resolve();

  /** Pulls run one after the other: applying an older answer after a newer one would undo it. */
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

  /**
   * Starts to read everything: the first page at once, the rest (for very many keys) in the background. A key
   * that has not been read yet is looked up in the store.
   */
  async begin(): Promise<void> {
    const { store, people } = this.#options;
    const rev = await store.revision();
    people(await store.peopleSince(0));
    await this.#takeTeamsAndAccounts();
    const last = await this.#takeKeys("");
    if (last === null) this.#rev = rev;
    else {
      const rest = this.#takeAll(rev, last);
      this.#current = rest.catch(() => {});
    }
  }

  async #takeAll(rev: number, from: string): Promise<void> {
    for (let last: string | null = from; last !== null;) {
      // Calls have precedence.
      await pause(PAUSE_MS);
      if (this.#ended) return;
      last = await this.#takeKeys(last);
    }
    // Changes made meanwhile are reported by the next pull.
    this.#rev = rev;
  }

  /** Reads a page of keys; returns the id of the last one, null: no more. */
  async #takeKeys(after: string): Promise<string | null> {
    const { store, clock, keyring } = this.#options;
    const keys = await store.keysBehind(after, KEYS);
    keyring.learn(keys);
    this.#heardAt = clock.now();
    return keys.length < KEYS ? null : keys[keys.length - 1].id;
  }

  /** Before the keys: a key with an unknown team is refused. */
  async #takeTeamsAndAccounts(): Promise<void> {
    const { store, accounts } = this.#options;
    this.#learnTeams(await store.teams());
    accounts.setUnlimited(await store.unlimitedAccounts());
  }

  #learnTeams(changed: readonly StoredTeam[]): void {
    if (changed.length === 0) return;
    const { teams, keyring } = this.#options;
    teams.learn(changed);
    keyring.reviseTeams(new Set(changed.map(({ name }) => name)));
  }

  /** Stops applying changes. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#current;
  }

  async #pull(): Promise<void> {
    const { store, clock, keyring, leases, people, accounts } = this.#options;
    if (this.#rev === null) {
      const rev = await store.revision();
      people(await store.peopleSince(0));
      await this.#takeTeamsAndAccounts();
      for (const lease of leases.all()) if (lease.kind === "credits") lease.askAnew();
      return await this.#takeAll(rev, "");
    }
    const changes = await store.changesSince(this.#rev);
    if (changes.rev < this.#rev) {
      this.#rev = null;
      return await this.#pull();
    }
    this.#rev = changes.rev;
    this.#learnTeams(changes.teams);
    keyring.learn(changes.keys);
    people(changes);
    this.#heardAt = clock.now();
    if (changes.closedBreakers.length > 0) this.#options.breakersClosed?.(changes.closedBreakers);
    if (changes.watches.length > 0) this.#options.watches?.(changes.watches);
    if (changes.accounts.length === 0) return;
    accounts.learnAccounts(changes.accounts);
    const changed = new Set(changes.accounts.map(({ name }) => name));
    for (const lease of leases.all()) {
      if (lease.kind === "credits" && changed.has(lease.budget.owner)) lease.askAnew();
    }
  }
}
