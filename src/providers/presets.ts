/**
 * Providers with known API and URL, which a configuration need only name. One line each; the configuration,
 * `sluice providers` and the reference page are derived from the list.
 *
 * URLs and variables are those of the vendors' documentation and of models.dev.
 */
import type { ModelsList } from "./apis/mod.ts";
import { CLOUDFLARE_LIST, COHERE_LIST, DATABRICKS_LIST, GITHUB_LIST } from "./apis/vendor_lists.ts";
import { AZURE } from "./clouds/azure.ts";
import { BEDROCK, BEDROCK_MANTLE } from "./clouds/bedrock.ts";
import type { CloudField, CloudKind, Env, FilesSaid } from "./clouds/cloud.ts";
import { VERTEX } from "./clouds/vertex.ts";

export interface Preset {
  readonly name: string;
  /** API name. For a cloud: that of most models. */
  readonly api: string;
  /** `${NAME}` is a variable that must be set. Empty: determined by `cloud`. */
  readonly baseUrl: string;
  /** Variables with the key; the first that is set counts. Empty: a local server without keys. */
  readonly keys: readonly string[];
  /** The vendor's variable for another URL, and the path to append to form a `base_url`. */
  readonly otherUrl?: { readonly variable: string; readonly path: string };
  /** Its list of models, if not that of its API. Null: none, so that the known models are listed. */
  readonly list?: ModelsList | null;
  /** Without a key, the machine's cloud credential is used. */
  readonly cloud?: CloudKind;
}

export const PRESETS: readonly Preset[] = [
  {
    name: "openai",
    api: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
    keys: ["OPENAI_API_KEY"],
    otherUrl: { variable: "OPENAI_BASE_URL", path: "" },
  },
  {
    name: "anthropic",
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com/v1",
    keys: ["ANTHROPIC_API_KEY"],
    otherUrl: { variable: "ANTHROPIC_BASE_URL", path: "/v1" },
  },
  {
    name: "google",
    api: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    otherUrl: { variable: "GOOGLE_GEMINI_BASE_URL", path: "/v1beta" },
  },
  chat("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  { name: "xai", api: "openai-responses", baseUrl: "https://api.x.ai/v1", keys: ["XAI_API_KEY"] },
  chat("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  chat("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
  {
    ...chat("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"),
    list: COHERE_LIST,
  },
  chat("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
  chat("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
  chat("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  { ...chat("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"), list: null },
  chat("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
  chat("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
  chat("alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
  chat("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
  chat("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"),
  chat("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
  chat("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  { ...chat("github", "https://models.github.ai/inference", "GITHUB_TOKEN"), list: GITHUB_LIST },
  {
    name: "minimax",
    api: "anthropic-messages",
    baseUrl: "https://api.minimax.io/anthropic/v1",
    keys: ["MINIMAX_API_KEY"],
  },
  chat("nebius", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY"),
  {
    ...chat("databricks", "https://${DATABRICKS_HOST}/ai-gateway/mlflow/v1", "DATABRICKS_TOKEN"),
    list: DATABRICKS_LIST,
  },
  {
    name: "cloudflare",
    api: "openai-chat",
    baseUrl: "https://api.cloudflare.com/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/v1",
    keys: ["CLOUDFLARE_API_KEY", "CLOUDFLARE_API_TOKEN"],
    list: CLOUDFLARE_LIST,
  },
  { name: "azure", api: "openai-responses", baseUrl: "", keys: ["AZURE_OPENAI_API_KEY"], cloud: AZURE },
  { name: "bedrock", api: "bedrock-converse", baseUrl: "", keys: [], cloud: BEDROCK },
  { name: "bedrock-mantle", api: "openai-responses", baseUrl: "", keys: [], cloud: BEDROCK_MANTLE },
  { name: "vertex", api: "gemini", baseUrl: "", keys: [], cloud: VERTEX },
  chat("ollama", "http://127.0.0.1:11434/v1"),
  chat("lmstudio", "http://127.0.0.1:1234/v1"),
  chat("vllm", "http://127.0.0.1:8000/v1"),
  chat("llamacpp", "http://127.0.0.1:8080/v1"),
];

function chat(name: string, baseUrl: string, ...keys: readonly string[]): Preset {
  return { name, api: "openai-chat", baseUrl, keys };
}

export const PRESET_NAMES: readonly string[] = PRESETS.map(({ name }) => name);

export type { Env } from "./clouds/cloud.ts";

/** The values of a preset in an environment. */
export interface PresetValues {
  /** Absent: `missing` lists the variables to set. */
  baseUrl?: string;
  /** The variable with the URL; absent: the preset's own URL. */
  baseUrlFrom?: string;
  /** Absent: no variable is set, or none is needed. */
  key?: string;
  /** For a cloud also a variable that indicates a credential without being a key. */
  keyFrom?: string;
  /** For a cloud: the location, and the variables it is from. */
  place?: Partial<Record<CloudField, { value: string; from?: string }>>;
  /** For a cloud: a base URL is set, so that no location is needed. */
  addressed?: boolean;
  /** Variables that must be set; alternatives are joined by ` or `. */
  missing: string[];
}

/** @param said the location of a cloud in the configuration */
export function presetValues(
  preset: Preset,
  env: Env,
  said: Readonly<Record<string, unknown>> = {},
): PresetValues {
  const values: PresetValues = { missing: [] };
  values.keyFrom = preset.keys.find((name) => env(name));
  if (values.keyFrom !== undefined) values.key = env(values.keyFrom);
  values.keyFrom ??= preset.cloud?.credentials.find((name) => env(name));
  if (preset.cloud !== undefined) return cloudValues(preset.cloud, values, env, said);
  const other = preset.otherUrl && env(preset.otherUrl.variable);
  if (preset.otherUrl && other) {
    const base = other.replace(/\/+$/, "");
    values.baseUrl = base.endsWith(preset.otherUrl.path) ? base : base + preset.otherUrl.path;
    values.baseUrlFrom = preset.otherUrl.variable;
  } else {
    const unset = [...preset.baseUrl.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).filter((name) =>
      !env(name)
    );
    if (unset.length > 0) values.missing.push(...unset);
    else {
      // A host may be given as a URL.
      values.baseUrl = preset.baseUrl.replace(
        /\$\{(\w+)\}/g,
        (_, name) => env(name)!.replace(/^https?:\/\/|\/+$/g, ""),
      );
    }
  }
  if (values.key === undefined && preset.keys.length > 0) values.missing.push(preset.keys.join(" or "));
  return values;
}

/**
 * The address of a cloud without the path of one of its APIs: the vendors' pages show complete addresses, such
 * as `https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=…`.
 */
export function withoutApiPath(url: string): string {
  return url.replace(/\/(?:openai|anthropic|v1(?:beta1)?)(?:[/?].*)?$/, "").replace(/\/+$/, "");
}

function cloudValues(
  cloud: CloudKind,
  values: PresetValues,
  env: Env,
  said: Readonly<Record<string, unknown>>,
) {
  let read: FilesSaid | undefined;
  const files = () => read ??= cloud.filesSay?.(env, said.auth) ?? { place: {}, hosts: {} };
  const others = cloud.ignoresOthers?.(env) !== true;
  const other = others ? cloud.otherUrls.find((name) => env(name)) : undefined;
  const otherUrl = other !== undefined
    ? env(other)
    : others && said.base_url === undefined
    ? files().baseUrl
    : undefined;
  // An endpoint URL for all services does not mean that this service exists there, so the location is still
  // needed.
  const addressed = said.base_url !== undefined || (other !== undefined && other === cloud.otherUrls[0]);
  // A request for another location than that of the host would be refused.
  const url = typeof said.base_url === "string" ? said.base_url : otherUrl;
  const located = url === undefined ? {} : cloud.placeIn?.(url) ?? {};
  const place: NonNullable<PresetValues["place"]> = {};
  const at: Partial<Record<CloudField, string>> = {};
  for (const { name, variables, usual, addressOnly } of cloud.fields) {
    const own = typeof said[name] === "string" ? said[name] : located[name];
    const from = own === undefined ? variables.find((variable) => env(variable)) : undefined;
    const value = own ?? (from === undefined ? files().place[name] ?? usual : env(from));
    if (value !== undefined) {
      place[name] = { value, from };
      at[name] = value;
    } else if (!(addressOnly && addressed)) values.missing.push(variables.join(" or "));
  }
  if (otherUrl !== undefined) {
    values.baseUrl = withoutApiPath(otherUrl);
    values.baseUrlFrom = other;
  } else if (values.missing.length === 0) {
    values.baseUrl = cloud.baseUrl(at, (name) => env(name) || files().hosts[name]);
  }
  return { ...values, place, addressed };
}
