/** What every source of AWS keys works with. */
import type { ServiceClock } from "../service_clock.ts";
import type { Surroundings } from "../surroundings.ts";

export interface AwsContext {
  surroundings: Surroundings;
  clock: ServiceClock;
  region: string;
}
