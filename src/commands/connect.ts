/**
 * `sluice connect`: the settings that a client needs to use the gateway, as text or written to the client's
 * settings file.
 */
import { UsageError, wrong } from "./option_values.ts";
import { object } from "../exchange/json.ts";
import { writePrivateFile } from "./private_file.ts";
import { inShell, inYaml, quoted } from "./quoted_text.ts";

export interface Connection {
  /** Without a path: `http://127.0.0.1:8787`. */
  url: string;
  secret: string;
  /** A catalog id. */
  model: string;
  /** API of the provider that the client calls with a credential of its own (`pass_credentials`). Absent: none. */
  passes?: string;
}

export interface ClientSettings {
  /** The settings to paste, and where. */
  text: string;
  /** The settings file of the client. Absent: it has none, or none that another program can write. */
  file?: SettingsFile;
}

interface SettingsFile {
  /** Relative to the home folder. */
  path: string;
  /**
   * The new text of the file, from its current text (null: there is no file). Null: the file cannot be
   * changed safely.
   */
  write(before: string | null): string | null;
}

type Client = (connection: Connection) => ClientSettings;

const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": ({ url, secret, model, passes }) => {
    if (passes === "anthropic-messages") return ownSubscription(url, secret, model);
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: secret, ANTHROPIC_MODEL: model };
    return {
      text: `In ~/.claude/settings.json:\n\n${pretty({ env })}`,
      file: jsonFile(".claude/settings.json", { env }),
    };
  },
  codex: ({ url, secret, model, passes }) => {
    if (passes === "openai-responses") return ownLogin(url, secret, model);
    const toml = `model = ${quoted(model)}
model_provider = "sluice"

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
  opencode: ({ url, secret, model }) => {
    const provider = {
      sluice: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: secret },
        models: { [model]: {} },
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
  continue: ({ url, secret, model }) => {
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
    capabilities: [tool_use]
`;
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

/** Claude Code with a sign-in at the vendor. If a token or a key is set, Claude Code ignores its own sign-in. */
function ownSubscription(url: string, secret: string, model: string): ClientSettings {
  const key = `x-svc-key: ${secret}`;
  const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_CUSTOM_HEADERS: key, ANTHROPIC_MODEL: model };
  return {
    text: `In ~/.claude/settings.json, without ANTHROPIC_AUTH_TOKEN and ANTHROPIC_API_KEY:\n\n${
      pretty({ env })
    }\nand sign in as ever: claude /login`,
    file: jsonFile(".claude/settings.json", (before) => {
      const headers = object(object(before).env).ANTHROPIC_CUSTOM_HEADERS;
      const others = typeof headers === "string"
        ? headers.split("\n").filter((line) => line.trim() !== "" && !/^\s*x-svc-key\s*:/i.test(line))
        : [];
      return {
        env: {
          ...env,
          ANTHROPIC_CUSTOM_HEADERS: [...others, key].join("\n"),
          ANTHROPIC_AUTH_TOKEN: undefined,
          ANTHROPIC_API_KEY: undefined,
        },
      };
    }),
  };
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

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

type Fields = Record<string, unknown>;

/** Merges fields into those that the file has. Undefined fields are removed. */
function jsonFile(path: string, more: Fields | ((before: unknown) => Fields)): SettingsFile {
  return {
    path,
    write(before) {
      const over = (has: unknown) => typeof more === "function" ? more(has) : more;
      if (before === null || before.trim() === "") return pretty(over({}));
      try {
        const has = JSON.parse(before);
        return pretty(merged(has, over(has)));
      } catch {
        // The file has comments or is damaged: its owner has to change it.
        return null;
      }
    },
  };
}

function merged(before: unknown, more: unknown): unknown {
  const isFields = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isFields(before) || !isFields(more)) return more;
  const fields = { ...before };
  for (const [name, value] of Object.entries(more)) fields[name] = merged(before[name], value);
  return fields;
}

/** A file in a format that is not merged here: it is written only if it is missing or empty. */
function newFile(path: string, text: string): SettingsFile {
  return { path, write: (before) => before === null || before.trim() === "" ? text : null };
}

/** The home folder. Throws `UsageError` if the environment does not name it. */
export function homeFolder(env: (name: string) => string | undefined): string {
  const home = env("HOME") || env("USERPROFILE");
  if (home) return home;
  throw new UsageError("Cannot write settings: expected the variable HOME to name a folder, it is not set");
}

/**
 * Writes the settings. Resolves with what was done, or why nothing was. The file as it was before the first
 * time is kept as a backup beside it. Afterwards only its owner can read the file, which contains a key.
 */
export async function writeSettings({ file }: ClientSettings, home: string): Promise<string> {
  if (file === undefined) return "This client has no file of settings; they are above.";
  const path = `${home}/${file.path}`;
  const before = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  const text = file.write(before);
  if (text === null) return `${path} is there already and was left as it is; the settings are above.`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (before === null) {
    await writePrivateFile(path, text, { createNew: true });
    return `Wrote ${path}.`;
  }
  const backup = `${path}.before-sluice`;
  const kept = await writePrivateFile(backup, before, { createNew: true }).then(
    () => `what was there is in ${backup}`,
    (error) => {
      if (error instanceof Deno.errors.AlreadyExists) return `what was there at first is in ${backup}`;
      throw error;
    },
  );
  await writePrivateFile(path, text);
  return `Wrote ${path}; ${kept}.`;
}
