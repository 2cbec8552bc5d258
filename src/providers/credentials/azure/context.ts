/** Dependencies of all managed identities of Azure. */
import type { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";

export interface AzureContext {
  surroundings: Surroundings;
  clock: ServiceClock;
}

/** A request to the identity endpoint of a host. */
export interface IdentityRequest {
  url: string;
  headers: Record<string, string>;
}
