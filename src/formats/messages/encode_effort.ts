/**
 * How much to reason, for a provider: `thinking` and `output_config.effort`.
 *
 * Models of this API come in two generations. Up to 4.5 they take `{type: "enabled", budget_tokens}` and know no effort;
 * from 4.6 on they take `{type: "adaptive"}` with an effort, and the newest refuse budgets. The generation is read from the
 * model's own name; a name that tells nothing gets the older form, which compatible providers implement.
 */
import { array, isObject, type Loose, number } from "../../exchange/json.ts";
import type { Effort, Prompt, ReasoningOptions } from "../../exchange/prompt.ts";
import { budgetOf, LEAST_BUDGET, nearestEffort, requestedEffort } from "../effort.ts";
import type { EncodeRequest } from "../format.ts";
import { quietThinking } from "../claude_rules.ts";
import { claudeGeneration } from "../refused_parameters.ts";

/** Levels of `output_config.effort`. */
const LEVELS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

const DEEP: ReadonlySet<Effort> = new Set(["xhigh", "max"]);

interface EncodedEffort {
  thinking?: Loose;
  effort?: Effort;
  /** The provider cannot be told what the caller asked for. */
  dropped: boolean;
}

/** Tokens for an answer whose length nobody bounds; every model of this API can write as many. */
const USUAL_OUTPUT = 8192;

/** `max_tokens` is required, and thinking counts towards it. */
export function outputCap(prompt: Prompt, context: EncodeRequest): number {
  const most = context.maxOutput ?? Infinity;
  if (prompt.maxOutput !== undefined) return Math.min(prompt.maxOutput, most);
  if (context.maxOutput !== null) return most;
  return USUAL_OUTPUT + (prompt.reasoning?.budget ?? budgetOf(requestedEffort(prompt.reasoning) ?? "none"));
}

/** For callers of other formats. @param free false: something else in the request forbids thinking */
export function encodeEffort(
  options: ReasoningOptions | undefined,
  cap: number,
  context: EncodeRequest,
  free: boolean,
): EncodedEffort {
  const effort = requestedEffort(options);
  if (options?.mode === "adaptive" && effort === undefined) {
    // A model up to 4.5 decides nothing by itself.
    if (!free || !isAdaptive(context.model) || !mayReason(context)) return { dropped: true };
    return { thinking: adaptive(options), dropped: false };
  }
  if (!options || effort === undefined) return { dropped: false };
  if (effort === "none") {
    if (!isAdaptive(context.model)) return { dropped: false };
    const thinking = quietThinking(context.model);
    // The least that there is.
    return thinking === null ? { effort: "low", dropped: false } : { thinking, dropped: false };
  }
  if (!mayReason(context)) return { dropped: true };
  if (isAdaptive(context.model)) {
    const offered = LEVELS.filter((level) => context.efforts === null || context.efforts.includes(level));
    // Without thinking, the highest levels are refused.
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
 * For callers of this format: their own words, but for a budget that the output cap covers no more since the gateway lowered
 * it. One for thinking between calls of tools is for the whole turn of the assistant, of which an answer is a part, and may
 * be above the cap; so may every budget that the caller wrote above its own cap, which the provider judges.
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

/** A quarter of the cap, at least, is left for the answer. Undefined: the cap is below the least budget. */
function fittingBudget(budget: number, cap: number): number | undefined {
  if (cap <= LEAST_BUDGET) return undefined;
  return Math.max(LEAST_BUDGET, Math.min(budget, Math.floor(cap * 0.75)));
}

/** Generation 4.6 or later. */
function isAdaptive(model: string): boolean {
  return (claudeGeneration(model) ?? 0) >= 4.6;
}
