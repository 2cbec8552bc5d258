/**
 * All keys known to this node, and authentication by secret.
 *
 * A secret that was seen before is found in a map without hashing; V8 hashes strings with a random seed, so
 * the duration reveals nothing about secrets. Any other secret is hashed with the pepper and looked up by
 * hash. If the cache has no such key, the store is asked, and only its answer makes a secret invalid: while
 * it cannot be asked, the answer is `service_unavailable`.
 */
import { Failure } from "../../exchange/failure.ts";
import { sha256Hex } from "../../exchange/hashes.ts";
import { type KeyWithSecrets, type Store, type StoredKey, StoreUnavailable } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import { KeyContext, type KeyState, stateOf } from "./key_state.ts";
import { derive, hashSecret, looksLikeSecret, newPepper } from "./secrets.ts";
import { Teams } from "./teams.ts";
import type { Key } from "../types.ts";

export interface KeyringOptions {
  store: Store;
  clock: Clock;
  /** True: the store cannot be asked. */
  storeDown(): boolean;
  /** True: the cache is too old to trust keys of the store. */
  outdated(): boolean;
}

/** A key found by one of its secrets. Those of revoked keys are not cached. */
interface Credential {
  state: KeyState;
  /** Expiry of the secret. */
  until: number;
}

/**
 * The bounds of two caches. They are not LRU caches, so that a hit needs no write; a dropped entry costs one
 * hash or one query.
 */
const SEEN_SECRETS = 10_000;
const UNKNOWN_HASHES = 10_000;
/** Maximum number of concurrent lookups of unknown secrets; more would flood the store. */
const LOOKUPS = 64;
const RETRY_AFTER = 2;

export class Keyring {
  readonly #options: KeyringOptions;
  /** Secrets of the configuration are known to this process only, so they need no shared pepper. */
  readonly #configPepper = newPepper();
  #pepper: string | null = null;
  #context = new KeyContext([], new Teams());
  /** Keys of the configuration: by id, and by the hash of their secret. */
  #configStates = new Map<string, KeyState>();
  #configured = new Map<string, Credential>();
  /** Keys of the store: as stored, by id, and by the hashes of their secrets. */
  readonly #stored = new Map<string, KeyWithSecrets>();
  readonly #storedStates = new Map<string, KeyState>();
  readonly #byHash = new Map<string, Credential>();
  readonly #seen = new Map<string, Credential>();
  /** Hashes without a key. Consulted only after the maps above, so a key created later is found. */
  readonly #unknown = new Set<string>();
  #lookups = 0;

  constructor(options: KeyringOptions) {
    this.#options = options;
  }

  /** Answers from memory if possible. */
  authenticate(secret: string): Key | Promise<Key> {
    const seen = this.#seen.get(secret);
    if (
      seen !== undefined && this.#options.clock.now() < seen.until &&
      (seen.state.source === "config" || !this.#options.outdated())
    ) {
      return seen.state.key;
    }
    this.#seen.delete(secret);
    if (!looksLikeSecret(secret)) throw invalidKey();
    const configured = this.#configured.get(this.#hashOfConfigured(secret));
    if (configured !== undefined) return this.#accept(secret, configured);
    if (this.#pepper === null) throw notNow();
    const hash = hashSecret(secret, this.#pepper);
    const stored = this.#byHash.get(hash);
    if (stored !== undefined) {
      if (this.#options.outdated()) throw notNow();
      return this.#accept(secret, stored);
    }
    if (this.#unknown.has(hash)) throw invalidKey();
    return this.#lookUp(secret, hash);
  }

  state(keyId: string): KeyState | undefined {
    return this.#configStates.get(keyId) ?? this.#storedStates.get(keyId);
  }

  /** Keys of the configuration. */
  configured(): IterableIterator<KeyState> {
    return this.#configStates.values();
  }

  *states(): Generator<KeyState> {
    yield* this.#configStates.values();
    yield* this.#storedStates.values();
  }

  isSecret(text: string): boolean {
    return this.#seen.has(text) || this.#configured.has(this.#hashOfConfigured(text)) ||
      this.#pepper !== null && this.#byHash.has(hashSecret(text, this.#pepper));
  }

  /** A key with a new and an old secret counts as several. */
  hasSeveral(): boolean {
    return this.#configured.size + this.#byHash.size > 1;
  }

  /** Replaces the keys of the configuration; `secrets` are in the order of `keys`. */
  configure(keys: readonly StoredKey[], secrets: readonly string[], context: KeyContext): void {
    this.#context = context;
    this.#configured = new Map();
    this.#configStates = new Map();
    for (const [i, key] of keys.entries()) {
      const state = stateOf("config", key, context);
      this.#configStates.set(state.key.id, state);
      const until = state.expiresAt ?? Infinity;
      this.#configured.set(this.#hashOfConfigured(secrets[i]), { state, until });
    }
    this.learn([...this.#stored.values()]);
    this.#seen.clear();
  }

  /** Applies changes from the store. */
  learn(keys: readonly KeyWithSecrets[]): void {
    for (const key of keys) {
      // A delayed answer may be older than a change that has been applied.
      if ((this.#stored.get(key.id)?.rev ?? 0) > key.rev) continue;
      for (const { hash } of this.#stored.get(key.id)?.secrets ?? []) this.#byHash.delete(hash);
      this.#stored.set(key.id, key);
      const state = stateOf("store", key, this.#context);
      this.#storedStates.set(key.id, state);
      if (key.revokedAt !== null) continue;
      for (const { hash, expiresAt } of key.secrets) {
        this.#byHash.set(hash, { state, until: Math.min(expiresAt ?? Infinity, key.expiresAt ?? Infinity) });
      }
    }
    if (keys.length > 0) this.#seen.clear();
  }

  /** Updates the keys of changed teams. */
  reviseTeams(names: ReadonlySet<string>): void {
    this.learn([...this.#stored.values()].filter(({ team }) => team !== null && names.has(team)));
  }

  setPepper(pepper: string): void {
    this.#pepper = pepper;
  }

  hash(secret: string): string {
    if (this.#pepper === null) throw notNow();
    return hashSecret(secret, this.#pepper);
  }

  /** A 32-byte key derived from the pepper, different for each purpose. */
  derivedKey(purpose: string): Uint8Array {
    if (this.#pepper === null) throw notNow();
    return derive(this.#pepper, purpose);
  }

  /** Never leaves the process, so no HMAC is needed: for 100,000 keys of a configuration it takes a second more. */
  #hashOfConfigured(secret: string): string {
    return sha256Hex(this.#configPepper + secret);
  }

  #accept(secret: string, credential: Credential): Key {
    const { state, until } = credential;
    if (this.#options.clock.now() >= until) throw invalidKey();
    if (this.#seen.size >= SEEN_SECRETS) this.#seen.delete(this.#seen.keys().next().value!);
    this.#seen.set(secret, credential);
    return state.key;
  }

  async #lookUp(secret: string, hash: string): Promise<Key> {
    if (this.#options.storeDown() || this.#lookups >= LOOKUPS) throw notNow();
    this.#lookups++;
    try {
      const key = await this.#options.store.keyByHash(hash);
      if (key !== null) {
        this.learn([key]);
        const credential = this.#byHash.get(hash);
        if (credential !== undefined) return this.#accept(secret, credential);
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw notNow(error);
      throw error;
    } finally {
      this.#lookups--;
    }
    if (this.#unknown.size >= UNKNOWN_HASHES) this.#unknown.clear();
    this.#unknown.add(hash);
    throw invalidKey();
  }
}

/** The failure for an unknown, revoked or expired key; it does not say which of these. */
export function invalidKey(): Failure {
  return new Failure("invalid_api_key", "The API key is not valid.");
}

function notNow(cause?: unknown): Failure {
  return new Failure("service_unavailable", "Credentials cannot be checked now.", {
    retryAfter: RETRY_AFTER,
    cause,
  });
}
