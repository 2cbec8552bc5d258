/** Google Cloud credentials: an access token in `Authorization`. */
import { type AccessToken, bearerCredential } from "../bearer.ts";
import type { ProviderCredential } from "../credential.ts";
import { RenewedToken } from "../renewed_token.ts";
import { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";
import { type GoogleSettings, googleSource } from "./sources.ts";

export type { GoogleSettings } from "./sources.ts";

/**
 * Sends Google access tokens, renewed before they expire.
 *
 * @param name name of the provider, for messages
 */
export function googleCredential(
  name: string,
  settings: GoogleSettings,
  surroundings: Surroundings,
): ProviderCredential {
  const source = googleSource(settings, { surroundings, clock: new ServiceClock(surroundings) });
  const token = new RenewedToken<AccessToken>(
    `the Google credential of provider ${name}`,
    source,
    surroundings,
  );
  return bearerCredential(JSON.stringify(settings), token);
}
