/** Common parts of OpenAI's two APIs and compatible servers. */
import { type Loose, number, object, string } from "../../exchange/json.ts";
import type { ListedModel, ModelsList } from "./api.ts";

/** RFC 6750. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/**
 * `{data: [{id}]}`, in one page; Together sends a bare array. OpenAI's own list has no sizes. The context
 * length is `max_model_len` in vLLM, `context_length` in OpenRouter, `context_window` in Groq,
 * `max_context_length` in Mistral.
 */
export const OPENAI_MODELS: ModelsList = {
  path: () => "/models",
  read(body) {
    const data = Array.isArray(body) ? body : object(body).data;
    if (!Array.isArray(data)) return null;
    const models = data.map(object).flatMap((m) => {
      const id = string(m.id);
      if (id === undefined || id === "" || !converses(m)) return [];
      const contextLength = number(m.max_model_len) ?? number(m.context_length) ?? number(m.context_window) ??
        number(m.max_context_length);
      const maxCompletion = number(object(m.top_provider).max_completion_tokens) ??
        number(m.max_completion_tokens);
      const pricing = pricesOf(object(m.pricing));
      const listed: ListedModel = {
        id,
        ...(contextLength !== undefined && { contextLength }),
        ...(maxCompletion !== undefined && { maxCompletion }),
        ...(pricing !== undefined && { pricing }),
      };
      return [listed];
    });
    return { models, next: null };
  },
};

/** `type` of models that do not answer conversations: Together, LM Studio. */
const OTHER_TYPES = /^(?:image|video|audio|embeddings?|moderation|rerank|transcribe|tts|stt)$/;

/**
 * False: the list says that the model answers no conversations. Mistral has `capabilities`, Fireworks `supports_chat`, Groq `active`,
 * OpenRouter and Hugging Face the modalities of the output.
 */
function converses({ type, capabilities, supports_chat, active, architecture }: Loose): boolean {
  const { output_modalities: outputs } = object(architecture);
  return !OTHER_TYPES.test(string(type) ?? "") && object(capabilities).completion_chat !== false &&
    supports_chat !== false && active !== false && !(Array.isArray(outputs) && !outputs.includes("text"));
}

const CACHE_KINDS = ["input_cache_read", "input_cache_write", "input_cache_write_1h"];
/** Parts of the input and output, and the request. A zero means that they have no price of their own, and not that they are free. */
const PART_KINDS = ["internal_reasoning", "audio", "audio_output", "request"];

/**
 * OpenRouter's prices: strings per token, and per request. `-1` means that the price depends on the model that answers. Images have a
 * price for each image there, which is not read.
 */
function pricesOf(pricing: Record<string, unknown>): Record<string, string> | undefined {
  const isPrice = (value: unknown): value is string =>
    typeof value === "string" && /^\d{1,3}(?:\.\d{1,18})?$/.test(value);
  const { prompt, completion } = pricing;
  if (!isPrice(prompt) || !isPrice(completion)) return undefined;
  const prices: Record<string, string> = { prompt, completion };
  for (const kind of [...CACHE_KINDS, ...PART_KINDS]) {
    const price = pricing[kind];
    if (isPrice(price) && (Number(price) > 0 || CACHE_KINDS.includes(kind))) prices[kind] = price;
  }
  return prices;
}
