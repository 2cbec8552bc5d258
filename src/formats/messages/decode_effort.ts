/** Decodes reasoning settings: `thinking` and `output_config.effort`. */
import { isObject, number, string } from "../../exchange/json.ts";
import type { ReasoningOptions } from "../../exchange/prompt.ts";
import { isEffort } from "../effort.ts";

/** Undefined: no reasoning settings. */
export function decodeEffort(thinking: unknown, effort: unknown): ReasoningOptions | undefined {
  const options: ReasoningOptions = {};
  if (isObject(thinking)) {
    if (thinking.type === "enabled") options.mode = "on";
    else if (thinking.type === "disabled") options.mode = "off";
    else if (thinking.type === "adaptive") options.mode = "adaptive";
    const budget = number(thinking.budget_tokens);
    if (budget !== undefined && options.mode === "on") options.budget = budget;
    const display = string(thinking.display);
    if (display === "omitted") options.summary = "omitted";
    else if (display === "summarized") options.summary = "auto";
  }
  if (isEffort(effort)) options.effort = effort;
  return Object.keys(options).length > 0 ? options : undefined;
}
