/**
 * Converts a provider's model name to the id `<vendor>/<model>`, which is the same for all providers.
 *
 * | preset                     | name at the provider                             | id                                     |
 * | -------------------------- | ------------------------------------------------ | -------------------------------------- |
 * | anthropic                  | `claude-sonnet-4-5-20250929`                     | `anthropic/claude-sonnet-4-5-20250929` |
 * | bedrock                    | `us.anthropic.claude-sonnet-4-5-20250929-v1:0`   | the same                               |
 * | vertex                     | `claude-sonnet-4-5@20250929`                     | the same                               |
 * | openrouter                 | `anthropic/claude-sonnet-4.5`                    | `anthropic/claude-sonnet-4-5`          |
 * | fireworks                  | `accounts/fireworks/models/kimi-k2`              | `moonshot/kimi-k2`                     |
 * | self-hosted server         | `qwen3:8b`                                       | `ollama/qwen3:8b`                      |
 */

/** Spellings of vendor names at providers that serve models of several vendors. */
const VENDORS: Readonly<Record<string, string>> = {
  "deepseek-ai": "deepseek",
  "meta-llama": "meta",
  "minimaxai": "minimax",
  "mistral-ai": "mistral",
  "mistralai": "mistral",
  "moonshotai": "moonshot",
  "qwen": "alibaba",
  "x-ai": "xai",
  "z-ai": "zai",
  "zai-org": "zai",
};

/** Vendors by patterns of model names. */
const FAMILIES: readonly (readonly [pattern: RegExp, vendor: string])[] = [
  [/^(?:gpt-|o[1-9](?:-|$)|chatgpt|codex|computer-use)/, "openai"],
  [/^claude/, "anthropic"],
  [/^(?:gemini|gemma)/, "google"],
  [/^grok/, "xai"],
  [/^(?:mistral|mixtral|codestral|ministral|devstral|pixtral|magistral|voxtral)/, "mistral"],
  [/^deepseek/, "deepseek"],
  [/^(?:command|c4ai|aya)/, "cohere"],
  [/^(?:llama|meta-llama)/, "meta"],
  [/^(?:qwen|qwq|qvq)/, "alibaba"],
  [/^(?:kimi|moonshot)/, "moonshot"],
  [/^glm-/, "zai"],
  [/^minimax/, "minimax"],
  [/^(?:nova|titan)-/, "amazon"],
  [/^sonar/, "perplexity"],
  [/^phi-/, "microsoft"],
  [/^nemotron/, "nvidia"],
];

/** Presets of vendors that serve only their own models. */
const OWN = new Set([
  "openai",
  "anthropic",
  "google",
  "mistral",
  "xai",
  "deepseek",
  "cohere",
  "perplexity",
  "moonshot",
  "zai",
  "alibaba",
  "minimax",
]);

/** Self-hosted servers: their model names can mean anything. */
const LOCAL = new Set(["ollama", "lmstudio", "vllm", "llamacpp"]);

export const isLocal = (preset: string | null) => preset !== null && LOCAL.has(preset);

/**
 * @param preset the preset of the provider, null if it has none
 * @param provider the provider's name in the configuration
 */
export function idOf(preset: string | null, provider: string, model: string): string {
  if (preset === null || LOCAL.has(preset)) return `${vendorOf(provider)}/${model}`;
  if (OWN.has(preset)) return `${preset}/${plain(preset, model)}`;
  const name = model.replace(/^accounts\/[^/]+\/models\//, "").replace(/^@(?:cf|hf)\//, "").replace(
    /^databricks-/,
    "",
  )
    // Bedrock: region prefix, vendor separated by a dot, version suffix.
    .replace(/^(?:us|eu|apac|au|jp|ca|sa|us-gov|global)\.(?=[a-z]+\.)/, "");
  const slash = name.indexOf("/");
  const dotted = preset === "bedrock" ? /^([a-z\d]+)\.(.+)$/.exec(name) : null;
  if (slash > 0 || dotted) {
    const [vendor, rest] = dotted ? [dotted[1], dotted[2]] : [name.slice(0, slash), name.slice(slash + 1)];
    const lower = vendor.toLowerCase();
    const known = Object.hasOwn(VENDORS, lower) ? VENDORS[lower] : vendorOf(lower);
    return `${known}/${plain(known, rest)}`;
  }
  const family = FAMILIES.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? preset;
  return `${family}/${plain(family, name)}`;
}

/** A provider name may contain characters that are not allowed in an id. */
function vendorOf(name: string): string {
  return name.replace(/[^!-)+-.0-~]/g, "-");
}

function plain(vendor: string, name: string): string {
  let plain = name.replace(/@(?=\d{8}$)/, "-").replace(/@default$/, "").replace(
    /-v\d+(?::\d+(?::\d+k)?)?$/,
    "",
  );
  if (vendor === "anthropic") plain = plain.replace(/(?<=\d)\.(?=\d)/g, "-");
  return plain;
}

const DATE = /-(?:20\d{6}|20\d\d-\d\d-\d\d)$/;

/** The id without a date suffix. */
export const undated = (id: string): string => id.replace(DATE, "");

/**
 * Names of models for embeddings, transcription, speech, images or moderation, in lists that do not state the
 * purpose of a model.
 */
const OTHER =
  /embed|rerank|whisper|transcribe|(?:^|[-_/])tts(?:$|[-_/])|dall-e|gpt-image|chatgpt-image|imagen|moderation|realtime|(?:^|[-_/])sora|(?:^|[-_/])veo-|lyria|(?:babbage|davinci)-002|gpt-3\.5-turbo-instruct|(?:^|[-_/])ocr|stable-diffusion|(?:^|[-_/])flux|(?:^|[-_/])bge-|(?:^|[-_/])aqa$|-live-|native-audio/i;

export const answersConversations = (model: string): boolean => !OTHER.test(model);
