/**
 * Guard: data-loss prevention. What it takes to screen (some 200 modules) is loaded where there is a policy, else with the
 * first request that wants it: most gateways never need it.
 */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import type { Arrival, Screened } from "./call.ts";
import type { Kit } from "./kit.ts";

type Screening = typeof import("./screen.ts");
let loaded: Screening | undefined;

/** The modules of data-loss prevention, which calls without a policy do not need. */
export async function loadScreening(): Promise<Screening> {
  return loaded ??= await import("./screen.ts");
}

/** `plugins.dlp` of a request. */
function dlpFieldOf(body: unknown): unknown {
  return isObject(body) && isObject(body.plugins) ? body.plugins.dlp ?? undefined : undefined;
}

/** Whether there is something to check: a policy of the key or its team, or `plugins.dlp` of the request. */
export function isScreened({ dlpPolicy, team }: Key, body: unknown): boolean {
  return dlpPolicy !== null || Boolean(team?.dlpPolicy) || dlpFieldOf(body) !== undefined;
}

/**
 * Null where there is nothing to check. A promise only where the text is long, or for the first request. Throws what
 * refuses the request.
 */
export function screen(arrival: Arrival, kit: Kit): Screened | null | Promise<Screened | null> {
  if (!isScreened(arrival.key, arrival.body)) return null;
  const dlpField = dlpFieldOf(arrival.body);
  const { steps } = arrival;
  const began = kit.ticker.now();
  const followed = steps.follow("screening", "request");
  const told = (screened: Screened | null) => {
    if (screened) steps.screened(screened, kit.ticker.now() - began);
    followed?.end("ok", screened ? { mode: screened.mode, findings: screened.findings } : {});
    return screened;
  };
  const refused = (thrown: unknown): never => {
    followed?.end(Failure.from(thrown).code);
    throw thrown;
  };
  try {
    const screening = loaded
      ? loaded.screen(arrival, dlpField, kit)
      : loadScreening().then((screening) => screening.screen(arrival, dlpField, kit));
    return screening instanceof Promise ? screening.then(told, refused) : told(screening);
  } catch (thrown) {
    return refused(thrown);
  }
}
