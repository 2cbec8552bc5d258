/**
 * The interface of the accounts for calls: keys, admission requests, reservations.
 *
 * The pipeline calls `authenticate`, then `admit` once a model is chosen, and then exactly one of the two
 * methods that end the reservation. Admission waits at most for the end of a turn of the event loop, unless
 * the store must be asked for more budget. The same holds for settlement, unless there is no disk and the
 * store must make the record durable.
 */
import type { FailureCode } from "../exchange/failure.ts";
import type { GenerationEnd, GenerationStart } from "../exchange/generation.ts";
import type { Usage } from "../exchange/usage.ts";
import type { AuditKind } from "../store/mod.ts";
import type { Estimate, Prices } from "./budgets/money.ts";

/** Patterns of catalog ids, such as `mistral/*`. A deny takes precedence over an allow. */
export interface AccessPolicy {
  name: string;
  allow: readonly string[];
  deny: readonly string[];
  /** Requests and answers under this policy are stored in the payload log. */
  payloads?: boolean;
}

/** Which models may be listed and used, and how prompts are screened. */
export interface Rights {
  /** Null: none. `missing`: a policy or team that does not exist is referred to, so calls are refused. */
  accessPolicy: AccessPolicy | "missing" | null;
  /** Name of a DLP policy; it may not exist. Null: none. */
  dlpPolicy: string | null;
  /** Catalog patterns of visible models; null: all. */
  models: readonly string[] | null;
}

/** An API key, without its secret. Immutable: a change creates a new object. */
export interface Key extends Rights {
  id: string;
  name: string;
  account: string;
  /** The team, whose rights apply in addition to the key's own; null: none. */
  team: (Rights & { name: string }) | null;
  /** Malformed arguments of tool calls are repaired. */
  repair: boolean;
  /** If a route is slow, the request is also sent to the next one. */
  hedge: boolean;
  /** How long streams can be resumed after their end, in milliseconds; 0: never. Null: as each request asks. */
  resumeMs: number | null;
  /** Requests and answers are stored in the payload log. */
  payloads: boolean;
}

/** Data of one event. Never contains conversation text or a secret. */
export interface AuditEntry {
  kind: AuditKind;
  /** The key that the event is about. */
  key: Pick<Key, "id" | "name" | "account"> | null;
  account?: string;
  data: Record<string, unknown>;
}

/** A request for admission, with an upper estimate of its tokens. */
export interface AdmissionRequest extends GenerationStart {
  key: Key;
  prices: Prices;
  estimate: Estimate;
}

/** A call that ended before admission. `model`: empty if it is not in the catalog. */
export interface RefusedCall extends GenerationStart {
  key: Key;
}

/** The state of the key's rates, for rate limit headers. Resets are in seconds from now. */
export interface RateState {
  requests?: { limit: number; remaining: number; reset: number };
  tokens?: { limit: number; remaining: number; reset: number };
}

/**
 * The possible cost of an admitted call, reserved in every budget that it draws on. Exactly one of `settle`
 * and `release` takes effect; later calls are ignored.
 */
export interface Reservation {
  rates: RateState | null;
  /** Reserved output tokens: fewer than requested if less was left, and the request has no limit of its own. */
  readonly output: number;
  /**
   * Extends the reservation to cover what was used so far and what comes next. False: not enough budget.
   *
   * @param prices the highest prices that may apply; absent: those of the admission
   */
  extend(spent: Readonly<Usage>, next: Estimate, prices?: Prices): Promise<boolean>;
  /**
   * Replaces the reservation by the bill and writes the record, which is durable when this resolves. Never
   * rejects.
   */
  settle(end: GenerationEnd, prices?: Prices): Promise<void>;
  /**
   * No provider was reached: releases everything at once. When it resolves, no record will be written. Never
   * rejects.
   *
   * @param errorCode the failure of the call
   */
  release(errorCode?: string): Promise<void>;
}

export interface Accounts {
  /**
   * The key of a secret. Throws `invalid_api_key`, or `service_unavailable` if that cannot be determined at
   * present.
   */
  authenticate(secret: string): Key | Promise<Key>;
  /** Whether the text is the secret of a key, as far as this process has seen it. */
  isSecret(text: string): boolean;
  /** Whether more than one key can authenticate, as far as this process knows. */
  hasSeveralKeys(): boolean;
  /** Writes to the audit log, without waiting. */
  audit(entry: AuditEntry): void;
  /** Whether any limit applies to what the key may spend. */
  isLimited(key: Key): boolean;
  /** Prices with the search price filled in, if they have none. */
  withSearchPrice(prices: Prices): Prices;
  /** The key's limit of requests per minute; null: none. */
  requestsPerMinute(key: Key): number | null;
  /**
   * Reserves. Rejects with `insufficient_funds`, `api_key_limit_exceeded`, `provider_rate_limited` or
   * `service_unavailable`.
   */
  admit(request: AdmissionRequest): Promise<Reservation>;
  /** A call was refused: it leaves no record, and the console counts it as failed. Never throws. */
  refused(call: RefusedCall, code: FailureCode): void;
  /** Rejects as {@link admit} would, without reserving anything. */
  probe(request: AdmissionRequest): Promise<void>;
}
