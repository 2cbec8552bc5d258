/** Names of request fields that Gemini does not support, as sent by the caller. */
import type { Prompt } from "../../exchange/prompt.ts";
import { foreignFields, unknownFieldNames } from "../dropped/encode_dropped.ts";
import { fieldName, type Hints, lostHints, type NamedField } from "../dropped/field_names.ts";
import { lostStrictness } from "../schemas/strict_schema.ts";
import { voiceOf } from "./encode_generation.ts";

const HINTS: Hints = { user: false, metadata: false, cacheKey: false, cache: false };

/** Tiers of the usual price, which every model has. */
const USUAL_TIERS: ReadonlySet<string> = new Set(["auto", "default", "standard", "standard_only"]);

/**
 * @param refused fields that the model does not take
 * @param tier the tier of service that is asked for
 */
export function droppedFields(
  prompt: Prompt,
  refused: readonly NamedField[],
  tier: string | undefined,
): string[] {
  const dropped = new Set([...unknownFieldNames(prompt), ...foreignFields(prompt, "gemini")]);
  const drop = (field: NamedField) => dropped.add(fieldName(field, prompt));
  for (const field of refused) drop(field);
  if (prompt.parallelCalls === false && prompt.tools.length > 0) drop("parallelCalls");
  if (prompt.logitBias && Object.keys(prompt.logitBias).length > 0) drop("logitBias");
  if (prompt.verbosity !== undefined && prompt.verbosity !== "medium") drop("verbosity");
  if (prompt.serviceTier !== tier && !USUAL_TIERS.has(prompt.serviceTier ?? "")) drop("serviceTier");
  if (prompt.audio && prompt.modalities?.includes("audio") && !voiceOf(prompt)) drop("audio");
  for (const hint of lostHints(prompt, HINTS)) dropped.add(hint);
  for (const field of lostStrictness(prompt, "other")) dropped.add(field);
  return [...dropped];
}
