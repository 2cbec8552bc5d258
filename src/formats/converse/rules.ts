/**
 * What models differ in behind the one API. It names a model in the address only and refuses what a model does not take, so
 * the name decides; a profile's ARN tells nothing, and then the least is assumed.
 *
 * Sources: AWS's pages "Prompt caching", "ToolResultBlock" and "Extended thinking".
 */
import { claudeGeneration } from "../refused_parameters.ts";
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
  /** Results may say that their tool failed. */
  status: boolean;
}

export function rulesOf({ model, features }: EncodeRequest): Rules {
  const claude = model.includes("claude");
  const nova = /amazon\.nova|nova-/.test(model);
  const caches = features === null ? claude || nova : features.has("prompt_caching");
  return {
    claude,
    nova,
    caches,
    cachesTools: caches && !nova,
    hourCache: caches && (claudeGeneration(model) ?? 0) >= 4.5,
    status: claude || nova,
  };
}
