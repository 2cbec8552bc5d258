/** Converts the deployments of a LiteLLM configuration, each with its own address and key, to Sluice's providers. */
import type { Loose } from "../exchange/json.ts";
import { PRESETS } from "../providers/presets.ts";
import { type Access, written } from "./litellm_credentials.ts";

/** The presets for LiteLLM's names of providers. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "google",
  mistral: "mistral",
  xai: "xai",
  groq: "groq",
  deepseek: "deepseek",
  cohere: "cohere",
  cohere_chat: "cohere",
  together_ai: "together",
  fireworks_ai: "fireworks",
  cerebras: "cerebras",
  perplexity: "perplexity",
  moonshot: "moonshot",
  zai: "zai",
  dashscope: "alibaba",
  nvidia_nim: "nvidia",
  huggingface: "huggingface",
  deepinfra: "deepinfra",
  openrouter: "openrouter",
  github: "github",
  minimax: "minimax",
  nebius: "nebius",
  databricks: "databricks",
  cloudflare: "cloudflare",
  azure: "azure",
  azure_ai: "azure",
  bedrock: "bedrock",
  vertex_ai: "vertex",
  ollama: "ollama",
  ollama_chat: "ollama",
  lm_studio: "lmstudio",
  hosted_vllm: "vllm",
  llamafile: "llamacpp",
};

/** Presets whose base URL has no version in LiteLLM, which appends it. */
const VERSIONLESS = new Set(["ollama", "anthropic"]);

/** Splits `litellm_params.model` into preset and model; the preset is null if the prefix is unknown. */
export function modelOf(written: string, params: Loose): { preset: string | null; model: string } {
  const [prefix, ...rest] = written.split("/");
  if (rest.length === 0) {
    const base = params.api_base ?? params.base_url;
    return {
      preset: base === undefined && /^claude/.test(written) ? "anthropic" : "openai",
      model: written,
    };
  }
  const preset = Object.hasOwn(PROVIDERS, prefix) ? PROVIDERS[prefix] : null;
  // `bedrock/converse/…` and `openai/responses/…` also name an API.
  const model = rest.join("/").replace(/^(?:converse|invoke|responses|chat)\//, "");
  return { preset, model };
}

/** Creates one provider for each pair of address and key. */
export class LitellmProviders {
  /** By address and key. */
  readonly #made = new Map<string, { name: string; fields: Loose }>();
  readonly #note: (text: string) => void;

  /** @param note gets messages about what the user should check */
  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  /**
   * The section `providers` of the configuration.
   * @param defaults for fields that a deployment does not set
   */
  section(defaults: Loose): Loose {
    return Object.fromEntries(
      [...this.#made.values()].map(({ name, fields }) => [name, { ...defaults, ...fields }]),
    );
  }

  /** The name of a deployment's provider. A provider is created if none has the same address and key. */
  nameOf(presetName: string, params: Loose, access: Access): string {
    const preset = PRESETS.find(({ name }) => name === presetName);
    const base = params.api_base ?? params.base_url;
    const fields: Loose = {
      ...(typeof base === "string" && base.trim() !== "" && addressOf(presetName, written(base))),
      ...(typeof params.api_key === "string" &&
        !preset?.keys.some((key) => params.api_key === `os.environ/${key}`) &&
        { api_key: written(params.api_key) }),
      ...access.fields,
      ...limitsOf(params.timeout, params.stream_timeout, params.max_retries),
    };
    if (access.literal || (typeof fields.api_key === "string" && !fields.api_key.includes("${"))) {
      this.#note(
        `${presetName}: a key stands in the file as it is; better put it into a variable and write "\${NAME}".`,
      );
    }
    const key = JSON.stringify([presetName, fields]);
    const known = this.#made.get(key);
    if (known !== undefined) return known.name;
    const taken = new Set([...this.#made.values()].map(({ name }) => name));
    let name = presetName;
    for (let i = 2; taken.has(name); i++) name = `${presetName}-${i}`;
    this.#made.set(key, {
      name,
      fields: name === presetName ? fields : { preset: presetName, ...fields },
    });
    return name;
  }
}

/** Time limits in seconds, and the number of retries. Values that are no numbers are left out. */
export function limitsOf(timeout: unknown, streamTimeout: unknown, retries: unknown): Loose {
  return {
    ...(Number(timeout) > 0 && { first_byte_seconds: secondsOf(Number(timeout)) }),
    ...(Number(streamTimeout) > 0 && { idle_seconds: secondsOf(Number(streamTimeout)) }),
    ...(Number.isInteger(retries) && { retries: Math.min(10, Math.max(0, Number(retries))) }),
  };
}

/** Seconds within the limits of the fields for times. */
export function secondsOf(seconds: number): number {
  return Math.min(86_400, Math.max(0.01, seconds));
}

function addressOf(preset: string, base: string): Loose {
  if (preset !== "azure") {
    const url = base.replace(/\/+$/, "");
    // LiteLLM appends the version itself for these presets.
    return { base_url: VERSIONLESS.has(preset) && !url.endsWith("/v1") ? `${url}/v1` : url };
  }
  const resource = /^https:\/\/([\w-]+)\.(?:openai|cognitiveservices|services\.ai)\.azure\.com/.exec(base)
    ?.[1];
  return resource === undefined ? { base_url: base.replace(/\/openai.*$|\/+$/, "") } : { resource };
}
