/** Response objects of the administration API: snake case, amounts as decimal strings, times in ISO 8601. */
import type { Usage } from "../../exchange/usage.ts";
import type { AccountRow, AuditRecord, Generation, StoredToken, UsageSum } from "../../store/mod.ts";
import type { KeyState } from "../keys/key_state.ts";
import type { Beginning } from "../ledger.ts";
import { formatAmount } from "../budgets/money.ts";
import { forecast, type Period, spanAt } from "../budgets/period.ts";

export interface KeyView {
  id: string;
  name: string;
  /** `config`: defined in the configuration file, and can only be changed there. */
  source: "config" | "store";
  account: string;
  access_policy: string | null;
  dlp_policy: string | null;
  models: readonly string[] | null;
  spend_limit: { amount: string; period: Period } | null;
  rate_limit: { requests_per_minute: number | null; tokens_per_minute: number | null } | null;
  team: string | null;
  session_limit: { amount: string | null; requests_per_minute: number | null } | null;
  tag_limits: { tag: string; amount: string; period: Period }[];
  repair: boolean;
  hedge: boolean;
  resume_seconds: number | null;
  /** The person who owns the key; null: nobody. */
  member: string | null;
  payloads: boolean;
  created: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

/** A key, its spend in the period of its limit, and the time of its last use. */
export interface KeyReport extends KeyView {
  /** Null: unknown, because the store is unavailable. */
  spend: SpendView | null;
  last_used: string | null;
  /** Present only while the store is unavailable. */
  lease?: LeaseView | null;
}

/** The lease of a budget held by this process; null: none. */
export interface LeaseView {
  granted: string;
  /** Used by calls that ended here and not yet charged by the store. */
  used: string;
  reserved: string;
}

/** A list page. */
export interface Listed<Row> {
  data: Row[];
  next_cursor: string | null;
  /** The rows are from the memory of this process only. */
  store?: "away";
  /** Time of the oldest call in the memory of this process. */
  since?: string | null;
}

export interface SpendView {
  amount: string;
  period: Period;
  remaining: string | null;
  reset_at: string | null;
  /** Expected spend at the end of the period, at the pace so far; null: the period has no end. */
  forecast: string | null;
  /**
   * Usage before this time is missing, because records of an older release are still being aggregated; it
   * does count towards the limit. Null: nothing is missing.
   */
  incomplete_before: string | null;
}

/**
 * @param limit null: none, and the current month is shown
 * @param incompleteBefore as reported by the store
 */
export function spendView(
  spent: bigint,
  limit: { amount: bigint; period: Period } | null,
  now: number,
  incompleteBefore: number | null = null,
): SpendView {
  const period = limit?.period ?? "month";
  const span = spanAt(period, now);
  const left = limit === null ? null : limit.amount - spent;
  const expected = incompleteBefore === null ? forecast(spent, span, now) : null;
  return {
    amount: formatAmount(spent),
    period,
    remaining: left === null ? null : formatAmount(left > 0n ? left : 0n),
    reset_at: isoOf(span.ends),
    forecast: expected === null ? null : formatAmount(expected),
    incomplete_before: isoOf(incompleteBefore),
  };
}

export interface TeamView {
  name: string;
  /** `config`: defined in the configuration file, and can only be changed there. */
  source: "config" | "store";
  account: string | null;
  spend_limit: { amount: string; period: Period } | null;
  models: readonly string[] | null;
  access_policy: string | null;
  dlp_policy: string | null;
  /** Number of active keys. */
  keys: number;
  /** Null: unknown, because the store is unavailable. */
  spend: SpendView | null;
  lease?: LeaseView | null;
}

/** Data that a key can read about itself. */
export interface KeyStatus extends KeyView {
  /** For the current period of the spend limit; without a limit, for the current UTC month. */
  spend: SpendView;
  /** Savings from reading prompt caches in the same period. */
  cache_saved: string;
  /** The same for the key's team; null: no team. */
  team_spend: SpendView | null;
  credits: { unlimited: boolean; balance: string | null };
}

export interface CreditsView {
  account: string;
  unlimited: boolean;
  granted: string | null;
  /** Null: unknown, because the store is unavailable. */
  added: string | null;
  spent: string | null;
  balance: string | null;
  lease?: LeaseView | null;
}

/** Amounts are decimal strings in dollars; null if the account is unlimited. */
export function creditsView({ name, granted, added, spent }: AccountRow): CreditsView {
  return {
    account: name,
    unlimited: granted === null,
    granted: granted === null ? null : formatAmount(granted),
    added: formatAmount(added),
    spent: formatAmount(spent),
    balance: granted === null ? null : formatAmount(granted + added - spent),
  };
}

/** A running call. */
export interface BeginningView {
  id: string;
  created: string;
  key: string;
  key_id: string;
  account: string;
  format: Generation["format"];
  requested_model: string;
  model: string;
  stream: boolean;
  tags: Readonly<Record<string, string>>;
  session: string | null;
  team: string | null;
}

export interface GenerationView extends BeginningView {
  provider: string | null;
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
  price_version: string | null;
  cache_saved: string | null;
  tool_calls: number | null;
  /** How many of these had repaired arguments. */
  repaired: number;
  /** What it would have cost if the caller's own credential had not been used; else null. */
  list_cost: string | null;
}

export interface UsageView {
  /** The dimensions of the grouping. */
  key?: string;
  key_id?: string;
  model?: string;
  day?: string;
  account?: string;
  provider?: string;
  format?: string;
  team?: string;
  session?: string;
  [tag: `tag:${string}`]: string | undefined;
  generations: number;
  failed: number;
  input_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  searches: number;
  cost: string;
  cache_saved: string;
  /** Only if grouped by team, session or tag; null for calls without such a label. */
  tool_calls?: number | null;
  /** Total of all calls; null likewise. */
  latency_ms?: number | null;
}

/** A key without its secret. */
export function keyView(state: KeyState): KeyView {
  const { key, spendLimit, sessionLimit, requestsPerMinute, tokensPerMinute } = state;
  return {
    id: key.id,
    name: key.name,
    source: state.source,
    account: key.account,
    access_policy: state.accessPolicy,
    dlp_policy: key.dlpPolicy,
    models: key.models,
    spend_limit: spendLimit === null
      ? null
      : { amount: formatAmount(spendLimit.amount), period: spendLimit.period },
    rate_limit: requestsPerMinute === null && tokensPerMinute === null
      ? null
      : { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute },
    team: state.team,
    session_limit: sessionLimit === null ? null : {
      amount: sessionLimit.amount === null ? null : formatAmount(sessionLimit.amount),
      requests_per_minute: sessionLimit.requestsPerMinute,
    },
    repair: state.repair,
    hedge: state.hedge,
    resume_seconds: state.resumeMs === null ? null : state.resumeMs / 1000,
    member: state.member,
    payloads: state.payloads,
    tag_limits: state.tagLimits.map((limit) => ({ ...limit, amount: formatAmount(limit.amount) })),
    created: state.source === "config" ? null : isoOf(state.created),
    expires_at: isoOf(state.expiresAt),
    revoked_at: isoOf(state.revokedAt),
  };
}

/** Milliseconds since the epoch as ISO 8601 in UTC. */
export function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** A running call. */
export function beginningView(b: Beginning): BeginningView {
  return {
    id: b.id,
    created: new Date(b.created).toISOString(),
    key: b.key,
    key_id: b.keyId,
    account: b.account,
    format: b.format,
    requested_model: b.requestedModel,
    model: b.model,
    stream: b.stream,
    tags: b.tags ?? {},
    session: b.session,
    team: b.team,
  };
}

/** The record of a completed call. */
export function generationView(g: Generation): GenerationView {
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
    tags: g.tags ?? {},
    session: g.session,
    team: g.team,
    price_version: g.priceVersion,
    cache_saved: g.cacheSaved === null ? null : formatAmount(g.cacheSaved),
    tool_calls: g.toolCalls,
    repaired: g.repaired ?? 0,
    list_cost: g.listCost === null ? null : formatAmount(g.listCost),
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

/** A row of sums, with the dimensions of its grouping. */
export function usageView({ of, ...sum }: UsageSum): UsageView {
  const { keyId, ...label } = of;
  const { labelled } = sum;
  return {
    ...label,
    ...(keyId === undefined ? {} : { key_id: keyId }),
    generations: sum.generations,
    failed: sum.failed,
    input_tokens: sum.input,
    cached_tokens: sum.cached,
    cache_write_tokens: sum.cacheWrite,
    output_tokens: sum.output,
    reasoning_tokens: sum.reasoning,
    searches: sum.searches,
    cost: formatAmount(sum.cost),
    cache_saved: formatAmount(sum.cacheSaved),
    ...(labelled && {
      tool_calls: labelled.toolCalls,
      latency_ms: labelled.latencyMs,
    }),
  };
}

/** An administration token without its secret. */
export interface TokenView {
  id: string;
  name: string;
  role: string;
  created: string | null;
  created_by: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used: string | null;
}

export function tokenView(token: StoredToken): TokenView {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    created: isoOf(token.created),
    created_by: token.createdBy,
    expires_at: isoOf(token.expiresAt),
    revoked_at: isoOf(token.revokedAt),
    last_used: isoOf(token.lastUsed),
  };
}

/** An audit log entry. */
export interface AuditView {
  id: string;
  created: string;
  kind: string;
  key_id: string | null;
  key: string | null;
  account: string | null;
  [more: string]: unknown;
}

/** An audit log entry; fields specific to its kind stand beside the common ones. */
export function auditView({ id, created, kind, keyId, key, account, data }: AuditRecord): AuditView {
  return {
    id,
    created: new Date(created).toISOString(),
    kind,
    key_id: keyId,
    key,
    account,
    ...JSON.parse(data),
  };
}
