/**
 * What models differ in behind the one API. It names a model in the address only and refuses what a model does not take, so
 * the name decides; a profile's ARN tells nothing, and then the least is assumed.
 *
 * Sources: AWS's pages "Prompt caching", "ToolResultBlock" and "Extended thinking".
 */
import { claudeGeneration, openaiReasoning } from "../refused_parameters.ts";
import type { EncodeRequest } from "../format.ts";

export interface Rules {
  claude: boolean;
  nova: boolean;
  /** The model takes cache points. */
  caches: boolean;
  /** Behind tools, too. */
  cachesTools: boolean;
  /** For an hour, too. */
  hourCache: boolean;
  /** Reasoning comes hidden, and goes back so only: with its words it is refused. */
  hides: boolean;
  /** Results may say that their tool failed. */
  status: boolean;
}

/** What the API takes of a model, by its id and its features. */
export function rulesOf({ model, features }: EncodeRequest): Rules {
  const claude = model.includes("claude");
  const nova = /amazon\.nova|nova-/.test(model);
  // Others have a cache of their own that no points mark, and Bedrock refuses these for them.
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
  };
}
