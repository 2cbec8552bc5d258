/** Dependencies of all sources of Google's tokens. */
import type { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";

export interface GoogleContext {
  surroundings: Surroundings;
  clock: ServiceClock;
}

/** The scope for all permissions of the account in Google Cloud. */
export const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
