/** Why a call of a model's routes gives no answer, where it is not a provider that says so. */
import { Failure, NOT_AVAILABLE } from "../exchange/failure.ts";
import type { Route } from "./provider.ts";
import { routeName } from "./states.ts";

/** With a fresh credential too. */
export function credentialRefused(status: number): Failure {
  return new Failure("provider_unavailable", NOT_AVAILABLE, {
    operator: `the provider refuses the credential (status ${status})`,
    lasting: true,
  });
}

/** Nobody sees it: whoever left before the call had begun. */
export const CALLER_LEFT = new Failure(
  "service_unavailable",
  "The caller left before the call had begun.",
);

/** Nobody sees it: another route has answered. */
export function cancelled(): Failure {
  return new Failure("provider_unavailable", "The call was cancelled.");
}

/** 503: every provider of the model has as many calls as it may. */
export function noPlace(model: string): Failure {
  return new Failure(
    "service_unavailable",
    `Every place at the providers of ${model} is taken; try again soon.`,
  );
}

/**
 * No provider of the model may be asked.
 *
 * @param shut routes whose breakers are open; empty: there are no routes at all
 */
export function noRoute(model: string, shut: readonly Route[]): Failure {
  if (shut.length === 0) return new Failure("provider_unavailable", `${model} has no provider.`);
  return new Failure(
    "circuit_breaker_open",
    `Cannot reach ${model}: it failed too often at ${
      shut.map(routeName).join(" and ")
    }, so for some seconds nobody is sent there.`,
  );
}

/** Of the caller's own credential. */
export function ownCredentialRefused(status: number): Failure {
  return status === 403
    ? new Failure("provider_forbidden", "The provider refuses the request for the credential that was sent.")
    : new Failure("invalid_api_key", "The provider refuses the credential that was sent to it.");
}
