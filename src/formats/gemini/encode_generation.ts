/** Encodes `generationConfig`: sampling, output format, modalities. */
import type { Loose } from "../../exchange/json.ts";
import type { ParameterName } from "../../exchange/parameters.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import type { NamedField } from "../dropped/field_names.ts";
import type { EncodeRequest } from "../format.ts";
import { takes } from "../restrictions/refused_parameters.ts";
import { describedSchema } from "../schemas/strict_schema.ts";
import { encodeSchema, isEndless } from "./encode_schema.ts";
import { versionOf } from "./wire.ts";

/** Maximum number of stop sequences. */
const MOST_STOPS = 5;

/** `refused`: fields that the model rejects, completely or in part. */
export function encodeSampling(
  prompt: Prompt,
  context: EncodeRequest,
): { config: Loose; refused: NamedField[] } {
  const config: Loose = {};
  const refused: NamedField[] = [];
  const set = (field: NamedField, name: ParameterName, value: Loose) => {
    if (takes(name, context)) Object.assign(config, value);
    else refused.push(field);
  };
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = prompt;
  const cap = Math.min(prompt.maxOutput ?? Infinity, context.maxOutput ?? Infinity);
  if (prompt.maxOutput !== undefined) config.maxOutputTokens = cap;
  if (temperature !== undefined) set("temperature", "temperature", { temperature });
  if (topP !== undefined) set("topP", "top_p", { topP });
  if (topK !== undefined) set("topK", "top_k", { topK });
  const stops = prompt.stop?.filter((s) => s !== "") ?? [];
  if (stops.length > 0) set("stop", "stop", { stopSequences: stops.slice(0, MOST_STOPS) });
  if (stops.length > MOST_STOPS || stops.length < (prompt.stop?.length ?? 0)) refused.push("stop");
  if (seed !== undefined) set("seed", "seed", { seed });
  // Many models reject these fields; clients send zeros by default.
  if (presencePenalty) set("presencePenalty", "presence_penalty", { presencePenalty });
  if (frequencyPenalty) set("frequencyPenalty", "frequency_penalty", { frequencyPenalty });
  // Streams with several candidates are not supported: the pipeline makes separate calls.
  if (prompt.n !== undefined && prompt.n > 1 && !context.stream) config.candidateCount = prompt.n;
  if (prompt.logprobs) {
    const most = prompt.topLogprobs ? { logprobs: prompt.topLogprobs } : {};
    set("logprobs", "logprobs", { responseLogprobs: true, ...most });
  } else if (prompt.topLogprobs) refused.push("topLogprobs");
  return { config, refused };
}

/**
 * Models before Gemini 3 reject JSON output together with functions, and a model may not support one or both
 * forms. What the API cannot enforce is requested in the system text.
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
  if (has("structured_outputs") && !isEndless(output.schema)) {
    return { config: { ...config, responseJsonSchema: encodeSchema(describedSchema(output)) } };
  }
  const instruction =
    "Answer with JSON that follows the JSON Schema below and nothing else: no Markdown, no words " +
    `around it.\n${output.description ? `${output.description}\n` : ""}${JSON.stringify(output.schema)}`;
  return has("response_format") || has("structured_outputs") ? { config, instruction } : { instruction };
}

/** OpenAI's voices. Google rejects unknown names. */
const FOREIGN_VOICES = /^(?:alloy|ash|ballad|cedar|coral|echo|fable|marin|nova|onyx|sage|shimmer|verse)$/;

/** Speech models reject text beside audio, image models require it. */
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

/** The requested voice, unless it belongs to another vendor. */
export function voiceOf(prompt: Prompt): string | undefined {
  const voice = prompt.audio?.voice;
  return typeof voice === "string" && !FOREIGN_VOICES.test(voice) ? voice : undefined;
}
