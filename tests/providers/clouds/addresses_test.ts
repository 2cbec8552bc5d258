/** Where each API of a cloud is called, by the configuration alone. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../../../src/config/config_error.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { apiOf } from "../../../src/providers/provider.ts";

const PRICING = { prompt: "0", completion: "0" };

function load(provider: object, route: object, env: Record<string, string> = {}) {
  const [name] = Object.keys(provider);
  const models = [{ id: "a/b", pricing: PRICING, routes: [{ provider: name, ...route }] }];
  const { config } = loadConfig(JSON.stringify({ providers: provider, models }), {
    env: (name) => env[name],
  });
  return { provider: config.providers[0], route: config.models[0].routes[0] };
}

/** Addresses of a streamed and of a whole call. */
function addresses(provider: object, route: object, env: Record<string, string> = {}): string[] {
  const loaded = load(provider, route, env);
  // Of the credential nothing is looked at.
  const api = apiOf(loaded.provider as never, loaded.route);
  return [true, false].map((stream) => api.address(loaded.provider.baseUrl, loaded.route.model, stream));
}

function both(address: string): string[] {
  return [address, address];
}

const RUNTIME = "https://bedrock-runtime.eu-central-1.amazonaws.com";
const BEDROCK = { bedrock: { region: "eu-central-1" } };
const CONVERSE = (
  id: string,
  base = RUNTIME,
) => [`${base}/model/${id}/converse-stream`, `${base}/model/${id}/converse`];
const INVOKE = (
  id: string,
) => [`${RUNTIME}/model/${id}/invoke-with-response-stream`, `${RUNTIME}/model/${id}/invoke`];
const ARN = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123";
const ARN_IN_PATH =
  "arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc123";

const BEDROCK_ROUTES: readonly (readonly [object, readonly string[]])[] = [
  [{ model: "amazon.nova-lite-v1:0" }, CONVERSE("amazon.nova-lite-v1%3A0")],
  [{ model: ARN }, CONVERSE(ARN_IN_PATH)],
  [{ model: ARN, api: "anthropic-messages" }, INVOKE(ARN_IN_PATH)],
  [
    { model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", api: "anthropic-messages" },
    INVOKE("eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
  ],
  [
    { model: "anthropic.claude-3-5-sonnet-20241022-v2:0", api: "anthropic-messages" },
    INVOKE("anthropic.claude-3-5-sonnet-20241022-v2%3A0"),
  ],
  [
    { model: "global.anthropic.claude-opus-4-6-v1", api: "anthropic-messages" },
    INVOKE("global.anthropic.claude-opus-4-6-v1"),
  ],
  [{ model: "anthropic.claude-v2:1", api: "anthropic-messages" }, INVOKE("anthropic.claude-v2%3A1")],
  [
    { model: "anthropic.claude-opus-4-7", api: "anthropic-messages" },
    both(`${RUNTIME}/anthropic/v1/messages`),
  ],
  [
    { model: "eu.anthropic.claude-sonnet-5-v1:0", api: "anthropic-messages" },
    both(`${RUNTIME}/anthropic/v1/messages`),
  ],
  [{ model: "openai.gpt-5.5", api: "openai-responses" }, both(`${RUNTIME}/openai/v1/responses`)],
  [{ model: "openai.gpt-oss-120b-1:0", api: "openai-chat" }, both(`${RUNTIME}/openai/v1/chat/completions`)],
];

Deno.test("Bedrock has an address for each API, by the model's generation", () => {
  for (const [route, expected] of BEDROCK_ROUTES) assertEquals(addresses(BEDROCK, route), expected);
});

Deno.test("Bedrock's region comes from the environment, and its address from a variable or the file", () => {
  const route = { model: "m" };
  assertEquals(
    addresses({ bedrock: {} }, route, { AWS_REGION: "us-west-2", AWS_DEFAULT_REGION: "x" }),
    CONVERSE("m", "https://bedrock-runtime.us-west-2.amazonaws.com"),
  );
  assertEquals(
    addresses({ bedrock: {} }, route, { AWS_DEFAULT_REGION: "cn-north-1" }),
    CONVERSE("m", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
  );
  const env = { AWS_REGION: "us-west-2", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9/" };
  assertEquals(addresses({ bedrock: {} }, route, env), CONVERSE("m", "http://127.0.0.1:9"));
  const own = { bedrock: { base_url: "http://127.0.0.1:8", api: "bedrock-converse", region: "eu-west-1" } };
  assertEquals(addresses(own, route, env), CONVERSE("m", "http://127.0.0.1:8"));
  assertEquals(load(own, route).provider.auth, {
    type: "aws",
    region: "eu-west-1",
    service: "bedrock",
    profile: null,
    roleArn: null,
    externalId: null,
  });
});

Deno.test("Bedrock's newer endpoint has the vendors' own APIs, each at the prefix of the model", () => {
  const base = "https://bedrock-mantle.us-east-1.api.aws";
  const mantle = { "bedrock-mantle": { region: "us-east-1" } };
  assertEquals(addresses(mantle, { model: "openai.gpt-5.5" }), both(`${base}/openai/v1/responses`));
  assertEquals(addresses(mantle, { model: "openai.gpt-oss-120b" }), both(`${base}/v1/chat/completions`));
  assertEquals(
    addresses(mantle, { model: "openai.gpt-oss-120b", api: "openai-responses" }),
    both(`${base}/v1/responses`),
  );
  assertEquals(
    addresses(mantle, { model: "anthropic.claude-haiku-4-5" }),
    both(`${base}/anthropic/v1/messages`),
  );
  const { auth } = load(mantle, { model: "m" }).provider;
  assertEquals([auth.type, "service" in auth && auth.service], ["aws", "bedrock-mantle"]);
  const signed = {
    bedrock: {
      region: "us-east-1",
      base_url: "http://127.0.0.1:9",
      auth: { type: "aws", service: "bedrock-mantle" },
    },
  };
  assertEquals(addresses(signed, { model: "zai.glm-5" }), both("http://127.0.0.1:9/v1/chat/completions"));
});

Deno.test("Vertex AI has an address for each API at each location", () => {
  const at = (location: string | undefined) => ({
    vertex: { project: "p-1", ...(location && { location }) },
  });
  const gemini = (host: string, location: string, model = "gemini-3-pro") => {
    const path = `https://${host}/v1/projects/p-1/locations/${location}/publishers/google/models/${model}`;
    return [`${path}:streamGenerateContent?alt=sse`, `${path}:generateContent`];
  };
  const route = { model: "gemini-3-pro" };
  assertEquals(addresses(at(undefined), route), gemini("aiplatform.googleapis.com", "global"));
  assertEquals(addresses(at("us"), route), gemini("aiplatform.us.rep.googleapis.com", "us"));
  assertEquals(addresses(at("eu"), route), gemini("aiplatform.eu.rep.googleapis.com", "eu"));
  assertEquals(
    addresses(at("europe-west4"), route),
    gemini("europe-west4-aiplatform.googleapis.com", "europe-west4"),
  );
  const env = { GOOGLE_CLOUD_PROJECT: "p-1", GOOGLE_CLOUD_LOCATION: "us-east5" };
  assertEquals(
    addresses({ vertex: {} }, route, env),
    gemini("us-east5-aiplatform.googleapis.com", "us-east5"),
  );
  for (const [host, location] of [["us-east5-aiplatform", "us-east5"], ["aiplatform.eu.rep", "eu"]]) {
    const fixed = { vertex: { project: "p-1", base_url: `https://${host}.googleapis.com` } };
    assertEquals(addresses(fixed, route, env), gemini(`${host}.googleapis.com`, location));
    assertEquals(addresses(fixed, route), gemini(`${host}.googleapis.com`, location));
  }
  assertEquals(
    addresses({ vertex: { project: "p-1", base_url: "https://aiplatform.googleapis.com/v1" } }, route),
    gemini("aiplatform.googleapis.com", "global"),
  );
  const moved = { vertex: { project: "p-1", location: "us-east5", base_url: "http://127.0.0.1:9" } };
  const base = "http://127.0.0.1:9/v1/projects/p-1/locations/us-east5";
  assertEquals(addresses(moved, { model: "claude-sonnet-4-5@20250929" }), [
    `${base}/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict`,
    `${base}/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`,
  ]);
  // By its path, as Google's pages name it.
  assertEquals(
    addresses(moved, { model: "publishers/anthropic/models/claude-opus-4-6" })[1],
    `${base}/publishers/anthropic/models/claude-opus-4-6:rawPredict`,
  );
  const elsewhere = "projects/q/locations/eu/publishers/anthropic/models/claude-opus-4-6";
  assertEquals(addresses(moved, { model: elsewhere }), [
    `http://127.0.0.1:9/v1/${elsewhere}:streamRawPredict`,
    `http://127.0.0.1:9/v1/${elsewhere}:rawPredict`,
  ]);
  assertEquals(
    addresses(moved, { model: "meta/llama-4-maverick" }),
    both(`${base}/endpoints/openapi/chat/completions`),
  );
  assertEquals(
    addresses(moved, { model: "google/gemini-3-pro", api: "gemini" })[1],
    `${base}/publishers/google/models/gemini-3-pro:generateContent`,
  );
  assertEquals(addresses(moved, { model: "endpoints/123" })[1], `${base}/endpoints/123:generateContent`);
  assertEquals(
    addresses(moved, { model: "projects/q/locations/us/endpoints/9" })[1],
    "http://127.0.0.1:9/v1/projects/q/locations/us/endpoints/9:generateContent",
  );
});

Deno.test("Azure has OpenAI's APIs at one host of a resource and Claude at another", () => {
  const azure = { azure: { resource: "r-1", deployments: { "gpt-5": "our-gpt" } } };
  const base = "https://r-1.openai.azure.com/openai/v1";
  assertEquals(addresses(azure, { model: "gpt-5" }), both(`${base}/responses`));
  assertEquals(addresses(azure, { model: "gpt-5", api: "openai-chat" }), both(`${base}/chat/completions`));
  assertEquals(addresses(azure, { model: "DeepSeek-V3.2" }), both(`${base}/chat/completions`));
  assertEquals(
    addresses(azure, { model: "claude-opus-4-6" }),
    both("https://r-1.services.ai.azure.com/anthropic/v1/messages"),
  );
  const moved = { azure: { resource: "r-1", base_url: "http://127.0.0.1:9" } };
  assertEquals(
    addresses(moved, { model: "claude-opus-4-6" }),
    both("http://127.0.0.1:9/anthropic/v1/messages"),
  );
  const shown = [
    "/",
    "/openai",
    "/openai/v1/",
    "/openai/deployments/gpt-5/chat/completions?api-version=2024-10-21",
    "/openai/responses?api-version=2025-04-01-preview",
  ];
  for (const path of shown) {
    const endpoint = `https://r-2.openai.azure.com${path}`;
    const wanted = both("https://r-2.openai.azure.com/openai/v1/responses");
    assertEquals(
      addresses({ azure: {} }, { model: "gpt-5" }, { AZURE_OPENAI_ENDPOINT: endpoint }),
      wanted,
    );
    assertEquals(addresses({ azure: { base_url: endpoint } }, { model: "gpt-5" }), wanted);
  }
  assertEquals(
    addresses({ azure: { base_url: "https://proxy.example/azure/" } }, { model: "gpt-5" }),
    both("https://proxy.example/azure/openai/v1/responses"),
  );
  const named = "https://r-3.cognitiveservices.azure.com/";
  assertEquals(
    addresses({ azure: {} }, { model: "claude-opus-4-6" }, { AZURE_OPENAI_ENDPOINT: named }),
    both("https://r-3.services.ai.azure.com/anthropic/v1/messages"),
  );
  const list = { azure: { resource: "r", deployments: ["gpt-5", "o4-mini"] } };
  assertEquals(addresses(list, { model: "o4-mini" }), both("https://r.openai.azure.com/openai/v1/responses"));
});

Deno.test("Azure's national clouds have tokens of their own scope, and Claude at their own host", () => {
  const scopeAt = (endpoint: string, auth: object = {}) => {
    const provider = { azure: { auth: { type: "azure", ...auth } } };
    const { auth: found } = load(provider, { model: "m" }, { AZURE_OPENAI_ENDPOINT: endpoint }).provider;
    return found.type === "azure" && found.scope;
  };
  assertEquals(scopeAt("https://r.openai.azure.com"), "https://cognitiveservices.azure.com/.default");
  assertEquals(scopeAt("https://r.openai.azure.us/"), "https://cognitiveservices.azure.us/.default");
  assertEquals(scopeAt("https://r.openai.azure.cn"), "https://cognitiveservices.azure.cn/.default");
  assertEquals(scopeAt("https://r.openai.azure.us", { scope: "api://own/.default" }), "api://own/.default");
  assertEquals(
    addresses({ azure: {} }, { model: "claude-opus-4-6" }, {
      AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.us",
    }),
    both("https://r.services.ai.azure.us/anthropic/v1/messages"),
  );
});

Deno.test("a key is sent where the endpoint expects it, and Entra is used only without one", () => {
  const azure = { azure: { resource: "r" } };
  const route = { model: "gpt-5" };
  assertEquals(load(azure, route, { AZURE_OPENAI_API_KEY: "k" }).provider.auth, { type: "key", key: "k" });
  assertEquals(load(azure, route).provider.auth.type, "azure");
  const entra = { azure: { resource: "r", auth: { type: "azure" } } };
  assertEquals(load(entra, route, { AZURE_OPENAI_API_KEY: "k" }).provider.auth.type, "azure");
  const keyHeaders = (provider: object, route: object) => {
    const loaded = load(provider, route);
    return apiOf(loaded.provider as never, loaded.route).keyHeaders("k");
  };
  assertEquals(keyHeaders(azure, route), { "api-key": "k" });
  assertEquals(keyHeaders(azure, { model: "claude-opus-4-6" }), { "x-api-key": "k" });
  assertEquals(keyHeaders(BEDROCK, { model: "m" }), { authorization: "Bearer k" });
  assertEquals(keyHeaders(BEDROCK, { model: "claude-3-5", api: "anthropic-messages" }), {
    authorization: "Bearer k",
  });
  assertEquals(load({ bedrock: { region: "r", api_key: "k" } }, { model: "m" }).provider.auth, {
    type: "key",
    key: "k",
  });
});

function mistakes(provider: object, route: object = { model: "m" }): string[] {
  const error: ConfigError = assertThrows(() => load(provider, route), ConfigError);
  return error.mistakes.map(({ path, message }) => `${path}: ${message}`);
}

Deno.test("a cloud without its place, and an API that it does not have, are mistakes with their names", () => {
  assertEquals(mistakes({ bedrock: {} }), [
    "providers.bedrock.region: expected the environment variable AWS_REGION or AWS_DEFAULT_REGION, which is not set, or the field itself",
  ]);
  assertEquals(mistakes({ vertex: {} }), [
    "providers.vertex.project: expected the environment variable GOOGLE_CLOUD_PROJECT, which is not set, or the field itself",
  ]);
  assertEquals(mistakes({ azure: {} }), [
    "providers.azure.resource: expected the environment variable AZURE_RESOURCE_NAME, which is not set, or the field itself",
  ]);
  assertEquals(mistakes({ vertex: { project: "p" } }, { model: "m", api: "bedrock-converse" }), [
    'models[0].routes[0].api: expected one of gemini, anthropic-messages, openai-chat, got "bedrock-converse"',
  ]);
  assertEquals(mistakes({ bedrock: { region: "r", api: "gemini" } }), [
    'providers.bedrock.api: expected one of bedrock-converse, openai-chat, openai-responses, anthropic-messages, got "gemini"',
  ]);
  assertEquals(mistakes({ openai: { api_key: "k", region: "r" } }), [
    'providers.openai.region: expected no value (only for the preset bedrock and the preset bedrock-mantle), got "r"',
  ]);
  assert(mistakes({ bedrock: { region: "../../evil" } })[0].startsWith("providers.bedrock."));
});

Deno.test("an address of Bedrock with the path of an API is that of its host", () => {
  const mantle = "https://bedrock-mantle.us-east-1.api.aws";
  for (const path of ["", "/v1", "/v1/", "/anthropic/v1/messages"]) {
    assertEquals(
      addresses({ "bedrock-mantle": { base_url: mantle + path } }, { model: "qwen.qwen3-32b" }),
      both(`${mantle}/v1/chat/completions`),
    );
  }
  assertEquals(addresses({ bedrock: { base_url: `${RUNTIME}/openai/v1` } }, { model: "m" }), CONVERSE("m"));
});

Deno.test("a base_url with a path beside an api is the file's own, whatever the provider's name", () => {
  const url = "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1";
  const own = {
    bedrock: { api: "openai-responses", base_url: url, auth: { type: "aws", region: "eu-central-1" } },
  };
  assertEquals(addresses(own, { model: "openai.gpt-5.5" }), both(`${url}/responses`));
});

Deno.test("a provider of any name that speaks Converse in a region is Bedrock, and one at an address alone is its own", () => {
  const up = { up: { api: "bedrock-converse", region: "eu-central-1" } };
  assertEquals(addresses(up, { model: "m" }), CONVERSE("m"));
  assertEquals(load(up, { model: "m" }).provider.auth.type, "aws");
  const moved = { up: { api: "bedrock-converse", region: "eu-central-1", base_url: "http://127.0.0.1:9" } };
  assertEquals(load(moved, { model: "m" }).provider.auth.type, "aws");
  const own = { up: { api: "bedrock-converse", base_url: "http://127.0.0.1:9", api_key: "k" } };
  assertEquals(addresses(own, { model: "m" }), CONVERSE("m", "http://127.0.0.1:9"));
  assertEquals(load(own, { model: "m" }).provider.auth, { type: "key", key: "k" });
});
