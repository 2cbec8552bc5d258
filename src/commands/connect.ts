/**
 * `sluice connect`: the settings that a client needs to use the gateway, as text or written to the client's
 * settings file.
 */
import { array, object } from "../exchange/json.ts";
import { wrong } from "./option_values.ts";
import { inShell, inYaml, quoted } from "./quoted_text.ts";
import { jsonFile, newFile, pretty, type SettingsFile } from "./settings_file.ts";

export interface Connection {
  /** Without a path: `http://127.0.0.1:8787`. */
  url: string;
  secret: string;
  /** A catalog id. */
  model: string;
  /** API of the provider that the client calls with a credential of its own (`pass_credentials`). Absent: none. */
  passes?: string;
  /** What the catalog says of the model. Absent: nothing is known. */
  facts?: ModelFacts;
}

/**
 * Clients do not read these from the gateway. Without them, they assume a context of 128,000 to 1,000,000
 * tokens or none at all, and begin to shorten a conversation too late or never.
 */
export interface ModelFacts {
  /** In tokens; null: unknown. */
  context: number | null;
  /** In tokens; null: unknown. */
  output: number | null;
  images: boolean;
  reasons: boolean;
}

export interface ClientSettings {
  /** The settings to paste, and where. */
  text: string;
  /** The settings file of the client. Absent: it has none, or none that another program can write. */
  file?: SettingsFile;
}

type Client = (connection: Connection) => ClientSettings;

const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": claudeCode,
  codex: ({ url, secret, model, passes, facts }) => {
    if (passes === "openai-responses") return ownLogin(url, secret, model);
    const toml = `model = ${quoted(model)}
${facts?.context ? `model_context_window = ${facts.context}\n` : ""}model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${url}/v1"
env_key = "SLUICE_KEY"
wire_api = "responses"
supports_websockets = true
`;
    return {
      text: `In ~/.codex/config.toml:\n\n${toml}\nand in the shell:\n\nexport SLUICE_KEY=${secret}`,
      file: newFile(".codex/config.toml", toml),
    };
  },
  opencode: ({ url, secret, model, facts }) => {
    const provider = {
      sluice: {
        // The responses format: opencode returns the proofs of reasoning.
        npm: "@ai-sdk/openai",
        options: { baseURL: `${url}/v1`, apiKey: secret },
        models: { [model]: openCodeModel(facts) },
      },
    };
    return {
      text: `In ~/.config/opencode/opencode.json:\n\n${pretty({ provider })}`,
      file: jsonFile(".config/opencode/opencode.json", { provider }),
    };
  },
  cline: ({ url, secret, model }) => ({
    text: `cline auth -p openai -k ${inShell(secret)} -m ${inShell(model)} -b ${url}/v1`,
  }),
  aider: ({ url, secret, model }) => {
    const yaml = `# The first openai/ names the API to speak, the rest is the catalog id.
model: ${inYaml(`openai/${model}`)}
openai-api-base: ${url}/v1
openai-api-key: ${secret}
`;
    return { text: `In ~/.aider.conf.yml:\n\n${yaml}`, file: newFile(".aider.conf.yml", yaml) };
  },
  continue: ({ url, secret, model, facts }) => {
    const yaml = `name: Sluice
version: 0.0.1
schema: v1
models:
  - name: Sluice
    provider: openai
    model: ${inYaml(model)}
    apiBase: ${url}/v1
    apiKey: ${secret}
    roles: [chat, edit, apply]
    capabilities: [tool_use${facts?.images ? ", image_input" : ""}]
${facts?.context ? `    defaultCompletionOptions:\n      contextLength: ${facts.context}\n` : ""}`;
    return { text: `In ~/.continue/config.yaml:\n\n${yaml}`, file: newFile(".continue/config.yaml", yaml) };
  },
  "qwen-code": (connection) => {
    const { url, secret, model } = connection;
    const env = `OPENAI_BASE_URL=${url}/v1\nOPENAI_API_KEY=${secret}\nOPENAI_MODEL=${inShell(model)}\n`;
    return {
      text: `In ~/.qwen/.env:\n\n${env}\nthen: qwen --auth-type openai`,
      file: newFile(".qwen/.env", env),
    };
  },
  llm: ({ url, secret, model }) => {
    const yaml = `- model_id: sluice
  model_name: ${inYaml(model)}
  api_base: "${url}/v1"
  api_key_name: sluice
`;
    return {
      text: `llm keys set sluice --value ${secret}\n\n` +
        `In ~/.config/io.datasette.llm/extra-openai-models.yaml:\n\n${yaml}\nthen: llm -m sluice "Good morning"`,
      file: newFile(".config/io.datasette.llm/extra-openai-models.yaml", yaml),
    };
  },
  copilot: ({ url, secret, model, facts }) =>
    shell({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: secret,
      COPILOT_PROVIDER_WIRE_API: "responses",
      COPILOT_MODEL: model,
      ...(facts?.context && facts.output && facts.output < facts.context && {
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(facts.context - facts.output),
        COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(facts.output),
      }),
      COPILOT_OFFLINE: "true",
    }),
  pi: ({ url, secret, model, facts }) => {
    const providers = {
      sluice: {
        baseUrl: `${url}/v1`,
        api: "openai-responses",
        apiKey: secret,
        models: [{
          id: model,
          reasoning: facts?.reasons ?? false,
          input: facts?.images ? ["text", "image"] : ["text"],
          ...(facts?.context && { contextWindow: facts.context }),
          ...(facts?.output && { maxTokens: facts.output }),
        }],
      },
    };
    return {
      text: `In ~/.pi/agent/models.json:\n\n${pretty({ providers })}\nthen: pi --provider sluice --model ${
        inShell(model)
      }`,
      file: jsonFile(".pi/agent/models.json", { providers }),
    };
  },
  crush: ({ url, secret, model, facts }) => {
    const providers = {
      sluice: {
        name: "Sluice",
        type: "openai-compat",
        base_url: `${url}/v1`,
        api_key: secret,
        models: [{
          id: model,
          name: model,
          ...(facts?.context && { context_window: facts.context }),
          ...(facts?.output && { default_max_tokens: facts.output }),
          can_reason: facts?.reasons ?? false,
          supports_attachments: facts?.images ?? false,
        }],
      },
    };
    return {
      text: `In ~/.config/crush/crush.json:\n\n${pretty({ providers })}`,
      file: jsonFile(".config/crush/crush.json", { providers }),
    };
  },
  droid: ({ url, secret, model, facts }) => {
    const own = {
      model,
      displayName: `Sluice: ${model}`,
      baseUrl: `${url}/v1`,
      apiKey: secret,
      // With its format for chat-completions, droid sends neither images nor proofs of reasoning.
      provider: "openai",
      ...(facts?.output && { maxOutputTokens: facts.output }),
      ...(facts && !facts.images && { noImageSupport: true }),
    };
    return {
      text: `In ~/.factory/settings.json:\n\n${pretty({ customModels: [own] })}`,
      file: jsonFile(".factory/settings.json", (before) => ({
        customModels: [
          ...array(object(before).customModels).filter((one) => object(one).displayName !== own.displayName),
          own,
        ],
      })),
    };
  },
  goose: ({ url, secret, model, facts }) =>
    shell({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: model,
      OPENAI_HOST: url,
      OPENAI_BASE_PATH: "v1/chat/completions",
      OPENAI_API_KEY: secret,
      ...(facts?.context && { GOOSE_CONTEXT_LIMIT: String(facts.context) }),
    }),
  zed: ({ url, secret, model, facts }) => {
    const language_models = {
      openai_compatible: {
        Sluice: {
          api_url: `${url}/v1`,
          available_models: [{
            name: model,
            max_tokens: facts?.context ?? 128_000,
            ...(facts?.output && { max_output_tokens: facts.output }),
            capabilities: { tools: true, images: facts?.images ?? false, parallel_tool_calls: true },
          }],
        },
      },
    };
    return {
      text: `In ~/.config/zed/settings.json:\n\n${
        pretty({ language_models })
      }\nand in the shell that starts Zed:\n\nexport SLUICE_API_KEY=${inShell(secret)}`,
    };
  },
  vscode: ({ url, secret, model, facts }) => {
    const { context, output } = facts ?? { context: null, output: null };
    const maxOutputTokens = output ?? 16_000;
    const provider = {
      name: "Sluice",
      vendor: "customendpoint",
      apiKey: secret,
      apiType: "responses",
      models: [{
        id: model,
        name: model,
        url: `${url}/v1`,
        toolCalling: true,
        vision: facts?.images ?? false,
        maxInputTokens: Math.max((context ?? 128_000) - maxOutputTokens, 1),
        maxOutputTokens,
      }],
    };
    return {
      text: "In chatLanguageModels.json, which the command Chat: Open Language Models (JSON) opens:\n\n" +
        pretty([provider]),
    };
  },
  librechat: ({ url, secret, model }) => ({
    text: `In librechat.yaml:

endpoints:
  custom:
    - name: Sluice
      apiKey: ${quoted(secret)}
      baseURL: ${quoted(`${url}/v1`)}
      models:
        default: [${quoted(model)}]
        fetch: true
      titleConvo: true
      titleModel: current_model`,
  }),
  "open-webui": ({ url, secret }) =>
    shell({ OPENAI_API_BASE_URL: `${url}/v1`, OPENAI_API_KEY: secret, ENABLE_OLLAMA_API: "false" }),
  openai: ({ url, secret }) => shell({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: secret }),
  anthropic: ({ url, secret }) => shell({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: secret }),
  "ai-sdk": ({ url, secret, model }) => ({
    text: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const sluice = createOpenAICompatible({ name: "sluice", baseURL: "${url}/v1", apiKey: "${secret}" });
const model = sluice(${quoted(model)});`,
  }),
  langchain: ({ url, secret, model }) => ({
    text: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=${quoted(model)}, base_url="${url}/v1", api_key="${secret}")`,
  }),
  curl: ({ url, secret, model }) => {
    const body = { model, messages: [{ role: "user", content: "Good morning" }] };
    return {
      text:
        `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" \\
  -d ${inShell(JSON.stringify(body))}`,
    };
  },
};

/** Without a limit, opencode never shortens a conversation; without `attachment`, it sends no images. */
function openCodeModel(facts: ModelFacts | undefined) {
  if (facts === undefined) return {};
  const { context, output, images, reasons } = facts;
  return {
    reasoning: reasons,
    attachment: images,
    tool_call: true,
    ...(images && { modalities: { input: ["text", "image"], output: ["text"] } }),
    ...(context && { limit: { context, output: output ?? context } }),
  };
}

/** Claude Code uses them for small tasks and for agents, whatever the model is. */
const CLAUDE_MODELS = ["OPUS", "SONNET", "HAIKU"].map((name) => `ANTHROPIC_DEFAULT_${name}_MODEL`);

/** With its own sign-in, it must have neither a token nor a key, which it would use instead. */
function claudeCode({ url, secret, model, passes, facts }: Connection): ClientSettings {
  const signsIn = passes === "anthropic-messages";
  const key = `x-svc-key: ${secret}`;
  const env: Record<string, string | undefined> = {
    ANTHROPIC_BASE_URL: url,
    [signsIn ? "ANTHROPIC_CUSTOM_HEADERS" : "ANTHROPIC_AUTH_TOKEN"]: signsIn ? key : secret,
    ANTHROPIC_MODEL: model,
    ...(!signsIn && !/claude/i.test(model) && Object.fromEntries(CLAUDE_MODELS.map((name) => [name, model]))),
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: !signsIn && facts?.context ? String(facts.context) : undefined,
  };
  const [where, then] = signsIn
    ? [", without ANTHROPIC_AUTH_TOKEN and ANTHROPIC_API_KEY", "\nand sign in as ever: claude /login"]
    : ["", ""];
  return {
    text: `In ~/.claude/settings.json${where}:\n\n${pretty({ env })}${then}`,
    file: jsonFile(".claude/settings.json", (before) => {
      const had = object(object(before).env);
      // What an earlier `connect` wrote for another model or another way to sign in would still count.
      const old = CLAUDE_MODELS.filter((name) =>
        had[name] !== undefined && had[name] === had.ANTHROPIC_MODEL
      );
      const headers = [...otherHeaders(had.ANTHROPIC_CUSTOM_HEADERS), ...(signsIn ? [key] : [])];
      return {
        env: {
          ...Object.fromEntries(old.map((name) => [name, undefined])),
          ...env,
          ANTHROPIC_CUSTOM_HEADERS: headers.length === 0 ? undefined : headers.join("\n"),
          ...(signsIn && { ANTHROPIC_AUTH_TOKEN: undefined, ANTHROPIC_API_KEY: undefined }),
        },
      };
    }),
  };
}

/** The lines of Claude Code's own headers without the one for the gateway's key. */
function otherHeaders(headers: unknown): string[] {
  if (typeof headers !== "string") return [];
  return headers.split("\n").filter((line) => line.trim() !== "" && !/^\s*x-svc-key\s*:/i.test(line));
}

/** Codex, with a ChatGPT login or a key of OpenAI. */
function ownLogin(url: string, secret: string, model: string): ClientSettings {
  const toml = `model = ${quoted(model)}
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${url}/v1"
wire_api = "responses"
requires_openai_auth = true
http_headers = { "x-svc-key" = "${secret}" }
`;
  return {
    text: `In ~/.codex/config.toml:\n\n${toml}\nand sign in as ever: codex login`,
    file: newFile(".codex/config.toml", toml),
  };
}

export const CLIENT_NAMES: readonly string[] = Object.keys(CLIENTS);

/** Throws `UsageError` for an unknown client. */
export function clientNamed(name: string): Client {
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (client !== undefined) return client;
  throw wrong("client", CLIENT_NAMES, name);
}

function shell(variables: Readonly<Record<string, string>>): ClientSettings {
  return {
    text: Object.entries(variables).map(([name, value]) => `export ${name}=${inShell(value)}`).join("\n"),
  };
}
