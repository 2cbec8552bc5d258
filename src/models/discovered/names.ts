/**
 * From a provider's own name of a model to the id `<vendor>/<model>` that is the same behind every door.
 *
 * | door                       | its name                                         | id                                     |
 * | -------------------------- | ------------------------------------------------ | -------------------------------------- |
 * | anthropic                  | `claude-sonnet-4-5-20250929`                     | `anthropic/claude-sonnet-4-5-20250929` |
 * | bedrock                    | `us.anthropic.claude-sonnet-4-5-20250929-v1:0`   | the same                               |
 * | vertex                     | `claude-sonnet-4-5@20250929`                     | the same                               |
 * | openrouter                 | `anthropic/claude-sonnet-4.5`                    | `anthropic/claude-sonnet-4-5`          |
 * | fireworks                  | `accounts/fireworks/models/kimi-k2`              | `moonshot/kimi-k2`                     |
 * | a server of one's own      | `qwen3:8b`                                       | `ollama/qwen3:8b`                      |
 */

/** Spellings of vendors at doors that have models of many. */
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

/** Vendors by how their models are called. */
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

/** Doors of a vendor, which has its own models alone. */
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

/** Servers of one's own: what they have under a name may be anything. */
const LOCAL = new Set(["ollama", "lmstudio", "vllm", "llamacpp"]);

export const isLocal = (door: string | null) => door !== null && LOCAL.has(door);

/**
 * @param door the preset that the provider follows, null where nobody knows what is behind it
 * @param provider the provider's name in the configuration
 */
export function idOf(door: string | null, provider: string, model: string): string {
  if (door === null || LOCAL.has(door)) return `${vendorOf(provider)}/${model}`;
  if (OWN.has(door)) return `${door}/${plain(door, model)}`;
  const name = model.replace(/^accounts\/[^/]+\/models\//, "").replace(/^@(?:cf|hf)\//, "").replace(
    /^databricks-/,
    "",
  )
    // Bedrock: a region in front, the vendor with a dot, a version behind.
    .replace(/^(?:us|eu|apac|au|jp|ca|sa|us-gov|global)\.(?=[a-z]+\.)/, "");
  const slash = name.indexOf("/");
  const dotted = door === "bedrock" ? /^([a-z\d]+)\.(.+)$/.exec(name) : null;
  if (slash > 0 || dotted) {
    const [vendor, rest] = dotted ? [dotted[1], dotted[2]] : [name.slice(0, slash), name.slice(slash + 1)];
    const lower = vendor.toLowerCase();
    const known = Object.hasOwn(VENDORS, lower) ? VENDORS[lower] : vendorOf(lower);
    return `${known}/${plain(known, rest)}`;
  }
  const family = FAMILIES.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? door;
  return `${family}/${plain(family, name)}`;
}

/** A name of a provider may hold what an id may not. */
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

/** The id without the date at its end. */
export const undated = (id: string): string => id.replace(DATE, "");

/** Names of what embeds, transcribes, speaks, draws or judges, in lists that do not say what a model is for. */
const OTHER =
  /embed|rerank|whisper|transcribe|(?:^|[-_/])tts(?:$|[-_/])|dall-e|gpt-image|chatgpt-image|imagen|moderation|realtime|(?:^|[-_/])sora|(?:^|[-_/])veo-|lyria|(?:babbage|davinci)-002|gpt-3\.5-turbo-instruct|(?:^|[-_/])ocr|stable-diffusion|(?:^|[-_/])flux|(?:^|[-_/])bge-|(?:^|[-_/])aqa$|-live-|native-audio/i;

export const answersConversations = (model: string): boolean => !OTHER.test(model);
