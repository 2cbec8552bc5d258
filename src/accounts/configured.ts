/** What the configuration says of keys, accounts and policies; all of it may change while running. */
import type { AccountDeclaration } from "../store/mod.ts";
import type { ConfigAccount, ConfigKey } from "./config.ts";
import type { KeyState } from "./key_state.ts";
import type { AccessPolicy } from "./types.ts";

export interface AccountsConfig {
  keys: readonly ConfigKey[];
  accounts: readonly ConfigAccount[];
  accessPolicies: readonly AccessPolicy[];
  /** Price of one executed search, as a decimal string. */
  searchPrice?: string;
}

export class Configured {
  #config: AccountsConfig;
  /** Null: never runs out. */
  #credits: ReadonlyMap<string, bigint | null>;

  constructor(config: AccountsConfig) {
    this.#config = config;
    this.#credits = creditsOf(config);
  }

  get config(): AccountsConfig {
    return this.#config;
  }

  replace(config: AccountsConfig): void {
    this.#config = config;
    this.#credits = creditsOf(config);
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

  /** In the order of the secrets. Policies are resolved by the keyring. */
  keys(): KeyState[] {
    return this.#config.keys.map(stateOfConfigured);
  }

  secrets(): string[] {
    return this.#config.keys.map((key) => key.secret);
  }
}

/** Keys need an account even where nobody has thought of accounts. */
function creditsOf({ accounts }: AccountsConfig): Map<string, bigint | null> {
  return new Map([["default", null], ...accounts.map(({ name, credits }) => [name, credits] as const)]);
}

function stateOfConfigured(configured: ConfigKey): KeyState {
  const { name, account, dlpPolicy, models } = configured;
  return {
    key: Object.freeze({
      id: `key_config_${name}`,
      name,
      account,
      accessPolicy: null,
      dlpPolicy,
      models,
      team: null,
    }),
    source: "config",
    accessPolicyName: configured.accessPolicy,
    spendLimit: configured.spendLimit,
    requestsPerMinute: configured.requestsPerMinute,
    tokensPerMinute: configured.tokensPerMinute,
    created: null,
    expiresAt: configured.expiresAt,
    revokedAt: null,
  };
}
