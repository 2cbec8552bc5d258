/**
 * Encodes reasoning settings. The API has a field for the effort; everything else is model-specific, in
 * `additionalModelRequestFields`: Claude's `thinking`, Nova's `reasoningConfig`, `reasoning_effort` of
 * gpt-oss, `reasoning` of OpenAI's other models, which reject that of gpt-oss.
 */
import type { Loose } from "../../exchange/json.ts";
import type { Effort, Prompt } from "../../exchange/prompt.ts";
import { nearestEffort, requestedEffort } from "../effort.ts";
import { encodeEffort as encodeOpenaiEffort } from "../chat_completions/encode_effort.ts";
import type { EncodeRequest } from "../format.ts";
import { encodeEffort as encodeClaudeEffort } from "../messages/encode_effort.ts";
import { openaiReasoning } from "../restrictions/refused_parameters.ts";
import type { Rules } from "./rules.ts";

interface EncodedEffort {
  /** For `additionalModelRequestFields`. */
  fields?: Loose;
  /** For `outputConfig`. */
  effort?: Effort;
  /** Reasoning is enabled, which excludes other options. */
  thinks: boolean;
  /** The caller's setting is not representable. */
  dropped: boolean;
}

const THREE: readonly Effort[] = ["low", "medium", "high"];

/** @param free false: something else in the request excludes reasoning */
export function encodeEffort(
  prompt: Prompt,
  context: EncodeRequest,
  { rules, free }: { rules: Rules; free: boolean },
): EncodedEffort {
  const { reasoning } = prompt;
  const effort = requestedEffort(reasoning);
  if (rules.claude) {
    const cap = Math.min(prompt.maxOutput ?? Infinity, context.maxOutput ?? Infinity);
    const { thinking, effort: level, dropped } = encodeClaudeEffort(reasoning, cap, context, free);
    return {
      ...(thinking && { fields: { thinking } }),
      ...(level !== undefined && { effort: level }),
      thinks: thinking !== undefined && thinking.type !== "disabled",
      dropped,
    };
  }
  if (openaiReasoning(context.model) !== null) {
    const { effort: level, lost } = encodeOpenaiEffort(reasoning, context.efforts, context.features);
    return {
      ...(level !== undefined && { fields: { reasoning: { effort: level } } }),
      thinks: false,
      dropped: lost,
    };
  }
  if (effort === undefined || effort === "none") return { thinks: false, dropped: false };
  if (context.features !== null && !context.features.has("reasoning")) {
    return { thinks: false, dropped: true };
  }
  const level = nearestEffort(effort, context.efforts?.filter((e) => THREE.includes(e)) ?? THREE);
  if (context.model.includes("gpt-oss")) {
    return { fields: { reasoning_effort: level }, thinks: false, dropped: false };
  }
  if (/nova-2/.test(context.model)) {
    // Its highest effort excludes an output limit, which counts more.
    const limited = level === "high" && prompt.maxOutput !== undefined;
    const maxReasoningEffort = limited ? "medium" : level;
    return {
      fields: { reasoningConfig: { type: "enabled", maxReasoningEffort } },
      thinks: maxReasoningEffort === "high",
      dropped: limited,
    };
  }
  return { thinks: false, dropped: true };
}
