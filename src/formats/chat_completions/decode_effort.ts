/**
 * Decodes reasoning settings of a request. The official field is `reasoning_effort`; dialects have
 * `reasoning` (OpenRouter), `thinking` (DeepSeek, Z.AI), `enable_thinking` and `thinking_budget` (Alibaba).
 * All of them are read.
 */
import type { Mistake } from "../../exchange/failure.ts";
import { type Loose, number, object, string } from "../../exchange/json.ts";
import type { Effort, ReasoningOptions } from "../../exchange/prompt.ts";
import { isEffort } from "../effort.ts";
import { mistake, type Path, shown, unsupported } from "../validation.ts";

export const EFFORT_FIELDS = [
  "reasoning_effort",
  "reasoning",
  "thinking",
  "enable_thinking",
  "thinking_budget",
] as const;

/** Written out for speed: it runs twice per request, and most requests have none of these fields. */
export function saysEffort(body: Loose): boolean {
  return body.reasoning_effort !== undefined || body.reasoning !== undefined || body.thinking !== undefined ||
    body.enable_thinking !== undefined || body.thinking_budget !== undefined;
}

/** Undefined: no reasoning settings. */
export function decodeEffort(body: Loose, mistakes: Mistake[]): ReasoningOptions | undefined {
  if (!saysEffort(body)) return undefined;
  const options: ReasoningOptions = {};
  const official = readEffort(body.reasoning_effort, ["reasoning_effort"], mistakes);
  if (official) setEffort(options, official);

  const reasoning = object(body.reasoning);
  const effort = readEffort(reasoning.effort, ["reasoning", "effort"], mistakes);
  if (effort) setEffort(options, effort);
  if (reasoning.enabled === false) options.mode = "off";
  else if (reasoning.enabled === true) options.mode ??= "on";
  setBudget(options, reasoning.max_tokens);
  if (reasoning.exclude === true) options.summary = "omitted";
  const summary = string(reasoning.summary);
  if (summary !== undefined) options.summary = summary;

  const type = string(object(body.thinking).type);
  if (type === "disabled") options.mode = "off";
  else if (type === "enabled") options.mode ??= "on";
  else if (type === "adaptive") options.mode ??= "adaptive";
  setBudget(options, object(body.thinking).budget_tokens);

  if (body.enable_thinking === false) options.mode = "off";
  else if (body.enable_thinking === true) options.mode ??= "on";
  setBudget(options, body.thinking_budget);
  return Object.keys(options).length > 0 ? options : undefined;
}

function readEffort(value: unknown, loc: Path, mistakes: Mistake[]): Effort | undefined {
  // Groq's name for the model's own level.
  if (value === undefined || value === null || value === "default") return undefined;
  if (value === "max") {
    throw unsupported(
      `Cannot read ${loc.join(".")}: max is not supported, the highest level is xhigh.`,
      loc.join("."),
    );
  }
  if (isEffort(value)) return value;
  mistake(
    mistakes,
    "literal_error",
    loc,
    `expected none, minimal, low, medium, high or xhigh, got ${shown(value)}`,
  );
}

function setEffort(options: ReasoningOptions, effort: Effort): void {
  options.effort = effort;
  if (effort === "none") options.mode = "off";
}

function setBudget(options: ReasoningOptions, value: unknown): void {
  const budget = number(value);
  if (budget === undefined) return;
  options.budget = budget;
  options.mode ??= budget > 0 ? "on" : "off";
}
