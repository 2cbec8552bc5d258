/** A key with what limits it, of either source. */
import type { StoredKey } from "../store/mod.ts";
import type { Period } from "./period.ts";
import type { AccessPolicy, Key } from "./types.ts";

export interface KeyState {
  key: Key;
  source: "config" | "store";
  accessPolicyName: string | null;
  spendLimit: { amount: bigint; period: Period } | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  created: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
}

/** Access policies by name; a name that is missing must refuse every call. */
export class PolicyTable {
  readonly #policies: ReadonlyMap<string, AccessPolicy>;

  constructor(policies: readonly AccessPolicy[]) {
    this.#policies = new Map(policies.map((policy) => [policy.name, policy]));
  }

  resolve(name: string | null): Key["accessPolicy"] {
    return name === null ? null : this.#policies.get(name) ?? "missing";
  }
}

export function stateOfStored(stored: StoredKey, policies: PolicyTable): KeyState {
  return {
    key: Object.freeze({
      id: stored.id,
      name: stored.name,
      account: stored.account,
      accessPolicy: policies.resolve(stored.accessPolicy),
      dlpPolicy: stored.dlpPolicy,
      models: stored.models,
      team: null,
    }),
    source: "store",
    accessPolicyName: stored.accessPolicy,
    spendLimit: stored.spendLimit,
    requestsPerMinute: stored.requestsPerMinute,
    tokensPerMinute: stored.tokensPerMinute,
    created: stored.created,
    expiresAt: stored.expiresAt,
    revokedAt: stored.revokedAt,
  };
}

/** The inverse of {@link stateOfStored}. */
export function storedOf(state: KeyState): StoredKey {
  const { key } = state;
  return {
    id: key.id,
    name: key.name,
    account: key.account,
    accessPolicy: state.accessPolicyName,
    dlpPolicy: key.dlpPolicy,
    models: key.models,
    spendLimit: state.spendLimit,
    requestsPerMinute: state.requestsPerMinute,
    tokensPerMinute: state.tokensPerMinute,
    created: state.created ?? 0,
    expiresAt: state.expiresAt,
    revokedAt: state.revokedAt,
  };
}

export function withPolicy(state: KeyState, policies: PolicyTable): KeyState {
  if (state.accessPolicyName === null) return state;
  const accessPolicy = policies.resolve(state.accessPolicyName);
  return { ...state, key: Object.freeze({ ...state.key, accessPolicy }) };
}
