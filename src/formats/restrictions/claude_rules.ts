/**
 * Restrictions of the newest Claude generations on thinking and tool choice, derived from model names, since
 * the API does not report them.
 *
 * Sources: Anthropic's pages "What's new" of Claude Fable 5.1, Opus 5.5, Sonnet 5.5 and Haiku 5.5, and
 * "Prefix checks on thinking blocks".
 */
import type { Loose } from "../../exchange/json.ts";
import { claudeGeneration } from "./refused_parameters.ts";

/** Whether a model is of a given generation or newer; generations are numbered differently per family. */
function since(model: string, first: { fable: number; others: number }): boolean {
  return (claudeGeneration(model) ?? 0) >= (isFable(model) ? first.fable : first.others);
}

function isFable(model: string): boolean {
  return /fable|mythos/i.test(model);
}

/**
 * Whether thinking without a signature is accepted: Claude rejects it, while other models with the same API
 * have no signatures.
 */
export function takesUnsigned(model: string): boolean {
  // The name of a Bedrock inference profile does not reveal the model.
  return !/claude|anthropic|^arn:/i.test(model);
}

/** The setting that disables thinking for a model that thinks by default; null: not possible. */
export function quietThinking(model: string): Loose | null {
  if (isFable(model)) return null;
  if (since(model, { fable: 5, others: 5.5 })) {
    if (/sonnet/i.test(model)) return { type: "between_tools" };
    if (!/haiku/i.test(model)) return null;
  }
  return { type: "disabled" };
}

/** Whether a tool call may be forced. */
export function takesForcedTools(model: string): boolean {
  return /haiku/i.test(model) || !since(model, { fable: 5.1, others: 5.5 });
}

/**
 * Instruction for a model that does not support forced calls.
 * @param name the tool; absent: any
 */
export function callNow(name?: string): string {
  return name === undefined
    ? "Call one of the tools now: do not answer in words alone."
    : `Call the tool ${name} now: do not answer in words alone.`;
}

/** Whether returned thinking is rejected if the conversation before it was changed in any way. */
export function bindsThinking(model: string): boolean {
  return since(model, { fable: 5.1, others: 5.5 });
}

/** The API drops thinking that does not match its conversation, instead of rejecting the request. */
export const LENIENT: Loose = { prefix_mismatch_behavior: "drop_block" };

/** The value of `anthropic-beta` required by {@link LENIENT}. */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";
