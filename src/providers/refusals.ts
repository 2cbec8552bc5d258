/** Failures of a call that do not come from a provider. */
import { Failure, NOT_AVAILABLE } from "../exchange/failure.ts";
import type { Route } from "./provider.ts";
import { routeName } from "./states.ts";

/** The fresh credential was rejected too. */
export function credentialRefused(status: number): Failure {
  return new Failure("provider_unavailable", NOT_AVAILABLE, {
    operator: `the provider refuses the credential (status ${status})`,
    lasting: true,
  });
}

/** For a caller who disconnected before the call started; never sent. */
export const CALLER_LEFT = new Failure(
  "service_unavailable",
  "The caller left before the call had begun.",
);

/** Another route has answered; never sent. */
export function cancelled(): Failure {
  return new Failure("provider_unavailable", "The call was cancelled.");
}

/** 503: every provider of the model has reached its maximum number of calls. */
export function noPlace(model: string): Failure {
  return new Failure(
    "service_unavailable",
    `The maximum number of concurrent calls to the providers of ${model} is reached; try again soon.`,
  );
}

/**
 * No provider of the model may be called.
 *
 * @param shut routes with open breakers; empty: there are no routes
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

/** The caller's own credential was rejected. */
export function ownCredentialRefused(status: number): Failure {
  return status === 403
    ? new Failure("provider_forbidden", "The provider refuses the request for the credential that was sent.")
    : new Failure("invalid_api_key", "The provider refuses the credential that was sent to it.");
}
