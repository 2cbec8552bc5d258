/**
 * Administration tokens: `sk_admin_…`, each with a role. Every node caches all of them and receives changes
 * as for keys; an unknown token is looked up in the store.
 */
import { Failure } from "../../exchange/failure.ts";
import { type Store, type StoredToken, StoreUnavailable } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { PageQuery } from "../administration/input.ts";
import type { Principal, Role } from "./roles.ts";
import { looksLikeToken, newId, newTokenSecret } from "./secrets.ts";
import type { Trail } from "../administration/trail.ts";
import type { TokenView } from "../administration/views.ts";

export interface AdminTokensOptions {
  store: Store;
  clock: Clock;
  /** Throws `service_unavailable` while hashing is not possible. */
  hash(secret: string): string;
  storeDown(): boolean;
  /** True: the cached data is too old to be trusted. */
  outdated(): boolean;
}

/** Maximum number of cached hashes without a token, consulted only after all known ones. */
const MOST_UNKNOWN = 10_000;
/** Maximum number of concurrent lookups of unknown tokens; more would flood the store. */
const MOST_LOOKUPS = 16;
/** Uses within this time are recorded once, in milliseconds. */
const USE_MS = 60_000;
const RETRY_AFTER = 2;

export class AdminTokens {
  readonly #options: AdminTokensOptions;
  readonly #byHash = new Map<string, StoredToken>();
  readonly #byId = new Map<string, StoredToken>();
  readonly #unknown = new Set<string>();
  #lookups = 0;
  readonly #noted = new Map<string, number>();

  constructor(options: AdminTokensOptions) {
    this.#options = options;
  }

  /** Applies changes from the store. */
  learn(tokens: readonly StoredToken[]): void {
    for (const token of tokens) {
      this.#byHash.set(token.hash, token);
      this.#byId.set(token.id, token);
    }
  }

  /**
   * The principal of a token; null: unknown, expired or revoked. Throws `service_unavailable` if that cannot
   * be determined.
   */
  async authenticate(secret: string): Promise<Principal | null> {
    const { hash, outdated } = this.#options;
    if (!looksLikeToken(secret)) return null;
    const hashed = hash(secret);
    const token = this.#byHash.get(hashed) ?? await this.#lookUp(hashed);
    if (token === null || !this.#isGood(token)) return null;
    if (outdated()) throw notNow();
    this.#use(token);
    const { id, name, role } = token;
    return { role: role as Role, name, by: "token", credential: id, member: null, team: null };
  }

  /** Whether the token with this id is still valid. */
  isGood(id: string): boolean {
    const token = this.#byId.get(id);
    return token !== undefined && this.#isGood(token) && !this.#options.outdated();
  }

  /** Whether the text is the secret of a token known to this process. */
  isSecret(text: string): boolean {
    return this.#byHash.size > 0 && looksLikeToken(text) && this.#byHash.has(this.#options.hash(text));
  }

  async create(input: unknown, by: Principal, trail: Trail): Promise<TokenView & { secret: string }> {
    const [{ readNewToken }, { tokenView }] = await Promise.all([
      import("../administration/input.ts"),
      import("../administration/views.ts"),
    ]);
    const { store, clock, hash } = this.#options;
    const { name, role, expiresAt } = readNewToken(input, clock.now());
    const secret = newTokenSecret();
    const token: StoredToken = {
      id: newId("tok_"),
      name,
      role,
      hash: hash(secret),
      created: Math.round(clock.now()),
      createdBy: by.name,
      expiresAt,
      revokedAt: null,
      lastUsed: null,
    };
    await store.insertToken(token);
    this.learn([token]);
    const view = tokenView(token);
    await trail.note({
      action: "token.created",
      target: token.id,
      fields: { name, role, expires_at: view.expires_at },
    });
    return { ...view, secret };
  }

  /** Cached tokens, including ended ones; newest first. */
  known(): StoredToken[] {
    return [...this.#byId.values()].sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
  }

  /** Newest first, including ended ones. */
  async list(query: PageQuery): Promise<{ data: TokenView[]; next_cursor: string | null }> {
    const [input, { tokenView }] = await Promise.all([
      import("../administration/input.ts"),
      import("../administration/views.ts"),
    ]);
    const { decodeCursor, encodeCursor, LARGEST_PAGE, pageSize } = input;
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    // One row more than the page, to find out whether there is another page.
    const tokens = await this.#options.store.listTokens({ after, limit: limit + 1 });
    const page = tokens.slice(0, limit);
    return {
      data: page.map(tokenView),
      next_cursor: tokens.length > limit ? encodeCursor(page[page.length - 1]) : null,
    };
  }

  /** Throws `not_found`. */
  async revoke(id: string, trail: Trail): Promise<TokenView> {
    const { tokenView } = await import("../administration/views.ts");
    const { store, clock } = this.#options;
    const token = await store.revokeToken(id, Math.round(clock.now()));
    if (token === null) throw new Failure("not_found", "There is no such token.", { param: "id" });
    this.learn([token]);
    await trail.note({ action: "token.revoked", target: id, fields: { name: token.name, role: token.role } });
    return tokenView(token);
  }

  #isGood({ expiresAt, revokedAt }: StoredToken): boolean {
    return revokedAt === null && (expiresAt === null || this.#options.clock.now() < expiresAt);
  }

  async #lookUp(hash: string): Promise<StoredToken | null> {
    if (this.#unknown.has(hash)) return null;
    if (this.#options.storeDown() || this.#lookups >= MOST_LOOKUPS) throw notNow();
    let token: StoredToken | null;
    this.#lookups++;
    try {
      token = await this.#options.store.tokenByHash(hash);
    } catch (error) {
      throw error instanceof StoreUnavailable ? notNow(error) : error;
    } finally {
      this.#lookups--;
    }
    if (token !== null) this.learn([token]);
    else {
      if (this.#unknown.size >= MOST_UNKNOWN) this.#unknown.clear();
      this.#unknown.add(hash);
    }
    return token;
  }

  #use({ id }: StoredToken): void {
    const now = Math.round(this.#options.clock.now());
    if (Math.abs(now - (this.#noted.get(id) ?? -Infinity)) < USE_MS) return;
    this.#noted.set(id, now);
    // The next use records it again.
    void this.#options.store.touchToken(id, now).catch(() => this.#noted.delete(id));
  }
}

function notNow(cause?: unknown): Failure {
  return new Failure("service_unavailable", "Tokens cannot be checked now.", {
    retryAfter: RETRY_AFTER,
    cause,
  });
}
