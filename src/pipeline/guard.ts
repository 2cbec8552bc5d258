/**
 * Guard: data-loss prevention. The modules for screening (some 200) are loaded at the start if a policy is configured, else with the first
 * request that needs them: most gateways never do.
 */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import type { Arrival, Screened } from "./call.ts";
import type { Kit } from "./kit.ts";

type Screening = typeof import("./screening/screen.ts");
let loaded: Screening | undefined;

/** Loads the modules of data-loss prevention. */
export async function loadScreening(): Promise<Screening> {
  return loaded ??= await import("./screening/screen.ts");
}

/** `plugins.dlp` of a request. */
function dlpFieldOf(body: unknown): unknown {
  return isObject(body) && isObject(body.plugins) ? body.plugins.dlp ?? undefined : undefined;
}

/** Whether the request must be screened: by a policy of the key or its team, or by its own `plugins.dlp`. */
export function isScreened({ dlpPolicy, team }: Key, body: unknown): boolean {
  return dlpPolicy !== null || Boolean(team?.dlpPolicy) || dlpFieldOf(body) !== undefined;
}

/**
 * Screens a request; null: no rules apply. A promise only for long texts, or for the first request. Throws the failure that refuses the
 * request.
 */
export function screen(arrival: Arrival, kit: Kit): Screened | null | Promise<Screened | null> {
  if (!isScreened(arrival.key, arrival.body)) return null;
  const dlpField = dlpFieldOf(arrival.body);
  const { steps } = arrival;
  const began = kit.ticker.now();
  const followed = steps.follow("screening", "request");
  const finished = (screened: Screened | null) => {
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
    return screening instanceof Promise ? screening.then(finished, refused) : finished(screening);
  } catch (thrown) {
    return refused(thrown);
  }
}
