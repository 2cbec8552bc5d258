/**
 * What Claudes of the newest generations refuse about thinking and the choice of tools, by their names: the API tells it nobody.
 *
 * Sources: Anthropic's pages "What's new" of Claude Fable 5.1, Opus 5.5, Sonnet 5.5 and Haiku 5.5, and "Prefix checks on
 * thinking blocks".
 */
import type { Loose } from "../exchange/json.ts";
import { claudeGeneration } from "./refused_parameters.ts";

/** Not older than the generation from which something holds, which differs from family to family. */
function since(model: string, first: { fable: number; others: number }): boolean {
  return (claudeGeneration(model) ?? 0) >= (isFable(model) ? first.fable : first.others);
}

function isFable(model: string): boolean {
  return /fable|mythos/i.test(model);
}

/** Whether thinking may come back without a signature: Claude refuses it, while other models that speak its API sign nothing. */
export function takesUnsigned(model: string): boolean {
  // The name of a profile of Bedrock's does not tell the model.
  return !/claude|anthropic|^arn:/i.test(model);
}

/** How a model that thinks by itself is told not to; null: it cannot be. */
export function quietThinking(model: string): Loose | null {
  if (isFable(model)) return null;
  if (since(model, { fable: 5, others: 5.5 })) {
    if (/sonnet/i.test(model)) return { type: "between_tools" };
    if (!/haiku/i.test(model)) return null;
  }
  return { type: "disabled" };
}

/** Whether a choice may demand a call. */
export function takesForcedTools(model: string): boolean {
  return /haiku/i.test(model) || !since(model, { fable: 5.1, others: 5.5 });
}

/** Words for a model that cannot be forced. @param name of the tool; absent: any */
export function callNow(name?: string): string {
  return name === undefined
    ? "Call one of the tools now: do not answer in words alone."
    : `Call the tool ${name} now: do not answer in words alone.`;
}

/** Whether thinking that comes back is refused behind a conversation that was changed, be it by another form of it alone. */
export function bindsThinking(model: string): boolean {
  return since(model, { fable: 5.1, others: 5.5 });
}

/** Thinking that no longer fits its conversation is left out by the API, which refuses the request else. */
export const LENIENT: Loose = { prefix_mismatch_behavior: "drop_block" };

/** The value of `anthropic-beta` that {@link LENIENT} needs. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";
