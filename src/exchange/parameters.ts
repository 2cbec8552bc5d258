/**
 * Parameters that a model accepts or rejects. The catalog may specify them (`parameters`); otherwise they are
 * derived from the model's name (`formats/restrictions/refused_parameters.ts`).
 */
export const PARAMETERS = {
  temperature: "Sampling temperature.",
  top_p: "Nucleus sampling. Not set: false if `temperature` is false.",
  top_k: "Sampling among the most likely tokens. Not set: false if `temperature` is false.",
  stop: "Stop sequences.",
  seed: "Seed for sampling.",
  frequency_penalty: "Penalty for tokens by the number of times they occurred.",
  presence_penalty: "Penalty for tokens that occurred at all.",
  logit_bias: "Bias of single tokens.",
  logprobs: "Log probabilities of tokens.",
  verbosity: "Length of the answer. The default (`medium`) is not sent.",
  parallel_tool_calls: "Whether several tools may be called in one turn.",
  prefill: "A conversation that ends with a message of the assistant, which the model continues.",
  system_messages: "Anthropic: `system` messages after the first message with another role.",
  thought_signatures:
    "Gemini: tool calls in the history must have a signature; calls without one get the placeholder signature that Google documents.",
} as const;

export type ParameterName = keyof typeof PARAMETERS;

export const PARAMETER_NAMES = Object.keys(PARAMETERS) as ParameterName[];

/** False: rejected. True: accepted. Absent: derived from the model's name. */
export type Parameters = Readonly<Partial<Record<ParameterName, boolean>>>;
