/** `sluice import litellm`: nothing of a LiteLLM configuration is lost without a word. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { importLitellm } from "../../src/commands/import_litellm.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Loose } from "../../src/exchange/json.ts";

function imported(root: Loose) {
  const { config, notes } = importLitellm(JSON.stringify(root));
  // It must be one that a gateway can start with.
  const isSet = /_API_KEY$|^(?:AWS_ID|AWS_KEY|AWS_TOKEN|CLIENT|CLIENT_SECRET|K|ORG)$/;
  const env = (name: string) => isSet.test(name) ? `${name}-value-0000000000000` : undefined;
  const { config: loaded } = loadConfig(JSON.stringify(config), { env });
  return {
    loaded,
    providers: config.providers as Record<string, Loose>,
    models: config.models as Loose[],
    notes,
  };
}
const deployment = (model: string, params: Loose = {}, info: Loose = {}) => ({
  model_name: "m",
  litellm_params: { model, ...params },
  model_info: info,
});

Deno.test("importLitellm() takes over the credentials of clouds", () => {
  const cases: [model: string, params: Loose, auth: Loose][] = [
    ["bedrock/us.anthropic.claude-sonnet-4-5", {
      aws_region_name: "us-west-2",
      aws_access_key_id: "os.environ/AWS_ID",
      aws_secret_access_key: "os.environ/AWS_KEY",
      aws_session_token: "os.environ/AWS_TOKEN",
      aws_role_name: "arn:aws:iam::1:role/x",
      aws_profile_name: "work",
    }, {
      type: "aws",
      access_key_id: "${AWS_ID}",
      secret_access_key: "${AWS_KEY}",
      session_token: "${AWS_TOKEN}",
      profile: "work",
      role_arn: "arn:aws:iam::1:role/x",
    }],
    ["vertex_ai/gemini-2.5-pro", {
      vertex_project: "p",
      vertex_location: "europe-west1",
      vertex_credentials: "/run/secrets/google.json",
    }, { type: "google", credentials_file: "/run/secrets/google.json" }],
    ["azure/d", {
      api_base: "https://acme.openai.azure.com",
      tenant_id: "t",
      client_id: "os.environ/CLIENT",
      client_secret: "os.environ/CLIENT_SECRET",
    }, { type: "azure", tenant_id: "t", client_id: "${CLIENT}", client_secret: "${CLIENT_SECRET}" }],
  ];
  for (const [model, params, auth] of cases) {
    const { providers, notes } = imported({ model_list: [deployment(model, params)] });
    assertEquals(Object.values(providers)[0].auth, auth);
    assertEquals(notes.filter((note) => /no counterpart|as it is/.test(note)), []);
  }
  const literal = imported({
    model_list: [
      deployment("bedrock/m", {
        aws_region_name: "us-west-2",
        aws_access_key_id: "AKIA1",
        aws_secret_access_key: "plain-canary-secret",
      }),
    ],
  });
  assertStringIncludes(literal.notes.join("\n"), "bedrock: a key stands in the file as it is");
  assert(!literal.notes.join().includes("canary"));
});

Deno.test("importLitellm() names every parameter that it leaves out", () => {
  const { notes, providers } = imported({
    include: ["other.yaml"],
    guardrails: [],
    credential_list: [],
    model_list: [
      deployment("bedrock/m", {
        aws_region_name: "us-west-2",
        aws_bedrock_runtime_endpoint: "https://x.test",
      }, {
        base_model: "gpt-4o",
        id: "1",
      }),
      deployment("vertex_ai/m", { vertex_project: "p", vertex_credentials: '{"type": "service_account"}' }),
      deployment("openai/m", { aws_role_name: "r", extra_headers: { a: 1 } }),
      deployment("gemini/g", { vertex_project: "p", vertex_location: "global" }),
    ],
  });
  const said = notes.join("\n");
  for (
    const what of [
      "include has no counterpart",
      "guardrails has no counterpart",
      "credential_list has no counterpart",
      "m: litellm_params.aws_bedrock_runtime_endpoint has no counterpart",
      "m: model_info.base_model has no counterpart",
      "m: litellm_params.vertex_credentials has no counterpart",
      "m: litellm_params.aws_role_name has no counterpart",
      "m: litellm_params.extra_headers has no counterpart",
      "m: litellm_params.vertex_location has no counterpart",
    ]
  ) assertStringIncludes(said, what);
  assert(!said.includes("model_info.id") && !said.includes("service_account"), said);
  assertEquals(Object.keys(providers), ["bedrock", "vertex", "openai", "google"]);
});

Deno.test("importLitellm() takes over headers, and limits that hold for all deployments", () => {
  const { loaded, notes } = imported({
    model_list: [
      deployment("openai/a", {
        api_key: "os.environ/K",
        organization: "os.environ/ORG",
        extra_headers: { "x-team": "blue" },
        max_retries: 1,
        timeout: 20,
      }),
      deployment("groq/b"),
    ],
    litellm_settings: { num_retries: 3, request_timeout: 90 },
    router_settings: { allowed_fails: 2, cooldown_time: 40, stream_timeout: 30, timeout: 5, num_retries: 9 },
  });
  const [openai, groq] = loaded.providers;
  assertEquals(openai.headers, { "x-team": "blue", "openai-organization": "ORG-value-0000000000000" });
  assertEquals([openai.retries, openai.firstByteMs, openai.idleMs], [1, 20_000, 30_000]);
  assertEquals([groq.retries, groq.firstByteMs, groq.idleMs], [3, 90_000, 30_000]);
  assertEquals(groq.breaker, { failures: 3, windowMs: 60_000, openMs: 40_000 });
  assertEquals(notes.filter((note) => note.includes("no counterpart")), []);
});

Deno.test("importLitellm() does not take a number of output tokens for the size of the context", () => {
  const of = (info: Loose) => imported({ model_list: [deployment("openai/zz-unknown", {}, info)] });
  const unclear = of({ max_tokens: 4096 });
  assertEquals(unclear.models[0].context_length, undefined);
  assertStringIncludes(unclear.notes.join("\n"), "m: model_info.max_tokens may mean input or output");
  const clear = of({ max_tokens: 4096, max_input_tokens: 100_000, max_output_tokens: 4096 });
  assertEquals([clear.models[0].context_length, clear.models[0].max_completion_tokens], [100_000, 4096]);
  assert(!clear.notes.join().includes("max_tokens"));
});

Deno.test("importLitellm() gives models ids, short names and numbers with which a gateway starts", () => {
  const named = (model_name: string, model: string, params: Loose = {}) => ({
    ...deployment(model, params),
    model_name,
  });
  const ids = imported({
    model_list: [
      named("gpt-4o", "openai/gpt-4o"),
      named("openai/gpt-4o", "openai/gpt-4o"),
      named("my model", "openai/a"),
      named("my-model", "openai/b"),
      named("my model", "openai/c"),
    ],
  });
  // Callers use a name with a vendor already, so it stays.
  assertEquals(ids.models.map(({ id }) => id), [
    "openai/gpt-4o-2",
    "openai/gpt-4o",
    "openai/my-model",
    "openai/my-model-2",
  ]);
  assertStringIncludes(ids.notes.join("\n"), "gpt-4o: callers name it openai/gpt-4o-2");

  const short = imported({
    model_list: [
      named("claude", "anthropic/claude-x"),
      named("Claude Sonnet", "anthropic/claude-y"),
      named("gpt", "openai/gpt"),
    ],
    router_settings: {
      model_group_alias: { claude: "gpt", "GPT 4": "gpt", "gpt*": "gpt", fine: "gpt", x: "none" },
    },
  });
  assertEquals(short.models.map(({ short_names }) => short_names), [["claude"], undefined, ["fine"]]);
  assertEquals(short.notes.filter((note) => note.startsWith("model_group_alias")), [
    "model_group_alias: claude was left out.",
    "model_group_alias: GPT 4 was left out.",
    "model_group_alias: gpt* was left out.",
    "model_group_alias: x was left out.",
  ]);

  const weights = (...params: Loose[]) =>
    imported({ model_list: params.map((each) => named("gpt", "openai/gpt", each)) }).models[0].routes;
  const route = { provider: "openai", model: "gpt" };
  assertEquals(weights({ tpm: 4_000_000 }, { rpm: 1_000_000 }, {}), [
    { ...route, weight: 1_000_000 },
    { ...route, weight: 250_000 },
    { ...route, weight: 0.25 },
  ]);
  assertEquals(weights({ weight: 1e300 }, { weight: 1e-9 }), [
    { ...route, weight: 1_000_000 },
    { ...route, weight: 0.000001 },
  ]);
  assertEquals(weights({ tpm: 4_000_000 }), [route]);

  const { models: [bounded], loaded, notes } = imported({
    model_list: [
      deployment("openai/a", {
        api_base: "",
        timeout: 0.001,
        stream_timeout: 1e9,
        input_cost_per_token: 1001,
      }, {
        max_input_tokens: 2 ** 32,
        max_output_tokens: 2 ** 31,
      }),
    ],
    router_settings: { allowed_fails: 1e9, cooldown_time: 0.001 },
  });
  assertEquals([bounded.context_length, bounded.max_completion_tokens], [undefined, 2 ** 31]);
  assertEquals([loaded.providers[0].firstByteMs, loaded.providers[0].idleMs], [10, 86_400_000]);
  assertEquals(loaded.providers[0].breaker, { failures: 1_000_000, windowMs: 60_000, openMs: 10 });
  assertStringIncludes(notes.join("\n"), "input_cost_per_token has no counterpart");
});

Deno.test("importLitellm() says what becomes of orders, fallbacks for all, variables and budgets", () => {
  const of = (more: Loose) => imported({ model_list: [deployment("openai/a")], ...more });
  const order = (routing_strategy: string) => of({ router_settings: { routing_strategy } });
  assertEquals(
    ["latency-based-routing", "cost-based-routing", "simple-shuffle", "other"].map((name) =>
      order(name).models[0].order
    ),
    ["latency", "price", undefined, undefined],
  );
  assertStringIncludes(order("other").notes.join("\n"), "routing_strategy: other is not known");
  assert(!order("simple-shuffle").notes.join().includes("routing_strategy"));
  const { notes } = of({
    litellm_settings: { drop_params: true, default_fallbacks: ["m"] },
    environment_variables: { A_NAME: "canary" },
    general_settings: { database_url: "postgres://canary" },
  });
  for (
    const what of [
      "drop_params: Sluice always leaves out",
      "default_fallbacks: m would be a route of every model",
      "environment_variables.A_NAME: set it",
      "general_settings.database_url is LiteLLM's own database",
    ]
  ) assertStringIncludes(notes.join("\n"), what);
  assert(!notes.join().includes("canary"));
  const limit = (budget_duration?: string) => {
    const root = {
      model_list: [deployment("openai/a")],
      litellm_settings: { max_budget: 12.5, budget_duration },
    };
    return (importLitellm(JSON.stringify(root)).config.keys as Loose[])[0].spend_limit;
  };
  const periods = {
    "1d": "day",
    "24h": "day",
    "7d": "week",
    "1w": "week",
    "30d": "month",
    "1mo": "month",
    "5d": "total",
  };
  for (const [written, period] of Object.entries(periods)) {
    assertEquals(limit(written), { amount: "12.5", period });
  }
  assertEquals(limit(), { amount: "12.5", period: "total" });
});
