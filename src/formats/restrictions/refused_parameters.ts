/**
 * Parameters that a model rejects: according to its catalog entry, or else its name. Vendors drop parameters
 * between generations, and the APIs do not report it, so without a catalog entry only the name is available.
 * This does not apply to callers of the provider's own format: their requests are passed on.
 *
 * Sources: Anthropic's migration guides (sampling from Claude 4.7 on, prefill from 4.6 on, sampling under API
 * version 2026-10-21 for any model) and its page "Mid-conversation system messages", OpenAI's guide
 * "Reasoning models" and its reference of `stop` (from GPT-5.1 on sampling is accepted while reasoning is
 * off) and the errors of its API (`verbosity` before GPT-5, `parallel_tool_calls` of the o-series), xAI's guide
 * "Reasoning", and the errors of Google's API about penalties.
 */
import type { ParameterName } from "../../exchange/parameters.ts";
import type { EncodeRequest } from "../format.ts";

/** The first version of Anthropic's API without sampling parameters. */
export const VERSION_WITHOUT_SAMPLING = "2026-10-21";

const SAMPLING: readonly ParameterName[] = ["temperature", "top_p", "top_k"];

const OPENAI_REASONING: readonly ParameterName[] = [
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "logprobs",
];

/** Accepted by GPT-5.1 and later while reasoning is off. */
const OPENAI_QUIET: readonly ParameterName[] = ["temperature", "top_p", "logprobs"];

/** @param quiet the request disables reasoning */
export function takes(name: ParameterName, context: EncodeRequest, quiet = false): boolean {
  const { parameters = {}, model, apiVersion } = context;
  const said = parameters[name] ??
    (SAMPLING.includes(name) && parameters.temperature === false ? false : undefined);
  if (said !== undefined) return said;
  if (SAMPLING.includes(name) && apiVersion !== undefined && apiVersion >= VERSION_WITHOUT_SAMPLING) {
    return false;
  }
  return !refusedByName(name, model, quiet);
}

function refusedByName(name: ParameterName, model: string, quiet: boolean): boolean {
  const claude = claudeGeneration(model);
  if (name === "system_messages") return (claude ?? 0) < firstWithSystemMessages(model);
  if (claude !== null) {
    return SAMPLING.includes(name) ? claude >= 4.7 : name === "prefill" && claude >= 4.6;
  }
  const openai = openaiReasoning(model);
  if (name === "parallel_tool_calls") return openai !== null && openai < 5;
  if (name === "verbosity") return (openai !== null && openai < 5) || isOlderGpt(model);
  if (openai !== null) {
    return OPENAI_REASONING.includes(name) && !(quiet && openai >= 5.1 && OPENAI_QUIET.includes(name));
  }
  // Google's answer: "Penalty is not enabled for this model". Gemini 2.0 was the last that had penalties.
  if (/gemini-(?:2\.[5-9]|[3-9]|\d\d)/i.test(model)) {
    return name === "frequency_penalty" || name === "presence_penalty";
  }
  if (/grok-(?:3-mini|4|5)/i.test(model) && !/non-reasoning/i.test(model)) {
    return name === "stop" || name === "frequency_penalty" || name === "presence_penalty";
  }
  return false;
}

/**
 * Whether a model has no levels of reasoning, and rejects them: "Model grok-4-1-fast-reasoning does not support
 * parameter reasoningEffort". Of xAI's models only these have some.
 */
export function hasNoLevels(model: string): boolean {
  return /grok/i.test(model) && !/grok-3-mini|multi-agent|grok-(?:4[.-][3-9](?!\d)|[5-9])/i.test(model);
}

/** Whether it is GPT-4.5 or older, which do not reason: `gpt-4o`, `chatgpt-4o-latest`, `gpt-3.5-turbo`. */
export function isOlderGpt(model: string): boolean {
  return /(?:^|[^a-z]|chat)gpt-[34](?!\d)/i.test(model);
}

/** The first generation of a Claude family with system messages within a conversation. */
function firstWithSystemMessages(model: string): number {
  if (/opus/i.test(model)) return 4.8;
  return /fable|mythos/i.test(model) ? 5 : 5.5;
}

/**
 * 4.6 for `claude-opus-4-6`, `claude-sonnet-4.6`, `claude-4.6-opus`, with any prefix or date; null if the
 * name is not of a Claude model, or has no number. An alias of the latest is above all numbers.
 */
export function claudeGeneration(model: string): number | null {
  if (/claude-[a-z]+-latest/i.test(model)) return Infinity;
  const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(model);
  return found && Number(found[1]) + Number(found[2] ?? 0) / 10;
}

/**
 * The generation of an OpenAI reasoning model: 5.2 for `gpt-5.2-mini`, 1 for `o1`; null for every other
 * model. `gpt-5-chat` does not reason.
 */
export function openaiReasoning(model: string): number | null {
  const found = /(?:^|[/.:])(?:o([1-9])(?:-|$)|codex-)|(?:^|[^a-z])gpt-([5-9](?:\.\d+)?)(?!\d)/.exec(
    model.toLowerCase(),
  );
  if (!found || /gpt-5-chat|gpt-oss/i.test(model)) return null;
  return Number(found[1] ?? found[2] ?? 1);
}
