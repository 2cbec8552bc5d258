/**
 * Names of the fields of a request that Gemini cannot be told, as the caller wrote them. Fields that do not change the
 * answer (cache marks, tracking, what is the default anyway) are not worth a word.
 */
import type { CallerFormatName } from "../../exchange/format_name.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { foreignFields } from "../encode_dropped.ts";
import { MOST_STOPS, voiceOf } from "./encode_generation.ts";

const NAMES = {
  reasoning: { chat_completions: "reasoning_effort", messages: "thinking", responses: "reasoning" },
  parallelCalls: {
    chat_completions: "parallel_tool_calls",
    messages: "tool_choice",
    responses: "parallel_tool_calls",
  },
  logitBias: { chat_completions: "logit_bias", messages: "logit_bias", responses: "logit_bias" },
  verbosity: { chat_completions: "verbosity", messages: "verbosity", responses: "text" },
  serviceTier: { chat_completions: "service_tier", messages: "service_tier", responses: "service_tier" },
  stop: { chat_completions: "stop", messages: "stop_sequences", responses: "stop" },
  audio: { chat_completions: "audio", messages: "audio", responses: "audio" },
} as const satisfies Record<string, Record<CallerFormatName, string>>;

/** Tiers that are what one gets anyway. */
const USUAL_TIERS = new Set(["auto", "default", "standard", "standard_only"]);

/** @param noThinking the model cannot be told how much to reason */
export function droppedFields(prompt: Prompt, noThinking: boolean): string[] {
  const dropped = new Set([...Object.keys(prompt.unknown), ...foreignFields(prompt, "gemini")]);
  const drop = (field: keyof typeof NAMES) =>
    dropped.add(NAMES[field][prompt.format === "gemini" ? "chat_completions" : prompt.format]);
  if (noThinking) drop("reasoning");
  if (prompt.parallelCalls === false && prompt.tools.length > 0) drop("parallelCalls");
  if (prompt.logitBias && Object.keys(prompt.logitBias).length > 0) drop("logitBias");
  if (prompt.verbosity !== undefined && prompt.verbosity !== "medium") drop("verbosity");
  if (prompt.serviceTier !== undefined && !USUAL_TIERS.has(prompt.serviceTier)) drop("serviceTier");
  if (prompt.stop && prompt.stop.length > MOST_STOPS) drop("stop");
  if (prompt.audio && prompt.modalities?.includes("audio") && !voiceOf(prompt)) drop("audio");
  return [...dropped];
}
