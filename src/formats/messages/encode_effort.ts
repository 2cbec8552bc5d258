/**
 * Encodes reasoning settings for a provider: `thinking` and `output_config.effort`.
 *
 * There are two generations of models. Up to 4.5 they use `{type: "enabled", budget_tokens}` and have no
 * effort; from 4.6 on they use `{type: "adaptive"}` with an effort, and the newest reject budgets. The
 * generation is derived from the model's name; for an unknown name the older form is used, which compatible
 * providers implement.
 */
import { array, isObject, type Loose, number } from "../../exchange/json.ts";
import type { Effort, Prompt, ReasoningOptions } from "../../exchange/prompt.ts";
import { budgetOf, LEAST_BUDGET, nearestEffort, requestedEffort } from "../effort.ts";
import type { EncodeRequest } from "../format.ts";
import { quietThinking } from "../restrictions/claude_rules.ts";
import { claudeGeneration } from "../restrictions/refused_parameters.ts";

/** Levels of `output_config.effort`. */
const LEVELS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

const DEEP: ReadonlySet<Effort> = new Set(["xhigh", "max"]);

interface EncodedEffort {
  thinking?: Loose;
  effort?: Effort;
  /** The caller's setting is not representable. */
  dropped: boolean;
}

/** Tokens for the answer if the output is not limited; supported by every model of this API. */
const USUAL_OUTPUT = 8192;

/** `max_tokens` is required, and includes thinking. */
export function outputCap(prompt: Prompt, context: EncodeRequest): number {
  const most = context.maxOutput ?? Infinity;
  if (prompt.maxOutput !== undefined) return Math.min(prompt.maxOutput, most);
  if (context.maxOutput !== null) return most;
  return USUAL_OUTPUT + (prompt.reasoning?.budget ?? budgetOf(requestedEffort(prompt.reasoning) ?? "none"));
}

/**
 * For callers of other formats.
 * @param free false: something else in the request excludes thinking
 */
export function encodeEffort(
  options: ReasoningOptions | undefined,
  cap: number,
  context: EncodeRequest,
  free: boolean,
): EncodedEffort {
  const effort = requestedEffort(options);
  if (options?.mode === "adaptive" && effort === undefined) {
    // Models up to 4.5 do not support adaptive thinking.
    if (!free || !isAdaptive(context.model) || !mayReason(context)) return { dropped: true };
    return { thinking: adaptive(options), dropped: false };
  }
  if (!options || effort === undefined) return { dropped: false };
  if (effort === "none") {
    if (!isAdaptive(context.model)) return { dropped: false };
    const thinking = quietThinking(context.model);
    // The minimum.
    return thinking === null ? { effort: "low", dropped: false } : { thinking, dropped: false };
  }
  if (!mayReason(context)) return { dropped: true };
  if (isAdaptive(context.model)) {
    const offered = LEVELS.filter((level) => context.efforts === null || context.efforts.includes(level));
    // Without thinking, the highest levels are rejected.
    const possible = free ? offered : offered.filter((level) => !DEEP.has(level));
    const level = possible.length > 0 ? { effort: nearestEffort(effort, possible) } : {};
    if (!free) return { ...level, dropped: !("effort" in level) };
    return { thinking: adaptive(options), ...level, dropped: false };
  }
  const budget = fittingBudget(options.budget ?? budgetOf(nearestEffort(effort, context.efforts)), cap);
  if (!free || budget === undefined) return { dropped: true };
  return { thinking: { type: "enabled", budget_tokens: budget }, dropped: false };
}

function mayReason({ features }: EncodeRequest): boolean {
  return features === null || features.has("reasoning");
}

function adaptive({ summary }: ReasoningOptions): Loose {
  return { type: "adaptive", display: summary === "omitted" ? "omitted" : "summarized" };
}

/**
 * For callers of this format: their own settings, except that the budget is reduced if the gateway lowered
 * the output limit below it. A budget for interleaved thinking applies to the whole assistant turn, of which
 * an answer is a part, and may exceed the limit; so may a budget that the caller itself set above its limit,
 * which the provider validates.
 */
export function fitThinking(
  thinking: unknown,
  cap: number,
  { budgetAboveCap, headers = {}, unknown }: Prompt,
): unknown {
  if (budgetAboveCap || !isObject(thinking) || thinking.type !== "enabled") return thinking;
  const betas = [headers["anthropic-beta"], ...array(unknown.anthropic_beta)];
  if (betas.some((beta) => INTERLEAVED.test(String(beta)))) return thinking;
  const budget = number(thinking.budget_tokens);
  if (budget === undefined || budget < cap) return thinking;
  const fitting = fittingBudget(budget, cap);
  return fitting === undefined ? undefined : { ...thinking, budget_tokens: fitting };
}

const INTERLEAVED = /(?:^|[,\s])interleaved-thinking-/;

/** At least a quarter of the limit is left for the answer. Undefined: the limit is below the minimum budget. */
function fittingBudget(budget: number, cap: number): number | undefined {
  if (cap <= LEAST_BUDGET) return undefined;
  return Math.max(LEAST_BUDGET, Math.min(budget, Math.floor(cap * 0.75)));
}

/** Generation 4.6 or later. */
function isAdaptive(model: string): boolean {
  return (claudeGeneration(model) ?? 0) >= 4.6;
}
