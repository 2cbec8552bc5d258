/**
 * What an operator does: make, change, rotate and revoke keys, add credits, read usage and generations.
 *
 * Answers are in the shapes of the administration API: snake case, money as decimal strings, times in ISO 8601. A list is
 * `{data, next_cursor}`, newest first.
 */
import { Failure, type Mistake } from "../exchange/failure.ts";
import type { Usage } from "../exchange/usage.ts";
import {
  type Generation,
  type GenerationFilter,
  NameTaken,
  type Position,
  type Store,
  type StoredKey,
  StoreUnavailable,
  type UsageSum,
} from "../store/mod.ts";
import type { Keyring, KeyState } from "./keyring.ts";
import type { Key } from "./mod.ts";
import { formatAmount, parseAmount } from "./money.ts";
import { type Period, spanAt } from "./period.ts";
import { newId, newSecret } from "./secrets.ts";
import type { Settler } from "./settler.ts";

export interface KeyInput {
  name: string;
  account?: string;
  access_policy?: string | null;
  dlp_policy?: string | null;
  models?: readonly string[] | null;
  spend_limit?: { amount: string; period: Period } | null;
  rate_limit?: { requests_per_minute?: number | null; tokens_per_minute?: number | null } | null;
  /** ISO 8601. */
  expires_at?: string | null;
}

export interface KeyView {
  id: string;
  name: string;
  /** `config`: the file names it, so only the file changes it. */
  source: "config" | "store";
  account: string;
  access_policy: string | null;
  dlp_policy: string | null;
  models: readonly string[] | null;
  spend_limit: { amount: string; period: Period } | null;
  rate_limit: { requests_per_minute: number | null; tokens_per_minute: number | null } | null;
  created: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

/** What a key may know of itself. */
export interface KeyStatus extends KeyView {
  /** In the current period of the spend limit; in this UTC month where there is none. */
  spend: { amount: string; period: Period; remaining: string | null; reset_at: string | null };
  credits: { unlimited: boolean; balance: string | null };
}

export interface CreditsView {
  account: string;
  unlimited: boolean;
  granted: string | null;
  added: string;
  spent: string;
  balance: string | null;
}

export interface GenerationView {
  id: string;
  created: string;
  key: string;
  key_id: string;
  account: string;
  format: Generation["format"];
  requested_model: string;
  model: string;
  provider: string | null;
  stream: boolean;
  status: Generation["status"];
  error_code: string | null;
  usage: Record<string, number> | null;
  usage_estimated: boolean;
  searches: number;
  cost: string;
  ttft_ms: number | null;
  latency_ms: number;
  client_gone: boolean;
  dlp: { mode: string; findings: number } | null;
}

export interface UsageView {
  /** One of these, as the grouping says. */
  key?: string;
  key_id?: string;
  model?: string;
  day?: string;
  generations: number;
  failed: number;
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  searches: number;
  cost: string;
}

export interface GenerationQuery {
  /** Name or id of a key. */
  key?: string;
  model?: string;
  account?: string;
  /** ISO 8601 or a date. */
  from?: string;
  to?: string;
  limit?: number;
  cursor?: string;
}

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

const PERIODS: readonly string[] = ["day", "week", "month", "total"];
const NAME = /^[^\p{Cc}\p{Cs}]{1,100}$/u;
const FIELDS = new Set([
  "name",
  "account",
  "access_policy",
  "dlp_policy",
  "models",
  "spend_limit",
  "rate_limit",
  "expires_at",
]);
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
      checkFields(input);
      const key: StoredKey = {
        id: newId("key_"),
        name: "",
        account: "default",
        accessPolicy: null,
        dlpPolicy: null,
        models: null,
        spendLimit: null,
        requestsPerMinute: null,
        tokensPerMinute: null,
        created: clock.now(),
        expiresAt: null,
        revokedAt: null,
        ...read(input),
      };
      if (key.name === "") throw invalid("name", "a key needs one");
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
      checkFields(patch);
      const state = await findStored(idOrName);
      const changed = read(patch);
      if (changed.name === "") throw invalid("name", "a key needs one");
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
      if (!NAME.test(account)) throw invalid("name", "expected 1 to 100 printable characters");
      const parsed = typeof amount === "string" ? parseAmount(amount) : null;
      if (parsed === null || parsed === 0n) {
        throw invalid(
          "amount",
          "expected a decimal string of at most 12 places within 9000000, and not zero",
        );
      }
      if (note !== undefined && !/^[^\p{Cc}\p{Cs}]{0,500}$/u.test(note)) {
        throw invalid("note", "expected at most 500 printable characters");
      }
      await store.addCredits(account, { amount: parsed, now: clock.now(), note: note ?? null });
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

function invalid(field: string, message: string): Failure {
  const mistake: Mistake = { type: "value_error", loc: [field], msg: message };
  return new Failure("validation_error", `Cannot read ${field}: ${message}`, {
    param: field,
    errors: [mistake],
  });
}

function checkFields(input: object): void {
  for (const field of Object.keys(input)) {
    if (!FIELDS.has(field)) throw invalid(field, "there is no such field");
  }
}

type Changeable = Omit<StoredKey, "id" | "created" | "revokedAt">;

/** The fields that are there. Input comes from outside, whatever its type says. */
function read(input: Partial<KeyInput>): Partial<Changeable> {
  const key: Partial<Changeable> = {};
  if (input.name !== undefined) key.name = nameOf("name", input.name);
  if (input.account !== undefined) key.account = nameOf("account", input.account);
  if (input.access_policy !== undefined) key.accessPolicy = nameOrNull("access_policy", input.access_policy);
  if (input.dlp_policy !== undefined) key.dlpPolicy = nameOrNull("dlp_policy", input.dlp_policy);
  if (input.models !== undefined) key.models = modelsOf(input.models);
  if (input.spend_limit !== undefined) key.spendLimit = spendLimitOf(input.spend_limit);
  if (input.rate_limit !== undefined) {
    const rates = input.rate_limit ?? {};
    if (typeof rates !== "object") throw invalid("rate_limit", "expected an object or null");
    key.requestsPerMinute = rateOf("rate_limit.requests_per_minute", rates.requests_per_minute);
    key.tokensPerMinute = rateOf("rate_limit.tokens_per_minute", rates.tokens_per_minute);
  }
  if (input.expires_at !== undefined) key.expiresAt = timeOf("expires_at", input.expires_at ?? undefined);
  return key;
}

function nameOf(field: string, value: unknown): string {
  if (typeof value === "string" && NAME.test(value)) return value;
  throw invalid(field, "expected 1 to 100 printable characters");
}

function nameOrNull(field: string, value: unknown): string | null {
  return value === null ? null : nameOf(field, value);
}

function modelsOf(value: unknown): readonly string[] | null {
  if (value === null) return null;
  const fine = Array.isArray(value) && value.length <= 1000 &&
    value.every((v) => typeof v === "string" && /^[!-~]{1,200}$/.test(v));
  if (!fine) throw invalid("models", "expected null or a list of at most 1000 catalog patterns");
  return value;
}

function spendLimitOf(value: unknown): Changeable["spendLimit"] {
  if (value === null) return null;
  const { amount, period } = (typeof value === "object" ? value : {}) as {
    amount?: unknown;
    period?: unknown;
  };
  const parsed = typeof amount === "string" ? parseAmount(amount) : null;
  if (parsed === null || parsed < 0n) {
    throw invalid("spend_limit.amount", "expected a decimal string of at most 12 places, from 0 to 9000000");
  }
  if (typeof period !== "string" || !PERIODS.includes(period)) {
    throw invalid("spend_limit.period", `expected one of ${PERIODS.join(", ")}`);
  }
  return { amount: parsed, period: period as Period };
}

function rateOf(field: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1e12) return value;
  throw invalid(field, "expected null or a whole number from 0 to 1000000000000");
}

function timeOf(field: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const time = typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) throw invalid(field, "expected a date or time as in ISO 8601");
  return time;
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

function viewOf(state: KeyState): KeyView {
  const { key, spendLimit, requestsPerMinute, tokensPerMinute } = state;
  return {
    id: key.id,
    name: key.name,
    source: state.source,
    account: key.account,
    access_policy: state.accessPolicyName,
    dlp_policy: key.dlpPolicy,
    models: key.models,
    spend_limit: spendLimit === null
      ? null
      : { amount: formatAmount(spendLimit.amount), period: spendLimit.period },
    rate_limit: requestsPerMinute === null && tokensPerMinute === null
      ? null
      : { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute },
    created: isoOf(state.created),
    expires_at: isoOf(state.expiresAt),
    revoked_at: isoOf(state.revokedAt),
  };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function generationView(g: Generation): GenerationView {
  return {
    id: g.id,
    created: new Date(g.created).toISOString(),
    key: g.key,
    key_id: g.keyId,
    account: g.account,
    format: g.format,
    requested_model: g.requestedModel,
    model: g.model,
    provider: g.provider,
    stream: g.stream,
    status: g.status,
    error_code: g.errorCode,
    usage: g.usage === null ? null : usageNames(g.usage),
    usage_estimated: g.estimated,
    searches: g.searches,
    cost: formatAmount(g.cost),
    ttft_ms: g.ttftMs,
    latency_ms: g.latencyMs,
    client_gone: g.clientGone,
    dlp: g.dlp,
  };
}

function usageNames(u: Usage): Record<string, number> {
  return {
    input_tokens: u.input,
    cached_tokens: u.cached,
    cache_write_tokens: u.cacheWrite,
    cache_write_1h_tokens: u.cacheWrite1h,
    audio_input_tokens: u.audioInput,
    image_input_tokens: u.imageInput,
    video_input_tokens: u.videoInput,
    output_tokens: u.output,
    reasoning_tokens: u.reasoning,
    audio_output_tokens: u.audioOutput,
    image_output_tokens: u.imageOutput,
  };
}

function usageView(by: "key" | "model" | "day", sum: UsageSum): UsageView {
  const label = by === "key" ? { key: sum.name, key_id: sum.id } : { [by]: sum.id };
  return {
    ...label,
    generations: sum.generations,
    failed: sum.failed,
    input_tokens: sum.input,
    cached_tokens: sum.cached,
    cache_write_tokens: sum.cacheWrite,
    output_tokens: sum.output,
    reasoning_tokens: sum.reasoning,
    searches: sum.searches,
    cost: formatAmount(sum.cost),
  };
}

function encodeCursor({ created, id }: Position): string {
  return btoa(`${created} ${id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeCursor(cursor: string): Position {
  let text = "";
  try {
    text = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    // Said below.
  }
  const match = /^(\d{1,15}) (\S{1,200})$/.exec(text);
  if (match === null) throw invalid("cursor", "expected the next_cursor of an earlier answer");
  return { created: Number(match[1]), id: match[2] };
}
