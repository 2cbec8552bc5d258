/** `generationConfig`: sampling, the shape of the answer, its modalities. */
import type { Loose } from "../../exchange/json.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import type { EncodeRequest } from "../format.ts";
import { versionOf } from "./wire.ts";

/** Most stop sequences that Gemini takes. */
export const MOST_STOPS = 5;

export function encodeSampling(prompt: Prompt, context: EncodeRequest): Loose {
  const config: Loose = {};
  const cap = Math.min(prompt.maxOutput ?? Infinity, context.maxOutput ?? Infinity);
  if (prompt.maxOutput !== undefined) config.maxOutputTokens = cap;
  if (prompt.temperature !== undefined) config.temperature = prompt.temperature;
  if (prompt.topP !== undefined) config.topP = prompt.topP;
  if (prompt.topK !== undefined) config.topK = prompt.topK;
  const stops = prompt.stop?.filter((s) => s !== "").slice(0, MOST_STOPS) ?? [];
  if (stops.length > 0) config.stopSequences = stops;
  // Int32 there.
  if (prompt.seed !== undefined) config.seed = Math.trunc(prompt.seed) % 0x80000000;
  // Many models refuse the fields themselves; clients send zeros by default.
  if (prompt.presencePenalty) config.presencePenalty = prompt.presencePenalty;
  if (prompt.frequencyPenalty) config.frequencyPenalty = prompt.frequencyPenalty;
  // Streams of several candidates are not served: the pipeline asks for those one by one.
  if (prompt.n !== undefined && prompt.n > 1 && !context.stream) config.candidateCount = prompt.n;
  if (prompt.logprobs) {
    config.responseLogprobs = true;
    if (prompt.topLogprobs) config.logprobs = prompt.topLogprobs;
  }
  return config;
}

/**
 * Models before Gemini 3 refuse a JSON answer beside functions, and a model may lack one or both forms of it. What the
 * API cannot enforce, the system text asks for.
 */
export function encodeShape(
  prompt: Prompt,
  { features, model }: EncodeRequest,
  hasTools: boolean,
): { config?: Loose; instruction?: string } {
  const output = prompt.output;
  if (!output || output.type === "text") return {};
  const version = versionOf(model);
  const free = !hasTools || version === null || version >= 3;
  const has = (feature: string) => free && (features === null || features.has(feature));
  const config = { responseMimeType: "application/json" };
  if (output.type === "json") {
    return has("response_format") || has("structured_outputs") ? { config } : {
      instruction: "Answer with one valid JSON value and nothing else: no Markdown, no words around it.",
    };
  }
  if (has("structured_outputs")) return { config: { ...config, responseJsonSchema: output.schema } };
  const instruction =
    "Answer with JSON that follows the JSON Schema below and nothing else: no Markdown, no words " +
    `around it.\n${output.description ? `${output.description}\n` : ""}${JSON.stringify(output.schema)}`;
  return has("response_format") ? { config, instruction } : { instruction };
}

/** OpenAI's voices. Google refuses names that it does not know. */
const FOREIGN_VOICES = /^(?:alloy|ash|ballad|cedar|coral|echo|fable|marin|nova|onyx|sage|shimmer|verse)$/;

/** Speech models refuse text beside audio, image models want it. */
export function encodeModalities(prompt: Prompt): Loose {
  const wanted = prompt.modalities ?? [];
  if (wanted.includes("audio")) {
    const voice = voiceOf(prompt);
    return {
      responseModalities: ["AUDIO"],
      ...(voice && { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } }),
    };
  }
  return wanted.includes("image") ? { responseModalities: ["TEXT", "IMAGE"] } : {};
}

export function voiceOf(prompt: Prompt): string | undefined {
  const voice = prompt.audio?.voice;
  return typeof voice === "string" && !FOREIGN_VOICES.test(voice) ? voice : undefined;
}
