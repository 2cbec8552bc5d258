/**
 * Whether and when an attempt is retried.
 *
 * Retries increase the load of an overloaded provider, so there is a retry budget: in any ten seconds at most a tenth of the provider's
 * calls, plus a constant, so that a single failure on a gateway with little traffic can be retried.
 */
import type { Failure } from "../exchange/failure.ts";
import { SlidingWindow } from "../timing/sliding_window.ts";

/** Longest pause before a retry, in milliseconds; if the provider asks for more, there is no retry. */
const LONGEST_PAUSE_MS = 2000;
const FIRST_PAUSE_MS = 100;
/** Random addition to the provider's `Retry-After`, so that retries do not arrive at the same moment. */
const JITTER_MS = 100;

const BUDGET_MS = 10_000;
const SHARE = 0.1;
/** Constant part of the retry budget, in ten seconds. */
const FLOOR = 10;

/** Whether the failure is independent of the request, so that a retry or another provider may succeed. */
export function isTransient(failure: Failure): boolean {
  return failure.row.transient === true;
}

/**
 * Whether the request exceeds a limit of this provider that another one may not have. A context is such a limit if it is smaller than the
 * catalog says of the model, or if the provider does not name it.
 * @param contextLength the model's, from the catalog; null: unknown, so the provider's is taken for the model's
 */
export function mayFitElsewhere({ elsewhere, overflow }: Failure, contextLength: number | null): boolean {
  if (overflow === undefined) return elsewhere;
  return contextLength !== null && (overflow.limit === undefined || overflow.limit < contextLength);
}

/**
 * Of the failures of two routes, the one that the caller gets: the later one, but of two overflows that of the larger context, and of two
 * rate limits the one that ends first.
 */
export function mostHelpful(earlier: Failure | undefined, later: Failure): Failure {
  if (earlier?.code !== later.code) return later;
  if (earlier.overflow !== undefined && later.overflow !== undefined) {
    return (earlier.overflow.limit ?? 0) > (later.overflow.limit ?? Infinity) ? earlier : later;
  }
  const { retryAfter } = earlier;
  const isSooner = retryAfter !== undefined && retryAfter < (later.retryAfter ?? Infinity);
  return later.code === "provider_rate_limited" && isSooner ? earlier : later;
}

/**
 * Whether a failure counts against the provider: an outage, an overload, a timeout. A refusal of the request does not count. Nor does a
 * refusal of the gateway's key or of the model's name, which an operator has to correct, or a failure of this process. A rate limit (429)
 * does not count either: the provider works, and callers need to see its `Retry-After`.
 */
export function isFault(failure: Failure): boolean {
  return isTransient(failure) && !failure.lasting && !failure.local &&
    failure.code !== "provider_rate_limited";
}

/** Milliseconds before the next attempt: the provider's `Retry-After`, else exponential backoff with full jitter; null: too long. */
export function pauseMs(failure: Failure, attempt: number, random: () => number): number | null {
  if (failure.retryAfter !== undefined) {
    const asked = failure.retryAfter * 1000;
    return asked <= LONGEST_PAUSE_MS ? asked + random() * JITTER_MS : null;
  }
  return random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

/** A provider is skipped for at most this time because of its `Retry-After`, in milliseconds. */
const LONGEST_AVOID_MS = 600_000;

/**
 * The same for a failure that the provider repeats until somebody corrects its account, key or model list: without it, each call would ask
 * this route first, and in vain.
 */
const AVOID_LASTING_MS = 5000;

/**
 * How long other routes are preferred: the provider's `Retry-After`, if it is too long for a pause before a retry; some seconds after a
 * lasting failure; else 0.
 */
export function avoidMs(failure: Failure): number {
  if (failure.lasting) return AVOID_LASTING_MS;
  const asked = isTransient(failure) ? (failure.retryAfter ?? 0) * 1000 : 0;
  return asked <= LONGEST_PAUSE_MS ? 0 : Math.min(asked, LONGEST_AVOID_MS);
}

/** A provider's own context counts for this time, in milliseconds: it may become larger. */
const CONTEXT_KEPT_MS = 3_600_000;

/** The context in tokens that a provider named in its last overflow, and the time until which it counts. */
export interface NamedContext {
  tokens: number;
  until: number;
}

/** Null: the failure names none. */
export function contextNamed({ overflow }: Failure, now: number): NamedContext | null {
  return overflow?.limit === undefined ? null : { tokens: overflow.limit, until: now + CONTEXT_KEPT_MS };
}

/** Whether other routes are preferred: the provider has asked for a pause, or has a smaller context than the request. */
export function comesLast(
  { avoidedUntil, context }: { avoidedUntil: number; context: NamedContext | null },
  tokens: number,
  now: number,
): boolean {
  return avoidedUntil > now || (context !== null && tokens > context.tokens && now < context.until);
}

export class RetryBudget {
  readonly #window = new SlidingWindow(BUDGET_MS);

  /** Counts a call that is not a retry. */
  call(now: number): void {
    this.#window.add(now, 1, 0);
  }

  /** Takes one retry from the budget. False: it is used up. */
  take(now: number): boolean {
    const { calls, hits } = this.#window.sum(now);
    if (hits >= FLOOR + SHARE * calls) return false;
    this.#window.add(now, 0, 1);
    return true;
  }
}
