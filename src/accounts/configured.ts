/** Keys, accounts and policies of the configuration; all of them can be reloaded. */
import type { AccountChange, AccountDeclaration, StoredKey } from "../store/mod.ts";
import type { ConfigAccount, ConfigKey, ConfigTeam, ConfigWebhook } from "./config.ts";
import type { Period } from "./budgets/period.ts";
import { Teams } from "./keys/teams.ts";
import type { AccessPolicy } from "./types.ts";

/** What members of teams may create for themselves. */
export interface MemberRules {
  /** Maximum number of keys per member. */
  keys: number;
  /** Maximum spend limit of each key; null: as the team's. */
  spendLimit: { amount: bigint; period: Period } | null;
}

export interface AccountsConfig {
  keys: readonly ConfigKey[];
  accounts: readonly ConfigAccount[];
  accessPolicies: readonly AccessPolicy[];
  teams?: readonly ConfigTeam[];
  webhooks?: readonly ConfigWebhook[];
  members?: MemberRules;
  /** Price of one executed search, as a decimal string. */
  searchPrice?: string;
}

/** The account of keys that name none, and whose team names none. */
export const DEFAULT_ACCOUNT = "default";

/** The ids of keys of the configuration file begin with it. */
export const CONFIG_KEY_ID = "key_config_";

export class Configured {
  #config!: AccountsConfig;
  /** Null: unlimited. */
  #credits!: ReadonlyMap<string, bigint | null>;
  /** Without the implicit default account. */
  #named!: ReadonlySet<string>;
  /** Accounts without a limit in the store; null: not known yet. */
  #unlimitedInStore: Set<string> | null = null;
  /** Teams of the configuration and of the store. */
  readonly teams = new Teams();

  constructor(config: AccountsConfig) {
    this.replace(config);
  }

  get config(): AccountsConfig {
    return this.#config;
  }

  replace(config: AccountsConfig): void {
    this.#config = config;
    this.#credits = creditsOf(config);
    this.#named = new Set(config.accounts.map((account) => account.name));
    this.teams.configure(config.teams ?? []);
  }

  hasAccount(name: string): boolean {
    return this.#credits.has(name);
  }

  /**
   * The configuration takes precedence. The store has the accounts created by administrators, and those of
   * earlier configurations, which keep their credits.
   */
  isUnlimited(account: string): boolean {
    const known = this.#unlimitedInStore;
    return known === null || this.#named.has(account)
      ? this.#credits.get(account) === null
      : known.has(account);
  }

  /** Sets the accounts without a limit in the store. */
  setUnlimited(accounts: readonly string[]): void {
    this.#unlimitedInStore = new Set(accounts);
  }

  /** Applies changes from the store. */
  learnAccounts(changed: readonly AccountChange[]): void {
    for (const { name, unlimited } of changed) {
      if (unlimited) this.#unlimitedInStore?.add(name);
      else this.#unlimitedInStore?.delete(name);
    }
  }

  /** Does not reset the credits of the implicit default account if an earlier configuration named it. */
  accounts(): AccountDeclaration[] {
    return [...this.#credits].map(([name, credits]) => ({ name, credits, ifNew: !this.#named.has(name) }));
  }

  get webhooks(): readonly ConfigWebhook[] {
    return this.#config.webhooks ?? [];
  }

  get members(): MemberRules {
    return this.#config.members ?? { keys: 0, spendLimit: null };
  }

  /** In the order of the secrets. */
  keys(): StoredKey[] {
    return this.#config.keys.map(storedOfConfigured);
  }

  secrets(): string[] {
    return this.#config.keys.map((key) => key.secret);
  }
}

/** The default account always exists. */
function creditsOf({ accounts }: AccountsConfig): Map<string, bigint | null> {
  return new Map([[DEFAULT_ACCOUNT, null], ...accounts.map(({ name, credits }) => [name, credits] as const)]);
}

function storedOfConfigured({ secret: _, ...configured }: ConfigKey): StoredKey {
  return {
    ...configured,
    account: configured.account ?? DEFAULT_ACCOUNT,
    id: CONFIG_KEY_ID + configured.name,
    created: 0,
    revokedAt: null,
    member: null,
  };
}
