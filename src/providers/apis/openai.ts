/** What OpenAI's two APIs have in common, with the servers that copied them. */
import { array, number, object, string } from "../../exchange/json.ts";
import type { ListedModel, ModelsList } from "./api.ts";

/** RFC 6750. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/**
 * `{data: [{id}]}`, in one page; Together sends the array alone. OpenAI's own list says nothing of sizes. Context sizes are
 * called `max_model_len` by vLLM, `context_length` by OpenRouter, `context_window` by Groq, `max_context_length` by Mistral.
 */
export const OPENAI_MODELS: ModelsList = {
  path: () => "/models",
  read(body) {
    const models = array(Array.isArray(body) ? body : object(body).data).map(object).flatMap((m) => {
      const id = string(m.id);
      if (id === undefined || id === "") return [];
      const contextLength = number(m.max_model_len) ?? number(m.context_length) ?? number(m.context_window) ??
        number(m.max_context_length);
      const listed: ListedModel = { id, ...(contextLength !== undefined && { contextLength }) };
      return [listed];
    });
    return { models, next: null };
  },
};
