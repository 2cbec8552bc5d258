/**
 * Whether and when a provider is asked once more.
 *
 * Retries make an overloaded provider worse, so they come out of a budget: in any ten seconds no more than a tenth of the
 * provider's calls, and a few more, so that a single failure on a quiet gateway still gets its second try.
 */
import type { Failure } from "../exchange/failure.ts";
import { SlidingWindow } from "../timing/sliding_window.ts";

/** Longest pause before another try, in milliseconds; a provider that asks for more gets no other try. */
const LONGEST_PAUSE_MS = 2000;
const FIRST_PAUSE_MS = 100;
/** On top of what a provider asks for, so that not everybody comes back at the same moment. */
const JITTER_MS = 100;

const BUDGET_MS = 10_000;
const SHARE = 0.1;
/** Retries in ten seconds that need no traffic to allow them. */
const FLOOR = 10;

/** Whether it says nothing about the request, so that another try, or another provider, may well answer it. */
export function isTransient(failure: Failure): boolean {
  return failure.row.transient === true;
}

/**
 * Whether a failure is the provider's: an outage, an overload, a silence. What it says about a request is not, and neither
 * is its refusal of this gateway's key or of a model's name, which only an operator can mend. A rate that is used up is
 * none either: the provider is well and says when to come back, which callers need to hear.
 */
export function isFault(failure: Failure): boolean {
  return isTransient(failure) && !failure.lasting && failure.code !== "provider_rate_limited";
}

/** Milliseconds before the next try: what the provider asked for, else doubling with full jitter; null: too long. */
export function pauseMs(failure: Failure, attempt: number, random: () => number): number | null {
  if (failure.retryAfter !== undefined) {
    const asked = failure.retryAfter * 1000;
    return asked <= LONGEST_PAUSE_MS ? asked + random() * JITTER_MS : null;
  }
  return random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

/** Nobody is kept away for longer than this by a provider's word alone. */
const LONGEST_REST_MS = 600_000;

/** How long another route is better: as long as the provider wants no call, where that is too long for a pause; else 0. */
export function restMs(failure: Failure): number {
  const asked = isTransient(failure) ? (failure.retryAfter ?? 0) * 1000 : 0;
  return asked <= LONGEST_PAUSE_MS ? 0 : Math.min(asked, LONGEST_REST_MS);
}

export class RetryBudget {
  readonly #window = new SlidingWindow(BUDGET_MS);

  /** A call that is no retry. */
  call(now: number): void {
    this.#window.add(now, 1, 0);
  }

  /** Takes one retry, where there is one. */
  take(now: number): boolean {
    const { calls, hits } = this.#window.sum(now);
    if (hits >= FLOOR + SHARE * calls) return false;
    this.#window.add(now, 0, 1);
    return true;
  }
}
