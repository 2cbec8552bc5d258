/**
 * Encodes reasoning settings for a provider: `reasoning_effort`, or the caller's own fields if it uses this
 * format.
 */
import { isObject, type Loose, object } from "../../exchange/json.ts";
import type { Effort, ReasoningOptions } from "../../exchange/prompt.ts";
import { isEffort, nearestEffort, requestedEffort } from "../effort.ts";

/**
 * `reasoning_effort` for a provider; undefined: omitted. `lost`: the caller's setting is not representable.
 *
 * Levels are mapped to the nearest in the catalog. Without a list there: `max` is not a level of this API,
 * and a caller who only disabled reasoning gets the default, since a model without the level `none` would
 * reject the request.
 */
export function encodeEffort(
  options: ReasoningOptions | undefined,
  efforts: readonly Effort[] | null,
  features: ReadonlySet<string> | null,
): { effort?: Effort; lost: boolean } {
  const effort = requestedEffort(options);
  if (effort === undefined) return { lost: false };
  if (features !== null && !features.has("reasoning")) return { lost: effort !== "none" };
  if (efforts !== null && efforts.length > 0) return { effort: nearestEffort(effort, efforts), lost: false };
  if (effort === "none" && options?.effort === undefined) return { lost: true };
  return { effort: effort === "max" ? "xhigh" : effort, lost: false };
}

/** Replaces a level that the catalog does not list for the model by the nearest, in the caller's own field. */
export function offeredEffort(verbatim: Loose, efforts: readonly Effort[] | null): Loose {
  const given = verbatim.reasoning_effort;
  const nested = object(verbatim.reasoning).effort;
  return {
    ...(isEffort(given) && { reasoning_effort: nearestEffort(given, efforts) }),
    ...(isObject(verbatim.reasoning) && isEffort(nested) && {
      reasoning: { ...verbatim.reasoning, effort: nearestEffort(nested, efforts) },
    }),
  };
}
