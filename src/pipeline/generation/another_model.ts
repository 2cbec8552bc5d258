/**
 * `svc/auto`: if no route of the chosen model can answer, the call goes to the next suitable one. Only before the first call of a provider
 * has succeeded, so that one model gives all of the answer.
 */
import { NO_USAGE } from "../../exchange/usage.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { type Model, sheetOf } from "../../models/catalog.ts";
import { autoroute, type Chosen } from "../admission/admit.ts";
import type { Call } from "../call.ts";
import { ownRoutes } from "../admission/caller_credential.ts";
import type { Kit } from "../kit.ts";
import { highestPrices } from "../admission/other_models.ts";
import { shapeOf } from "../shape.ts";
import { capOutput, upperBound } from "../admission/upper_bound.ts";

/**
 * Chooses another model for a call, and extends its reservation. False: none is suitable, or the budget does not suffice.
 * @param prompt of the provider call, which may be a copy of the call's
 */
export async function chooseAnother(call: Call, prompt: Prompt, kit: Kit): Promise<boolean> {
  const auto = call.auto!;
  for (let tried: Model = call.model;;) {
    auto.tried.add(tried);
    let chosen: Chosen;
    try {
      chosen = autoroute(kit.auto!, { ...call.prompt, maxOutput: auto.maxOutput }, call, kit);
    } catch {
      return false;
    }
    const maxOutput = await reserve(call, chosen.model, kit);
    if (maxOutput === null) {
      tried = chosen.model;
      continue;
    }
    call.model = chosen.model;
    call.routes = ownRoutes(chosen.model.routes, kit.providers);
    call.sheet = sheetOf(chosen.model, call.created);
    call.prompt.maxOutput = prompt.maxOutput = maxOutput;
    Object.assign(call.headers, chosen.headers);
    return true;
  }
}

/** Returns the maximum output of the call with this model; null: it cannot be called. */
async function reserve(call: Call, model: Model, kit: Kit): Promise<number | undefined | null> {
  const { size, reservation, shape, auto } = call;
  const prompt = { ...call.prompt, maxOutput: auto!.maxOutput };
  const { search, calls } = shapeOf(prompt, model, kit.providers);
  // The stages of the call exist already. Parallel calls for one answer each are possible at all APIs.
  if (search !== shape.search || (calls !== shape.calls && shape.calls === 1)) return null;
  capOutput(prompt, model, size, null);
  const routes = ownRoutes(model.routes, kit.providers);
  const affords = () => {
    const { leastOutput: _, ...estimate } = upperBound(prompt, model, size, shape, null);
    return reservation.extend(
      NO_USAGE,
      estimate,
      highestPrices({ ...call, prompt, model, routes }, estimate, kit),
    );
  };
  if (await affords()) return prompt.maxOutput;
  const { output, leastOutput = output } = upperBound(prompt, model, size, shape, null);
  if (leastOutput === output) return null;
  prompt.maxOutput = leastOutput;
  return await affords() ? leastOutput : null;
}
