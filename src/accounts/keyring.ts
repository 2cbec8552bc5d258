/**
 * Every key this node knows, and whose secret is being shown.
 *
 * A secret that was seen before is found in a map of its own, without hashing; V8 hashes strings with a seed drawn at
 * start, so how long that takes says nothing about secrets. Any other is hashed with the pepper and looked up by hash. What
 * the snapshot does not hold the store is asked for, and only its answer makes a secret wrong: while it cannot be asked,
 * the answer is "not now".
 */
import { Failure } from "../exchange/failure.ts";
import { type KeyWithSecrets, type Store, StoreUnavailable } from "../store/mod.ts";
import type { AccessPolicy, Key } from "./types.ts";
import type { Period } from "./period.ts";
import { hashSecret, looksLikeSecret, newPepper } from "./secrets.ts";

/** A key with what limits it. */
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

export interface Keyring {
  /** Answers from memory where it can. */
  authenticate(secret: string): Key | Promise<Key>;
  state(keyId: string): KeyState | undefined;
  states(): Iterable<KeyState>;
  /** Replaces what the configuration names. */
  configure(keys: readonly KeyState[], secrets: readonly string[], policies: readonly AccessPolicy[]): void;
  /** Takes in what changed in the store. */
  learn(keys: readonly KeyWithSecrets[]): void;
  setPepper(pepper: string): void;
  hash(secret: string): string;
}

export interface KeyringOptions {
  store: Store;
  clock: { now(): number };
  /** True: the store cannot be asked. */
  away(): boolean;
  /** True: the snapshot is too old to trust keys of the store. */
  stale(): boolean;
}

interface Holder {
  state: KeyState;
  /** When this secret ends. */
  until: number;
}

const WARM_SECRETS = 10_000;
const WRONG_HASHES = 10_000;
/** Beyond this many unanswered questions about unknown secrets the store is being flooded. */
const LOOKUPS = 64;
const RETRY_AFTER = 2;

export function createKeyring(options: KeyringOptions): Keyring {
  const { store, clock } = options;
  /** Secrets of the file are known to this process alone, so they need no pepper that others share. */
  const configPepper = newPepper();
  let pepper: string | null = null;
  let policies = new Map<string, AccessPolicy>();
  let configured = new Map<string, Holder>();
  let configStates = new Map<string, KeyState>();
  const stored = new Map<string, KeyWithSecrets>();
  const storedStates = new Map<string, KeyState>();
  const byHash = new Map<string, Holder>();
  const warm = new Map<string, Holder>();
  const wrong = new Set<string>();
  let lookups = 0;

  function authenticate(secret: string): Key | Promise<Key> {
    const known = warm.get(secret);
    if (
      known !== undefined && clock.now() < known.until &&
      (known.state.source === "config" || !options.stale())
    ) {
      return known.state.key;
    }
    warm.delete(secret);
    if (!looksLikeSecret(secret)) throw invalid();
    const holder = configured.get(hashSecret(secret, configPepper));
    if (holder !== undefined) return accept(secret, holder);
    if (pepper === null) throw notNow();
    const hash = hashSecret(secret, pepper);
    const found = byHash.get(hash);
    if (found !== undefined) {
      if (options.stale()) throw notNow();
      return accept(secret, found);
    }
    if (wrong.has(hash)) throw invalid();
    return lookUp(secret, hash);
  }

  function accept(secret: string, holder: Holder): Key {
    if (clock.now() >= holder.until || holder.state.revokedAt !== null) throw invalid();
    if (warm.size >= WARM_SECRETS) warm.delete(warm.keys().next().value!);
    warm.set(secret, holder);
    return holder.state.key;
  }

  async function lookUp(secret: string, hash: string): Promise<Key> {
    if (options.away() || lookups >= LOOKUPS) throw notNow();
    lookups++;
    try {
      const key = await store.keyByHash(hash);
      if (key !== null) {
        learn([key]);
        const holder = byHash.get(hash);
        if (holder !== undefined) return accept(secret, holder);
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw notNow(error);
      throw error;
    } finally {
      lookups--;
    }
    if (wrong.size >= WRONG_HASHES) wrong.clear();
    wrong.add(hash);
    throw invalid();
  }

  function policy(name: string | null): Key["accessPolicy"] {
    return name === null ? null : policies.get(name) ?? "missing";
  }

  function learn(keys: readonly KeyWithSecrets[]): void {
    for (const key of keys) {
      for (const { hash } of stored.get(key.id)?.secrets ?? []) byHash.delete(hash);
      stored.set(key.id, key);
      const state = stateOf(key, policy);
      storedStates.set(key.id, state);
      if (key.revokedAt !== null) continue;
      for (const { hash, expiresAt } of key.secrets) {
        byHash.set(hash, { state, until: Math.min(expiresAt ?? Infinity, key.expiresAt ?? Infinity) });
        wrong.delete(hash);
      }
    }
    if (keys.length > 0) warm.clear();
  }

  return {
    authenticate,
    state: (id) => configStates.get(id) ?? storedStates.get(id),
    *states() {
      yield* configStates.values();
      yield* storedStates.values();
    },
    configure(states, secrets, named) {
      policies = new Map(named.map((p) => [p.name, p]));
      configured = new Map();
      configStates = new Map();
      for (const [i, state] of states.entries()) {
        const resolved = withPolicy(state, policy);
        configStates.set(state.key.id, resolved);
        configured.set(hashSecret(secrets[i], configPepper), {
          state: resolved,
          until: state.expiresAt ?? Infinity,
        });
      }
      learn([...stored.values()]);
      warm.clear();
    },
    learn,
    setPepper(value) {
      pepper = value;
    },
    hash(secret) {
      if (pepper === null) throw notNow();
      return hashSecret(secret, pepper);
    },
  };
}

function invalid(): Failure {
  return new Failure("invalid_api_key", "The API key is not valid.");
}

function notNow(cause?: unknown): Failure {
  return new Failure("service_unavailable", "The API key cannot be checked now.", {
    retryAfter: RETRY_AFTER,
    cause,
  });
}

type Resolve = (name: string | null) => Key["accessPolicy"];

function stateOf(key: KeyWithSecrets, policy: Resolve): KeyState {
  return {
    key: Object.freeze({
      id: key.id,
      name: key.name,
      account: key.account,
      accessPolicy: policy(key.accessPolicy),
      dlpPolicy: key.dlpPolicy,
      models: key.models,
    }),
    source: "store",
    accessPolicyName: key.accessPolicy,
    spendLimit: key.spendLimit,
    requestsPerMinute: key.requestsPerMinute,
    tokensPerMinute: key.tokensPerMinute,
    created: key.created,
    expiresAt: key.expiresAt,
    revokedAt: key.revokedAt,
  };
}

function withPolicy(state: KeyState, policy: Resolve): KeyState {
  if (state.accessPolicyName === null) return state;
  return { ...state, key: Object.freeze({ ...state.key, accessPolicy: policy(state.accessPolicyName) }) };
}
