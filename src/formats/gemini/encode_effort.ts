/**
 * Encodes reasoning settings as `thinkingConfig`.
 *
 * The model's name determines the scale: Gemini 3 and later use `thinkingLevel`; Gemini 2.5, and models
 * without Gemini in their name, `thinkingBudget`; older ones do not think and reject the field. Ranges and
 * levels are from Google's page "Thinking" (ai.google.dev and Vertex AI): 2.5 Pro 128–32,768 and never off,
 * 2.5 Flash 0–24,576, 2.5 Flash-Lite 0 or 512–24,576; Gemini 3 Pro low and high, other models low, medium and
 * high, and Flash before 3.7 also minimal. Levels in a catalog entry take precedence. Models with levels
 * cannot disable thinking.
 */
import type { Loose } from "../../exchange/json.ts";
import type { Effort, ReasoningOptions } from "../../exchange/prompt.ts";
import { budgetOf, nearestEffort, requestedEffort } from "../effort.ts";
import type { EncodeRequest } from "../format.ts";
import { versionOf } from "./wire.ts";

const LEVELS: readonly Effort[] = ["minimal", "low", "medium", "high"];

/** Undefined: the model's default. Null: not representable. */
export function encodeEffort(
  options: ReasoningOptions | undefined,
  { model, efforts, features }: EncodeRequest,
): Loose | undefined | null {
  if (!options) return undefined;
  const on = options.mode === "on" || options.mode === "adaptive";
  const asked = requestedEffort(options) !== undefined || on;
  // Requesting visible reasoning does not enable it: some models reason only if asked.
  if (!asked && (options.summary === undefined || options.summary === "omitted")) return undefined;
  const off = requestedEffort(options) === "none";
  const version = versionOf(model);
  if ((version !== null && version < 2.5) || features?.has("reasoning") === false) {
    return off ? undefined : null;
  }
  const shown: Loose = off || options.summary === "omitted" ? {} : { includeThoughts: true };
  if (!asked) return shown;
  if (version !== null && version >= 3) {
    const effort = options.mode === "on" && !options.effort && options.budget === undefined
      ? undefined
      : requestedEffort(options);
    return effort === undefined ? shown : { ...shown, thinkingLevel: level(effort, model, version, efforts) };
  }
  return { ...shown, thinkingBudget: budget(options, off, model) };
}

function level(effort: Effort, model: string, version: number, efforts: readonly Effort[] | null): Effort {
  const listed = efforts?.filter((e) => LEVELS.includes(e)) ?? [];
  return nearestEffort(effort, listed.length > 0 ? listed : levelsOf(model, version));
}

function levelsOf(model: string, version: number): Effort[] {
  if (version === 3 && model.includes("-pro")) return ["low", "high"];
  if (version < 3.7 && model.includes("-flash")) return ["minimal", "low", "medium", "high"];
  return ["low", "medium", "high"];
}

/** -1: the model decides. */
function budget(options: ReasoningOptions, off: boolean, model: string): number {
  const pro = model.includes("pro");
  if (off) return pro ? 128 : 0;
  const wanted = options.budget ?? (options.effort ? budgetOf(options.effort) : -1);
  if (wanted < 0) return -1;
  const least = pro ? 128 : model.includes("lite") ? 512 : 0;
  return Math.max(least, Math.min(wanted, pro ? 32768 : 24576));
}
