/** The settings of a request as attributes of each of its provider calls. */
import type { Labels } from "../exchange/labels.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { AttributeWriter } from "./otlp/attributes.ts";

/** A copy: the prompt itself may be large and is not needed until the end of the answer. */
export interface Asked extends
  Pick<
    Prompt,
    "maxOutput" | "temperature" | "topP" | "topK" | "frequencyPenalty" | "presencePenalty" | "seed"
  > {
  choices: number;
  /** `gen_ai.output.type`; undefined: the request does not say. */
  output: "text" | "json" | "image" | "speech" | undefined;
  /** Id of the session; null: none. */
  conversation: string | null;
}

/** @param choices of each provider call */
export function askedOf(prompt: Prompt, labels: Labels | null, choices: number): Asked {
  const { maxOutput, temperature, topP, topK, frequencyPenalty, presencePenalty, seed } = prompt;
  return {
    maxOutput,
    temperature,
    topP,
    topK,
    frequencyPenalty,
    presencePenalty,
    seed,
    choices,
    output: outputOf(prompt),
    conversation: labels?.session ?? null,
  };
}

function outputOf({ output, modalities }: Prompt): Asked["output"] {
  if (modalities?.includes("audio")) return "speech";
  if (modalities?.includes("image")) return "image";
  if (output === undefined) return undefined;
  return output.type === "text" ? "text" : "json";
}

export function writeAsked(to: AttributeWriter, asked: Asked): void {
  if (asked.conversation !== null) to.text("gen_ai.conversation.id", asked.conversation);
  if (asked.output !== undefined) to.text("gen_ai.output.type", asked.output);
  if (asked.choices > 1) to.int("gen_ai.request.choice.count", asked.choices);
  whole(to, "gen_ai.request.max_tokens", asked.maxOutput);
  whole(to, "gen_ai.request.seed", asked.seed);
  whole(to, "gen_ai.request.top_k", asked.topK);
  fraction(to, "gen_ai.request.temperature", asked.temperature);
  fraction(to, "gen_ai.request.top_p", asked.topP);
  fraction(to, "gen_ai.request.frequency_penalty", asked.frequencyPenalty);
  fraction(to, "gen_ai.request.presence_penalty", asked.presencePenalty);
}

/** Numbers that the encoding does not have, such as a seed below zero, are left out. */
function whole(to: AttributeWriter, key: string, value: number | undefined): void {
  if (value !== undefined && value >= 0 && Number.isSafeInteger(value)) to.int(key, value);
}

function fraction(to: AttributeWriter, key: string, value: number | undefined): void {
  if (value !== undefined && Number.isFinite(value)) to.double(key, value);
}
