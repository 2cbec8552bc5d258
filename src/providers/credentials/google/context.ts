/** What every source of Google's tokens works with. */
import type { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";

export interface GoogleContext {
  surroundings: Surroundings;
  clock: ServiceClock;
}

/** Everything that the account may do in Google Cloud. */
export const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
