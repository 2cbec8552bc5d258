/**
 * Differences between models behind the same API. The model is only in the URL, and unsupported fields are
 * rejected, so the name decides; for an inference profile's ARN, which reveals nothing, the minimum is
 * assumed.
 *
 * Sources: AWS's pages "Prompt caching", "ToolResultBlock", "ToolChoice" and "Extended thinking", and the errors of
 * the API: "This model doesn't support the toolConfig.toolChoice.any field", "… the stopSequences field".
 */
import { claudeGeneration, openaiReasoning } from "../restrictions/refused_parameters.ts";
import type { EncodeRequest } from "../format.ts";

export interface Rules {
  claude: boolean;
  nova: boolean;
  /** Cache points are supported. */
  caches: boolean;
  /** Also after tools. */
  cachesTools: boolean;
  /** Also with a TTL of one hour. */
  hourCache: boolean;
  /** Reasoning is encrypted, and must be returned without its text. */
  hides: boolean;
  /** Results may have a status. */
  status: boolean;
  /** Forced tool calls: of any tool or a named one, only of any, or none. */
  forced: "named" | "any" | "none";
  /** Stop sequences are supported. */
  stops: boolean;
}

/** The rules of a model, by id and features. */
export function rulesOf({ model, features }: EncodeRequest): Rules {
  const claude = model.includes("claude");
  const nova = /amazon\.nova|nova-/.test(model);
  // Other models cache automatically, and Bedrock rejects cache points for them.
  const marks = claude || nova || /^arn:/i.test(model);
  const caches = features === null ? claude || nova : marks && features.has("prompt_caching");
  return {
    claude,
    nova,
    caches,
    cachesTools: caches && !nova,
    hourCache: caches && (claudeGeneration(model) ?? 0) >= 4.5,
    hides: openaiReasoning(model) !== null || /\bxai\.|grok/.test(model),
    status: claude || nova,
    forced: /llama|command-|jamba|palmyra/.test(model)
      ? "none"
      : /mistral|pixtral|deepseek/.test(model)
      ? "any"
      : "named",
    stops: !/qwen|deepseek\.v3/.test(model),
  };
}
