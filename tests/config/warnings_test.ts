/** What a configuration may have, and is warned of. */
import { assertEquals } from "@std/assert";
import { environment, least, load, mistakesOf } from "./example.ts";

const plus = (fields: Record<string, unknown>) => ({ ...least(), ...fields });
const provider = (fields: Record<string, unknown>) =>
  plus({ providers: { up: { ...least().providers.up, ...fields } } });
const model = (fields: Record<string, unknown>) => plus({ models: [{ ...least().models[0], ...fields }] });
const key = (fields: Record<string, unknown>) =>
  plus({ keys: [{ name: "k", secret: "sk_live_0123456789abcdef", ...fields }] });

const addresses = (up: string, ollama: string) =>
  plus({
    providers: { up: { api: "openai-chat", base_url: up, api_key: "k" }, ollama: { base_url: ollama } },
  });

const WARNINGS: [situation: string, value: unknown, warnings: string[]][] = [
  ["policies that do not exist", {
    ...key({ dlp_policy: "finanse", access_policy: "eu" }),
    dlp_policies: { finance: { mode: "mask" } },
  }, [
    'keys[0].access_policy: expected null, as there are no access_policies (its calls are refused until then), got "eu"',
    'keys[0].dlp_policy: expected one of the dlp_policies finance (its calls are refused until then), got "finanse"; ' +
    "nearest is finance",
  ]],
  ["an exact id that no model has", {
    ...key({ models: ["up/*", "up/aa"] }),
    access_policies: { p: { deny: ["x/y"] } },
  }, [
    'access_policies.p.deny[0]: expected one of the models up/a, svc/auto or a pattern, got "x/y"',
    'keys[0].models[1]: expected one of the models up/a, svc/auto or a pattern, got "up/aa"; nearest is up/a',
  ]],
  [
    "an admin key and a key that can be guessed",
    plus({ admin_key: "hunter2", keys: [{ name: "k", secret: "sk_live_1" }] }),
    [
      "admin_key: so short that it can be guessed; expected 16 random characters or more",
      "keys[0].secret: so short that it can be guessed; expected 16 random characters or more",
    ],
  ],
  ["a key that has ended", key({ expires_at: "2020-01-01" }), [
    'keys[0].expires_at: expected a time later than now (calls of the key are refused), got "2020-01-01"',
  ]],
  ["processes that cannot share their store", {
    ...plus({ server: { workers: 4 } }),
    store: { url: "sqlite::memory:" },
  }, ["server.workers: processes cannot share a store in memory; there is one"]],
  [
    "an identity provider whose people have no role",
    plus({ oidc: { issuer: "https://id.example", client_id: "x", roles: { claim: "roles", map: {} } } }),
    ["oidc.roles.map: empty, so nobody can sign in through the identity provider"],
  ],
  ["prices left out", model({ pricing: undefined }), [
    "models[0].pricing: left out, so the model costs nothing unless its price is known",
  ]],
  [
    "a search engine at an address of one's own without a key",
    plus({
      search: { engine: "brave", base_url: "http://127.0.0.1:1" },
    }),
    ["search.api_key: expected a key, since brave answers no one without, got nothing"],
  ],
  [
    "an empty key of a provider that wants one",
    plus({ providers: { up: { preset: "openai", api_key: "" } } }),
    [
      "providers.up.api_key: empty, so openai refuses every call; left out, it is taken from OPENAI_API_KEY",
    ],
  ],
  ["no providers", { providers: {} }, ["providers: there are none, so no model can be asked"]],
  ["addresses without the path of their API", addresses("https://api.openai.com", "http://10.0.0.1:11434/"), [
    "providers.up.base_url: expected an address with the path of its API, like https://api.openai.com/v1, " +
    'got "https://api.openai.com"',
    "providers.ollama.base_url: expected an address with the path of its API, like http://10.0.0.1:11434/v1, " +
    'got "http://10.0.0.1:11434/"',
  ]],
  [
    "addresses with the path of an endpoint",
    addresses("https://api.openai.com/v1/chat/completions", "http://10.0.0.1:11434/v1/models/"),
    [
      "providers.up.base_url: expected the address without the endpoint, like https://api.openai.com/v1, " +
      'got "https://api.openai.com/v1/chat/completions"',
      "providers.ollama.base_url: expected the address without the endpoint, like http://10.0.0.1:11434/v1, " +
      'got "http://10.0.0.1:11434/v1/models/"',
    ],
  ],
  [
    "nothing where addresses have the path of their API, or need none",
    addresses("https://api.deepseek.com", "http://10.0.0.1:11434/v1"),
    [],
  ],
  [
    "nothing of a server that merely is on this machine",
    addresses("http://127.0.0.1:4000", "http://h:1/v1"),
    [],
  ],
  [
    "the usual server of this machine without the path of its API",
    addresses("http://localhost:8000", "http://h:1/v1"),
    [
      "providers.up.base_url: expected an address with the path of its API, like http://localhost:8000/v1, " +
      'got "http://localhost:8000"',
    ],
  ],
];
for (const [situation, value, expected] of WARNINGS) {
  Deno.test(`loadConfig() warns of ${situation}`, () => assertEquals(load(value).warnings, expected));
}

Deno.test("loadConfig() warns of a variable that is empty", () => {
  const { warnings } = load(provider({ api_key: "${K}" }), environment({ K: "" }));
  assertEquals(warnings, ["providers.up.api_key: the environment variable K is empty"]);
});

Deno.test("a store in memory has one worker, and a number of workers that is a mistake stays one", () => {
  const store = { url: "sqlite::memory:" };
  const { config } = load(plus({ server: { workers: 64 }, store }));
  assertEquals(config.server.workers, 1);
  for (const workers of [65, 1.5, "2"]) {
    assertEquals(mistakesOf(() => load(plus({ server: { workers }, store }))), [
      `server.workers: expected a whole number from 1 to 64, got ${JSON.stringify(workers)}`,
    ]);
  }
});
