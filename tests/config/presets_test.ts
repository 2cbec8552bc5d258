import { assertEquals, assertThrows } from "@std/assert";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { API_NAMES } from "../../src/providers/apis/mod.ts";
import { PRESETS } from "../../src/providers/presets.ts";
import { providersCommand } from "../../src/commands/providers.ts";

const MODEL = {
  id: "a/b",
  routes: [{ provider: "p", model: "m" }],
  pricing: { prompt: "0", completion: "0" },
};

function loaded(providers: Record<string, unknown>, env: Record<string, string> = {}) {
  const [name] = Object.keys(providers);
  const models = [{ ...MODEL, routes: [{ provider: name, model: "m" }] }];
  return loadConfig(JSON.stringify({ providers, models }), { env: (name) => env[name] }).config.providers[0];
}

function mistakes(providers: Record<string, unknown>, env: Record<string, string> = {}): string[] {
  const error: ConfigError = assertThrows(() => loaded(providers, env), ConfigError);
  return error.mistakes.map(({ path, message }) => `${path}: ${message}`);
}

/** Values for every variable that any preset reads. */
const FULL = Object.fromEntries(
  PRESETS.flatMap(({ baseUrl, keys }) =>
    [...baseUrl.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).concat(keys)
  )
    .map((name) => [name, `value-of-${name.toLowerCase().replaceAll("_", "-")}`]),
);

for (const preset of PRESETS.filter(({ cloud }) => cloud === undefined)) {
  Deno.test(`the preset ${preset.name} is a whole provider by its name alone`, () => {
    assertEquals(API_NAMES.includes(preset.api), true);
    const provider = loaded({ [preset.name]: {} }, FULL);
    const key = preset.keys.length > 0 ? FULL[preset.keys[0]] : "";
    assertEquals([provider.api.name, provider.auth], [preset.api, { type: "key", key }]);
    assertEquals(provider.baseUrl, preset.baseUrl.replace(/\$\{(\w+)\}/g, (_, name) => FULL[name]));
    assertEquals(loaded({ mine: { preset: preset.name } }, FULL).baseUrl, provider.baseUrl);
  });
}

Deno.test("a preset without its variables is a mistake that names them", () => {
  assertEquals(mistakes({ google: {} }), [
    "providers.google.api_key: expected the environment variable GEMINI_API_KEY or GOOGLE_API_KEY, which is not set, or the field itself",
  ]);
  assertEquals(mistakes({ databricks: { api_key: "k" } }), [
    "providers.databricks.base_url: expected the environment variable DATABRICKS_HOST, which is not set, or the field itself",
  ]);
});

Deno.test("a preset whose callers bring their credential needs none of its own", () => {
  const provider = loaded({ google: { pass_credentials: true } }, {});
  assertEquals([provider.passCredentials, provider.auth], [true, { type: "key", key: "" }]);
  const own = loaded({ google: { pass_credentials: true } }, { GEMINI_API_KEY: "own" });
  assertEquals(own.auth, { type: "key", key: "own" });
});

Deno.test("fields of the file win over the preset's, and the file over the vendor's variable for another address", () => {
  const env = { OPENAI_API_KEY: "from-env", OPENAI_BASE_URL: "http://127.0.0.1:9/v1/" };
  assertEquals(loaded({ openai: {} }, env).baseUrl, "http://127.0.0.1:9/v1");
  const own = loaded(
    { openai: { base_url: "http://127.0.0.1:8/v1", api_key: "own", api: "openai-chat" } },
    env,
  );
  assertEquals([own.api.name, own.baseUrl, own.auth], ["openai-chat", "http://127.0.0.1:8/v1", {
    type: "key",
    key: "own",
  }]);
  const chat = loaded({ openai: { api: "openai-chat" } }, env);
  assertEquals([chat.api.name, chat.auth], ["openai-chat", { type: "key", key: "from-env" }]);
});

Deno.test("the vendors' variables for another address are taken as the vendors write them", () => {
  const keys = { ANTHROPIC_API_KEY: "a", GEMINI_API_KEY: "g" };
  assertEquals(
    loaded({ anthropic: {} }, { ...keys, ANTHROPIC_BASE_URL: "http://h:1" }).baseUrl,
    "http://h:1/v1",
  );
  assertEquals(
    loaded({ anthropic: {} }, { ...keys, ANTHROPIC_BASE_URL: "http://h:1/v1/" }).baseUrl,
    "http://h:1/v1",
  );
  assertEquals(
    loaded({ google: {} }, { ...keys, GOOGLE_GEMINI_BASE_URL: "http://h:1/" }).baseUrl,
    "http://h:1/v1beta",
  );
});

Deno.test("a key of the environment goes to no address that the file wrote in full", () => {
  const env = { OPENAI_API_KEY: "secret" };
  const own = loaded({ openai: { api: "openai-chat", base_url: "http://127.0.0.1:8/v1" } }, env);
  assertEquals(own.auth, { type: "key", key: "" });
});

Deno.test("a key that a header cannot carry is a mistake that does not show it", () => {
  const found = mistakes({ mistral: {} }, { MISTRAL_API_KEY: "two words" });
  assertEquals(found, [
    "providers.mistral.api_key: expected printable ASCII without spaces or line breaks, got another value (not shown)",
  ]);
});

Deno.test("another kind of credential needs no key of the preset", () => {
  assertEquals(loaded({ openai: { auth: { type: "none" } } }).auth, { type: "none" });
});

Deno.test("an unknown preset is a mistake with the nearest name", () => {
  const found = mistakes({ p: { preset: "mistrall" } });
  assertEquals(found[0].startsWith("providers.p.preset: expected one of openai, anthropic, google"), true);
  assertEquals(found[0].endsWith('got "mistrall"; nearest is mistral'), true);
});

Deno.test("sluice providers says what is missing, and shows no key", () => {
  const env = { OPENAI_API_KEY: "sk-secret" };
  const text = providersCommand((name) => env[name as keyof typeof env], [], { json: false });
  const line = (name: string) => text.split("\n").find((l) => l.startsWith(`${name} `))?.replace(/\s+/g, " ");
  assertEquals(line("openai"), "openai openai-responses api.openai.com key from OPENAI_API_KEY");
  assertEquals(line("mistral"), "mistral openai-chat api.mistral.ai set MISTRAL_API_KEY");
  assertEquals(line("databricks"), "databricks openai-chat set DATABRICKS_HOST and DATABRICKS_TOKEN");
  assertEquals(line("vertex"), "vertex gemini set GOOGLE_CLOUD_PROJECT");
  assertEquals(line("ollama"), "ollama openai-chat 127.0.0.1:11434 needs no key");
  assertEquals(text.includes("sk-secret"), false);
});

Deno.test("sluice providers says where a cloud's place and credential come from", () => {
  const env = { AWS_REGION: "eu-west-1", AWS_PROFILE: "p", GOOGLE_CLOUD_PROJECT: "q" };
  const text = providersCommand((name) => env[name as keyof typeof env], [], { json: false });
  const line = (name: string) => text.split("\n").find((l) => l.startsWith(`${name} `))?.replace(/\s+/g, " ");
  assertEquals(
    line("bedrock"),
    "bedrock bedrock-converse bedrock-runtime.eu-west-1.amazonaws.com credential from AWS_PROFILE",
  );
  assertEquals(line("vertex"), "vertex gemini aiplatform.googleapis.com credential of the machine");
});

Deno.test("a name that is nearly a preset's, without an API, is a mistake with the nearest name", () => {
  const [, found] = mistakes({ opnai: {} });
  assertEquals(
    found.replace(/one of .*more/, "one of …"),
    "providers.opnai: expected the name of a known provider, one of …, or preset, or api and base_url, " +
      'got "opnai"; nearest is openai',
  );
});
