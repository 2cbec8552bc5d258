/** Dependencies of all sources of AWS credentials. */
import type { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";

export interface AwsContext {
  surroundings: Surroundings;
  clock: ServiceClock;
  region: string;
}
