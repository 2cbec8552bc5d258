/**
 * Guard: data-loss prevention. What it takes to screen (some 200 modules) is loaded where there is a policy, else with the
 * first request that wants it: most gateways never need it.
 */
import { Failure } from "../exchange/failure.ts";
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
  const { steps } = arrival;
  const began = kit.now();
  const followed = steps.follow("screening", "request");
  const told = (screened: Screened | null) => {
    if (screened) steps.screened(screened, kit.now() - began);
    followed?.end("ok", screened ? { mode: screened.mode, findings: screened.findings } : {});
    return screened;
  };
  const refused = (thrown: unknown): never => {
    followed?.end(Failure.from(thrown).code);
    throw thrown;
  };
  try {
    const screening = loaded
      ? loaded.screen(arrival, wished, kit)
      : loadScreening().then((screening) => screening.screen(arrival, wished, kit));
    return screening instanceof Promise ? screening.then(told, refused) : told(screening);
  } catch (thrown) {
    return refused(thrown);
  }
}
