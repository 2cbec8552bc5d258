/** What is reserved for a request, for its admission and for an estimate of it alike. */
import type { AdmissionRequest, Estimate } from "../../accounts/mod.ts";
import type { Labels } from "../../exchange/labels.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { AUTO, type Model } from "../../models/catalog.ts";
import type { PromptSize } from "../../models/limits.ts";
import type { Arrival, Others } from "../call.ts";
import type { Kit } from "../kit.ts";
import { type Shape, shapeOf } from "../shape.ts";
import { type CallRoutes, callRoutes, FREE } from "./caller_credential.ts";
import type { NamedModel } from "./named_models.ts";
import { highestPrices, othersOf } from "./other_models.ts";
import { capOutput, upperBound, withoutOwnSearches } from "./upper_bound.ts";

/** A request whose model is chosen. */
interface Asked {
  arrival: Arrival;
  prompt: Prompt;
  model: Model;
  size: PromptSize;
  named: readonly NamedModel[] | null;
}

export interface Plan extends CallRoutes {
  shape: Shape;
  others: Others | null;
  estimate: Estimate;
  /** Price of a search with models that have none. */
  searchPrice: string | undefined;
}

/** Sets the maximum output of the prompt. Throws the refusal if the request cannot be sent to the model. */
export function planOf({ arrival, prompt, model, size, named }: Asked, kit: Kit): Plan {
  const { routes: reached, callerCredential } = callRoutes(model, arrival, kit, prompt.model !== AUTO);
  const shape = shapeOf(prompt, model, kit.providers);
  const others = named === null
    ? null
    : othersOf({ prompt, model, routes: reached, named }, arrival.key, kit);
  const routes = others?.routes ?? reached;
  capOutput(prompt, model, size, others);
  const estimate = withoutOwnSearches(upperBound(prompt, model, size, shape, others), size, {
    routes,
    callerCredential,
  });
  return { routes, callerCredential, shape, others, estimate, searchPrice: searchPriceNow(kit) };
}

/** The price of a search with models that have none. */
export function searchPriceNow({ accounts }: Kit): string | undefined {
  return accounts.withSearchPrice(FREE).web_search;
}

/** @param created milliseconds since the epoch */
export function admissionOf(
  { arrival, prompt, model, plan, created, labels }: Pick<Asked, "arrival" | "prompt" | "model"> & {
    plan: Plan;
    created: number;
    labels: Labels | null;
  },
  kit: Kit,
): AdmissionRequest {
  const { estimate } = plan;
  return {
    id: arrival.id,
    created,
    format: arrival.formatName,
    requestedModel: prompt.model,
    model: model.id,
    stream: prompt.stream,
    key: arrival.key,
    prices: highestPrices({ ...plan, prompt, model, created }, estimate, kit),
    estimate,
    labels,
  };
}
