/** What other processes changed in the store, taken in by revision: keys, teams, credits of accounts, closed breakers. */
import type { ClosedBreaker, PeopleChanges, Store, StoredTeam } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import { pause } from "../timing/waits.ts";
import type { Keyring } from "./keys/keyring.ts";
import type { LeaseTable } from "./budgets/lease_table.ts";
import type { Teams } from "./keys/teams.ts";

export interface StoreChangesOptions {
  store: Store;
  clock: Clock;
  keyring: Keyring;
  leases: LeaseTable;
  /** Hears of those who administer. */
  people(changes: PeopleChanges): void;
  teams: Teams;
  /** Somebody watches calls at these nodes. */
  watches?(nodes: readonly string[]): void;
  /** An administrator has closed these, here or elsewhere. */
  breakersClosed?(closed: readonly ClosedBreaker[]): void;
}

/** Keys that are taken in at once: some milliseconds of work. */
const KEYS = 500;
const PAUSE_MS = 2;

export class StoreChanges {
  readonly #options: StoreChangesOptions;
  /** What is known; null: not all keys yet. */
  #rev: number | null = null;
  #ended = false;

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

  /**
   * Begins to take in all there is: a first page now, the rest, of a store with very many keys, after what waits for this.
   * A key that has not come yet is found by asking the store.
   */
  async begin(): Promise<void> {
    const { store, people } = this.#options;
    const rev = await store.revision();
    people(await store.peopleSince(0));
    await this.#takeTeams();
    const last = await this.#takeKeys("");
    if (last === null) this.#rev = rev;
    else {
      const rest = this.#takeAll(rev, last);
      this.#current = rest.catch(() => {});
    }
  }

  async #takeAll(rev: number, from: string): Promise<void> {
    for (let last: string | null = from; last !== null;) {
      // Calls come first.
      await pause(PAUSE_MS);
      if (this.#ended) return;
      last = await this.#takeKeys(last);
    }
    // What has changed meanwhile is told again.
    this.#rev = rev;
  }

  /** A page of keys; answers the last one's id, null: there are no more. */
  async #takeKeys(after: string): Promise<string | null> {
    const { store, clock, keyring } = this.#options;
    const keys = await store.keysBehind(after, KEYS);
    keyring.learn(keys);
    this.#heardAt = clock.now();
    return keys.length < KEYS ? null : keys[keys.length - 1].id;
  }

  /** Before the keys: one whose team is not known is refused. */
  async #takeTeams(): Promise<void> {
    this.#learnTeams(await this.#options.store.teams());
  }

  #learnTeams(changed: readonly StoredTeam[]): void {
    if (changed.length === 0) return;
    const { teams, keyring } = this.#options;
    teams.learn(changed);
    keyring.reviseTeams(new Set(changed.map(({ name }) => name)));
  }

  /** Nothing more is taken in. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#current;
  }

  async #pull(): Promise<void> {
    if (this.#rev === null) {
      const rev = await this.#options.store.revision();
      await this.#takeTeams();
      return await this.#takeAll(rev, "");
    }
    const { store, clock, keyring, leases, people } = this.#options;
    const changes = await store.changesSince(this.#rev);
    this.#rev = changes.rev;
    this.#learnTeams(changes.teams);
    keyring.learn(changes.keys);
    people(changes);
    this.#heardAt = clock.now();
    if (changes.closedBreakers.length > 0) this.#options.breakersClosed?.(changes.closedBreakers);
    if (changes.watches.length > 0) this.#options.watches?.(changes.watches);
    for (const lease of leases.all()) {
      if (lease.kind === "credits" && changes.accounts.includes(lease.budget.owner)) lease.askAnew();
    }
  }
}
