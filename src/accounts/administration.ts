/**
 * What an operator does: make, change, rotate and revoke keys, add credits, read usage and generations.
 *
 * Answers are in the shapes of the administration API: snake case, money as decimal strings, times in ISO 8601. A list is
 * `{data, next_cursor}`, newest first.
 */
import { Failure } from "../exchange/failure.ts";
import {
  type GenerationFilter,
  NameTaken,
  type Store,
  type StoredKey,
  StoreUnavailable,
} from "../store/mod.ts";
import {
  decodeCursor,
  encodeCursor,
  type GenerationQuery,
  invalid,
  type KeyInput,
  readAccountName,
  readCreditAddition,
  readKeyChange,
  readNewKey,
  timeOf,
} from "./input.ts";
import type { Keyring, KeyState } from "./keyring.ts";
import type { Key } from "./types.ts";
import { formatAmount } from "./money.ts";
import { spanAt } from "./period.ts";
import { newId, newSecret } from "./secrets.ts";
import type { Settler } from "./settler.ts";
import {
  type CreditsView,
  type GenerationView,
  generationView,
  type KeyStatus,
  type KeyView,
  type UsageView,
  usageView,
  viewOf,
} from "./views.ts";

export interface Administration {
  createKey(input: KeyInput): Promise<{ key: KeyView; secret: string }>;
  listKeys(): Promise<KeyView[]>;
  /** By id or by name; throws `not_found`. */
  getKey(idOrName: string): Promise<KeyView>;
  patchKey(idOrName: string, patch: Partial<KeyInput>): Promise<KeyView>;
  /** A new secret; the old one is good for so many seconds more. */
  rotateKey(
    idOrName: string,
    options?: { overlapSeconds?: number },
  ): Promise<{ key: KeyView; secret: string }>;
  revokeKey(idOrName: string): Promise<KeyView>;
  keyStatus(key: Key): Promise<KeyStatus>;
  credits(account: string): Promise<CreditsView>;
  addCredits(account: string, amount: string, options?: { note?: string }): Promise<CreditsView>;
  usage(query: { by: "key" | "model" | "day"; from?: string; to?: string }): Promise<{ data: UsageView[] }>;
  generations(query: GenerationQuery): Promise<{ data: GenerationView[]; next_cursor: string | null }>;
  /** Throws `not_found`; with `owner` also for a generation of another key. */
  generation(id: string, options?: { owner?: Key }): Promise<GenerationView>;
}

export interface AdministrationOptions {
  store: Store;
  ring: Keyring;
  settler: Settler;
  clock: { now(): number };
  /** Hears what changed in the store. */
  learn(): Promise<void>;
  credits(): Map<string, bigint | null>;
}

const PAGE = 50;
const LARGEST_PAGE = 1000;
const RETRY_AFTER = 2;

export function createAdministration(options: AdministrationOptions): Administration {
  const { store, ring, settler, clock } = options;

  /** The store is asked first, so that what another process has changed a moment ago counts. */
  async function find(idOrName: string): Promise<KeyState> {
    await options.learn();
    const byId = ring.state(idOrName);
    if (byId !== undefined) return byId;
    const named = [...ring.states()].filter((s) => s.key.name === idOrName);
    const found = named.find((s) => s.revokedAt === null) ?? named.at(-1);
    if (found === undefined) throw new Failure("not_found", "There is no such key.", { param: "id" });
    return found;
  }

  async function findStored(idOrName: string): Promise<KeyState> {
    const state = await find(idOrName);
    if (state.source === "config") {
      throw invalid("id", "the configuration file names this key; change it there");
    }
    return state;
  }

  async function knownAccount(name: string): Promise<void> {
    if (options.credits().has(name) || await store.account(name) !== null) return;
    throw invalid("account", "there is no such account");
  }

  /** A name of the file is not in the store, which sees to all other names. */
  function freeName(name: string): void {
    for (const { source, key } of ring.states()) {
      if (source === "config" && key.name === name) throw invalid("name", "another key has this name");
    }
  }

  async function save(key: StoredKey): Promise<KeyView> {
    try {
      if (!await store.updateKey(key)) {
        throw new Failure("not_found", "There is no such key.", { param: "id" });
      }
    } catch (error) {
      if (error instanceof NameTaken) throw invalid("name", "another key has this name");
      throw error;
    }
    await options.learn();
    return viewOf(await find(key.id));
  }

  async function creditsOf(account: string): Promise<CreditsView> {
    await settler.flush();
    const row = await store.account(account);
    if (row === null) throw new Failure("not_found", "There is no such account.", { param: "name" });
    const unlimited = row.granted === null;
    return {
      account,
      unlimited,
      granted: row.granted === null ? null : formatAmount(row.granted),
      added: formatAmount(row.added),
      spent: formatAmount(row.spent),
      balance: row.granted === null ? null : formatAmount(row.granted + row.added - row.spent),
    };
  }

  const administration: Administration = {
    async createKey(input) {
      const key: StoredKey = {
        ...readNewKey(input),
        id: newId("key_"),
        created: clock.now(),
        revokedAt: null,
      };
      freeName(key.name);
      await knownAccount(key.account);
      const secret = newSecret();
      try {
        await store.insertKey(key, ring.hash(secret));
      } catch (error) {
        if (error instanceof NameTaken) throw invalid("name", "another key has this name");
        throw error;
      }
      return { key: viewOf(await find(key.id)), secret };
    },

    async listKeys() {
      await options.learn();
      return [...ring.states()].map(viewOf);
    },

    async getKey(idOrName) {
      return viewOf(await find(idOrName));
    },

    async patchKey(idOrName, patch) {
      const changed = readKeyChange(patch);
      const state = await findStored(idOrName);
      if (changed.name !== undefined) freeName(changed.name);
      if (changed.account !== undefined) await knownAccount(changed.account);
      return await save({ ...storedOf(state), ...changed });
    },

    async rotateKey(idOrName, { overlapSeconds = 0 } = {}) {
      if (!Number.isFinite(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > 31_536_000) {
        throw invalid("overlap_seconds", "expected a number from 0 to 31536000");
      }
      const state = await findStored(idOrName);
      if (state.revokedAt !== null) throw invalid("id", "the key is revoked");
      const secret = newSecret();
      const now = clock.now();
      await store.addSecret(state.key.id, {
        hash: ring.hash(secret),
        now,
        until: Math.round(now + overlapSeconds * 1000),
      });
      return { key: viewOf(await find(state.key.id)), secret };
    },

    async revokeKey(idOrName) {
      const state = await findStored(idOrName);
      if (state.revokedAt !== null) return viewOf(state);
      return await save({ ...storedOf(state), revokedAt: clock.now() });
    },

    async keyStatus(key) {
      const state = ring.state(key.id);
      if (state === undefined) throw new Failure("not_found", "There is no such key.");
      await settler.flush();
      const now = clock.now();
      const period = state.spendLimit?.period ?? "month";
      const { starts, ends } = spanAt(period, now);
      const sums = await store.sumUsage({ by: "key", from: starts, to: ends, keyId: key.id });
      const spent = sums.reduce((sum, s) => sum + s.cost, 0n);
      const left = state.spendLimit === null ? null : state.spendLimit.amount - spent;
      const account = await creditsOf(key.account);
      return {
        ...viewOf(state),
        spend: {
          amount: formatAmount(spent),
          period,
          remaining: left === null ? null : formatAmount(left > 0n ? left : 0n),
          reset_at: ends === null ? null : new Date(ends).toISOString(),
        },
        credits: { unlimited: account.unlimited, balance: account.balance },
      };
    },

    credits: creditsOf,

    async addCredits(account, amount, { note } = {}) {
      await store.addCredits(readAccountName(account), {
        ...readCreditAddition({ amount, note }),
        now: clock.now(),
      });
      await options.learn();
      return await creditsOf(account);
    },

    async usage({ by, from, to }) {
      if (by !== "key" && by !== "model" && by !== "day") throw invalid("by", "expected key, model or day");
      await settler.flush();
      const sums = await store.sumUsage({ by, from: timeOf("from", from), to: timeOf("to", to) });
      return { data: sums.map((sum) => usageView(by, sum)) };
    },

    async generations(query) {
      const limit = query.limit ?? PAGE;
      if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE) {
        throw invalid("limit", `expected a whole number from 1 to ${LARGEST_PAGE}`);
      }
      const filter: GenerationFilter = {
        model: query.model,
        account: query.account,
        from: timeOf("from", query.from) ?? undefined,
        to: timeOf("to", query.to) ?? undefined,
      };
      if (query.key !== undefined) {
        if (ring.state(query.key) !== undefined) filter.keyId = query.key;
        else filter.key = query.key;
      }
      await settler.flush();
      const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
      const rows = await store.listGenerations(filter, { after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return {
        data: page.map(generationView),
        next_cursor: rows.length > limit ? encodeCursor(page[page.length - 1]) : null,
      };
    },

    async generation(id, { owner } = {}) {
      await settler.flush();
      const row = await store.generation(id);
      if (row === null || (owner !== undefined && row.keyId !== owner.id)) {
        throw new Failure("not_found", "There is no such generation.", { param: "id" });
      }
      return generationView(row);
    },
  };
  return guarded(administration);
}

/** Everything an operator reads needs the store; while it is away each of these says so. */
function guarded(administration: Administration): Administration {
  const entries = Object.entries(administration).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await (method as (...args: unknown[]) => unknown)(...args);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        throw new Failure("service_unavailable", "The store is unavailable.", {
          retryAfter: RETRY_AFTER,
          cause: error,
        });
      }
    },
  ]);
  return Object.fromEntries(entries) as unknown as Administration;
}

function storedOf(state: KeyState): StoredKey {
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
