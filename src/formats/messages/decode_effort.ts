/** How much to reason, from a caller's request: `thinking` and `output_config.effort`. */
import { isObject, number, string } from "../../exchange/json.ts";
import type { ReasoningWish } from "../../exchange/prompt.ts";
import { isEffort } from "../effort.ts";

export function decodeThinking(thinking: unknown, effort: unknown): ReasoningWish | undefined {
  const wish: ReasoningWish = {};
  if (isObject(thinking)) {
    if (thinking.type === "enabled") wish.mode = "on";
    else if (thinking.type === "disabled") wish.mode = "off";
    else if (thinking.type === "adaptive") wish.mode = "adaptive";
    const budget = number(thinking.budget_tokens);
    if (budget !== undefined && wish.mode === "on") wish.budget = budget;
    const display = string(thinking.display);
    if (display === "omitted") wish.summary = "omitted";
    else if (display === "summarized") wish.summary = "auto";
  }
  if (isEffort(effort)) wish.effort = effort;
  return Object.keys(wish).length > 0 ? wish : undefined;
}
