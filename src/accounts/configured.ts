/** What the configuration says of keys, accounts and policies; all of it may change while running. */
import type { AccountDeclaration, StoredKey } from "../store/mod.ts";
import type { ConfigAccount, ConfigKey, ConfigTeam, ConfigWebhook } from "./config.ts";
import type { Period } from "./budgets/period.ts";
import { Teams } from "./keys/teams.ts";
import type { AccessPolicy } from "./types.ts";

/** What members of teams may make for themselves. */
export interface MemberRules {
  /** Keys that one member may have at once. */
  keys: number;
  /** The most that each of them may spend; null: as the team. */
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

/** Of keys that name none, and whose team names none. */
export const DEFAULT_ACCOUNT = "default";

export class Configured {
  #config!: AccountsConfig;
  /** Null: never runs out. */
  #credits!: ReadonlyMap<string, bigint | null>;
  /** Those of the store are beside those of the configuration. */
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
    this.teams.configure(config.teams ?? []);
  }

  hasAccount(name: string): boolean {
    return this.#credits.has(name);
  }

  isUnlimited(account: string): boolean {
    return this.#credits.get(account) === null;
  }

  /** The account that is there by itself takes no credits from one that a configuration has named. */
  accounts(): AccountDeclaration[] {
    const named = new Set(this.#config.accounts.map((account) => account.name));
    return [...this.#credits].map(([name, credits]) => ({ name, credits, ifNew: !named.has(name) }));
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

/** Keys need an account even where nobody has thought of accounts. */
function creditsOf({ accounts }: AccountsConfig): Map<string, bigint | null> {
  return new Map([[DEFAULT_ACCOUNT, null], ...accounts.map(({ name, credits }) => [name, credits] as const)]);
}

function storedOfConfigured({ secret: _, ...configured }: ConfigKey): StoredKey {
  return {
    ...configured,
    account: configured.account ?? DEFAULT_ACCOUNT,
    id: `key_config_${configured.name}`,
    created: 0,
    revokedAt: null,
    member: null,
  };
}
