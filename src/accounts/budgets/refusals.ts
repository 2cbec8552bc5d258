/** The failures with which admission refuses a call. */
import { countOf } from "../../exchange/printable.ts";
import { Failure } from "../../exchange/failure.ts";
import type { Demand } from "./demands.ts";
import type { Lease } from "./lease.ts";
import { formatAmount } from "./money.ts";
import type { RateState } from "../types.ts";

const RETRY_AFTER = 2;

/** @param lease the lease that cannot satisfy its demand */
export function refusal(lease: Lease, demands: readonly Demand[], now: number): Failure {
  const { kind, budget: { limit, ends } } = lease;
  switch (kind) {
    case "credits":
      return new Failure(
        "insufficient_funds",
        "The account's credits do not cover what this request may cost.",
      );
    case "spend":
      return new Failure(
        "api_key_limit_exceeded",
        "The API key's spend limit for the period does not cover what this request may cost.",
        { details: { reset_at: ends === null ? null : new Date(ends).toISOString() } },
      );
    case "team":
      return spentRefusal(
        `The spend limit of the team ${lease.budget.owner} for the period does not cover`,
        lease,
      );
    case "session":
      return spentRefusal(
        `This session's spend limit of ${shown(limit)} (${shown(lease.spentHere)} spent) does not cover`,
        lease,
        " Start a new session, or ask the operator of the gateway for a higher limit.",
      );
    case "tag": {
      const [, tag, value] = lease.budget.owner.split("\n");
      return spentRefusal(`The spend limit of the tag ${tag}=${value} for the period does not cover`, lease);
    }
    case "session_requests":
      return new Failure(
        "provider_rate_limited",
        `This session has reached its limit of ${
          countOf(limit ?? 0, "request")
        } a minute. If an agent is running in a loop, stop it; ` +
          `the session may go on in ${countOf(lease.secondsToReset(now), "second")}.`,
        {
          retryAfter: lease.secondsToReset(now),
          details: { session: true, ...rateStateOf(demands, now) },
          // A client that retried automatically would hide a loop from the person who could stop it.
          headers: { "x-should-retry": "false" },
        },
      );
    case "requests":
    case "tokens":
      return new Failure(
        "provider_rate_limited",
        `The API key's limit of ${countOf(limit ?? 0, kind.slice(0, -1))} a minute is reached.`,
        { retryAfter: lease.secondsToReset(now), details: { ...rateStateOf(demands, now) } },
      );
  }
}

function spentRefusal(lacking: string, { budget: { ends }, kind }: Lease, advice = ""): Failure {
  return new Failure("api_key_limit_exceeded", `${lacking} what this request may cost.${advice}`, {
    details: { limit_of: kind, reset_at: ends === null ? null : new Date(ends).toISOString() },
  });
}

function shown(amount: bigint | null): string {
  return formatAmount(amount ?? 0n);
}

/** The lacking amount is reserved by running calls, and most of it will be released. */
export function reservedOnly(now: number, demands: readonly Demand[]): Failure {
  return new Failure(
    "provider_rate_limited",
    "The rest of the budget is reserved by calls in progress; try again in a second.",
    { retryAfter: 1, details: { reserved: true, ...rateStateOf(demands, now) } },
  );
}

/**
 * 503 with `retry-after`: the store or the journal cannot accept a reservation.
 *
 * @param cause for the log; not shown to callers
 */
export function cannotAdmitNow(cause: unknown): Failure {
  return new Failure("service_unavailable", "The request cannot be admitted now.", {
    retryAfter: RETRY_AFTER,
    cause,
  });
}

/** The state of the demanded rates; null: none. */
export function rateStateOf(demands: readonly Demand[], now: number): RateState | null {
  let rates: RateState | null = null;
  for (const { lease } of demands) {
    if (lease.kind !== "requests" && lease.kind !== "tokens") continue;
    rates ??= {};
    rates[lease.kind] = {
      limit: Number(lease.budget.limit),
      remaining: lease.remaining,
      reset: lease.secondsToReset(now),
    };
  }
  return rates;
}

/** The team no longer exists, so its limits are unknown. */
export function teamIsMissing(): Failure {
  return new Failure("policy_violation", "The team of this key does not exist, so the key cannot be used.");
}
