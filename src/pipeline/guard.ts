/**
 * Guard: data-loss prevention. What it takes to screen (some 200 modules) is loaded where there is a policy, else with the
 * first request that wants it: most gateways never need it.
 */
import { isObject } from "../exchange/json.ts";
import type { Arrival, Screened } from "./call.ts";
import type { Kit } from "./kit.ts";

type Screening = typeof import("./screen.ts");
let loaded: Screening | undefined;

export async function loadScreening(): Promise<Screening> {
  return loaded ??= await import("./screen.ts");
}

/**
 * Null where there is nothing to check: neither key nor team has a policy, the request has no `plugins.dlp`. A promise
 * only where the text is long, or for the first request. Throws what refuses the request.
 */
export function screen(arrival: Arrival, kit: Kit): Screened | null | Promise<Screened | null> {
  const { body, key } = arrival;
  const wished = isObject(body) && isObject(body.plugins) ? body.plugins.dlp ?? undefined : undefined;
  if (key.dlpPolicy === null && !key.team?.dlpPolicy && wished === undefined) return null;
  const began = kit.now();
  const screening = loaded
    ? loaded.screen(arrival, wished, kit)
    : loadScreening().then((screening) => screening.screen(arrival, wished, kit));
  const told = (screened: Screened | null) => {
    if (screened) arrival.steps.screened(screened, kit.now() - began);
    return screened;
  };
  return screening instanceof Promise ? screening.then(told) : told(screening);
}
