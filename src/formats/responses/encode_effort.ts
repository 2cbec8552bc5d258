/** Encodes reasoning settings as `reasoning`. */
import { isObject, type Loose } from "../../exchange/json.ts";
import type { Effort, Prompt } from "../../exchange/prompt.ts";
import { nearestEffort, requestedEffort } from "../effort.ts";

export function encodeEffort(prompt: Prompt, efforts: readonly Effort[] | null): Loose | undefined {
  const verbatim = prompt.format === "responses" ? prompt.verbatim.reasoning : undefined;
  const requested = requestedEffort(prompt.reasoning);
  const effort = requested && nearestEffort(requested, efforts);
  if (isObject(verbatim)) return effort === undefined ? verbatim : { ...verbatim, effort };
  const wire: Loose = {};
  // Without a list of levels, `max` is replaced by the highest level that all models with levels support.
  if (effort !== undefined) wire.effort = efforts === null && effort === "max" ? "xhigh" : effort;
  const summary = prompt.reasoning?.summary;
  const on = prompt.reasoning?.mode === "on" || prompt.reasoning?.mode === "adaptive";
  if (summary === undefined ? on : summary !== "omitted") {
    wire.summary = SUMMARIES.has(summary ?? "") ? summary : "auto";
  }
  return Object.keys(wire).length > 0 ? wire : undefined;
}

const SUMMARIES: ReadonlySet<string> = new Set(["auto", "concise", "detailed"]);
