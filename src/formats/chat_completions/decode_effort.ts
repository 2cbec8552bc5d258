/**
 * How much to reason, from a caller's request. Officially `reasoning_effort`; dialects have `reasoning` (OpenRouter),
 * `thinking` (DeepSeek, Z.AI), `enable_thinking` and `thinking_budget` (Alibaba). All of them are read.
 */
import type { Mistake } from "../../exchange/failure.ts";
import { type Loose, number, object, string } from "../../exchange/json.ts";
import type { Effort, ReasoningWish } from "../../exchange/prompt.ts";
import { isEffort } from "../effort.ts";
import { mistake, type Path, shown, unsupported } from "../validation.ts";

export const WISH_FIELDS = [
  "reasoning_effort",
  "reasoning",
  "thinking",
  "enable_thinking",
  "thinking_budget",
] as const;

/** Undefined when nothing is said about reasoning. */
export function decodeWish(body: Loose, mistakes: Mistake[]): ReasoningWish | undefined {
  const wish: ReasoningWish = {};
  const official = readEffort(body.reasoning_effort, ["reasoning_effort"], mistakes);
  if (official) setEffort(wish, official);

  const reasoning = object(body.reasoning);
  const effort = readEffort(reasoning.effort, ["reasoning", "effort"], mistakes);
  if (effort) setEffort(wish, effort);
  if (reasoning.enabled === false) wish.mode = "off";
  else if (reasoning.enabled === true) wish.mode ??= "on";
  setBudget(wish, reasoning.max_tokens);
  if (reasoning.exclude === true) wish.summary = "omitted";
  const summary = string(reasoning.summary);
  if (summary !== undefined) wish.summary = summary;

  const type = string(object(body.thinking).type);
  if (type === "disabled") wish.mode = "off";
  else if (type === "enabled") wish.mode ??= "on";
  else if (type === "adaptive") wish.mode ??= "adaptive";
  setBudget(wish, object(body.thinking).budget_tokens);

  if (body.enable_thinking === false) wish.mode = "off";
  else if (body.enable_thinking === true) wish.mode ??= "on";
  setBudget(wish, body.thinking_budget);
  return Object.keys(wish).length > 0 ? wish : undefined;
}

function readEffort(value: unknown, loc: Path, mistakes: Mistake[]): Effort | undefined {
  if (value === undefined || value === null) return undefined;
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

function setEffort(wish: ReasoningWish, effort: Effort): void {
  wish.effort = effort;
  if (effort === "none") wish.mode = "off";
}

function setBudget(wish: ReasoningWish, value: unknown): void {
  const budget = number(value);
  if (budget === undefined) return;
  wish.budget = budget;
  wish.mode ??= budget > 0 ? "on" : "off";
}
