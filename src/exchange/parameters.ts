/**
 * Parameters that a model accepts or rejects. The catalog may specify them (`parameters`); otherwise they are
 * derived from the model's name (`formats/refused_parameters.ts`).
 */
export const PARAMETERS = {
  temperature: "Sampling temperature.",
  top_p: "Nucleus sampling. Left out: as `temperature`, where that is false.",
  top_k: "Sampling among the likeliest tokens. Left out: as `temperature`, where that is false.",
  stop: "Stop sequences.",
  seed: "A seed for sampling.",
  frequency_penalty: "A penalty for words that came often.",
  presence_penalty: "A penalty for words that came already.",
  logit_bias: "Biases of single tokens.",
  logprobs: "Probabilities of tokens.",
  prefill: "A conversation whose last turn is the model's own, which it then continues.",
  system_messages: "Anthropic: `system` messages behind the first message of another role.",
  thought_signatures:
    "Gemini: calls in the history must be signed, so unsigned ones get the value that Google has for them.",
} as const;

export type ParameterName = keyof typeof PARAMETERS;

export const PARAMETER_NAMES = Object.keys(PARAMETERS) as ParameterName[];

/** False: rejected. True: accepted. Absent: derived from the model's name. */
export type Parameters = Readonly<Partial<Record<ParameterName, boolean>>>;
