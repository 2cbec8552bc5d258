/**
 * The words of accounts: keys, what a call asks for, what it is given.
 *
 * The pipeline calls `authenticate`, then `admit` once a model is chosen, and then exactly one of the two ends of the
 * reservation. Admission waits for the end of a turn of the event loop at most, unless the store has to be asked for more
 * of a budget; settlement too, unless there is no disk and the store has to make the record durable.
 */
import type { FailureCode } from "../exchange/failure.ts";
import type { GenerationEnd, GenerationStart } from "../exchange/generation.ts";
import type { Usage } from "../exchange/usage.ts";
import type { AuditKind } from "../store/mod.ts";
import type { Estimate, Prices } from "./budgets/money.ts";

/** Patterns over catalog ids: `mistral/*`. A deny wins over an allow. */
export interface AccessPolicy {
  name: string;
  allow: readonly string[];
  deny: readonly string[];
  /** What calls under it ask and are answered is kept in the payload log. */
  payloads?: boolean;
}

/** Which models may be seen and used, and what prompts are screened by. */
export interface Rights {
  /** Null: none. `missing`: a policy or team that does not exist was named, so calls fail closed. */
  accessPolicy: AccessPolicy | "missing" | null;
  /** Name of a DLP policy, which may not exist; null: none. */
  dlpPolicy: string | null;
  /** Catalog patterns of what is seen; null: all. */
  models: readonly string[] | null;
}

/** One API key, without its secret. Frozen: a change makes a new object. */
export interface Key extends Rights {
  id: string;
  name: string;
  account: string;
  /** Whose rights hold beside the key's own; null: it belongs to none. */
  team: (Rights & { name: string }) | null;
  /** Arguments of tool calls are mended. */
  repair: boolean;
  /** A slow route's request is asked of the next one too. */
  hedge: boolean;
  /** Streams are kept for so long after their end, to be resumed; 0: never. Null: where the request asks for it. */
  resumeMs: number | null;
  /** What its calls ask and are answered is kept in the payload log. */
  payloads: boolean;
}

/** What is told of one event. Never text of a conversation, never a secret. */
export interface AuditEntry {
  kind: AuditKind;
  /** The key that it is about. */
  key: Pick<Key, "id" | "name" | "account"> | null;
  account?: string;
  data: Record<string, unknown>;
}

/** A call that asks to be admitted, with an upper estimate of the tokens that it will use. */
export interface AdmissionRequest extends GenerationStart {
  key: Key;
  prices: Prices;
  estimate: Estimate;
}

/** A call that ended before it was admitted. `model`: empty where it is none of the catalog. */
export interface RefusedCall extends GenerationStart {
  key: Key;
}

/** What is left of the key's rates, for the rate-limit headers. Resets are seconds from now. */
export interface RateState {
  requests?: { limit: number; remaining: number; reset: number };
  tokens?: { limit: number; remaining: number; reset: number };
}

/**
 * What an admitted call may cost, held against every budget that it draws on. Exactly one of `settle` and `release` is
 * called, once; whatever comes after the first is ignored.
 */
export interface Reservation {
  rates: RateState | null;
  /** Output tokens that it covers: fewer than asked for where not so much was left, and the request names no cap. */
  readonly output: number;
  /**
   * Covers what was used so far and what comes next, beyond what was reserved. False: there is no money for it.
   *
   * @param prices the dearest that it can be billed by; absent: those of the admission
   */
  extend(spent: Readonly<Usage>, next: Estimate, prices?: Prices): Promise<boolean>;
  /** Replaces the reservation by the bill and writes the record; durable when it resolves. Never rejects. */
  settle(end: GenerationEnd, prices?: Prices): Promise<void>;
  /**
   * No provider was reached: gives everything back at once, and leaves no record once it resolves. Never rejects.
   *
   * @param errorCode what the call failed with
   */
  release(errorCode?: string): Promise<void>;
}

export interface Accounts {
  /** The key of a secret. Throws `invalid_api_key`, or `service_unavailable` when that cannot be known now. */
  authenticate(secret: string): Key | Promise<Key>;
  /** Whether this is the secret of a key, as far as this process has seen it. */
  isSecret(text: string): boolean;
  /** Tells the audit log. Nobody waits for it. */
  audit(entry: AuditEntry): void;
  /** Whether what the key may spend has any limit. */
  isLimited(key: Key): boolean;
  /** Prices with that of a search filled in where they name none. */
  withSearchPrice(prices: Prices): Prices;
  /** The key's limit of requests a minute; null: it has none. */
  requestsPerMinute(key: Key): number | null;
  /** Reserves. Rejects `insufficient_funds`, `api_key_limit_exceeded`, `provider_rate_limited`, `service_unavailable`. */
  admit(request: AdmissionRequest): Promise<Reservation>;
  /** A call was refused: it leaves no record, and the console counts it as failed. Never throws. */
  refused(call: RefusedCall, code: FailureCode): void;
  /** Rejects as {@link admit} would, and reserves nothing. */
  probe(request: AdmissionRequest): Promise<void>;
}
