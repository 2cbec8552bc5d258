/** The commands of those who begin: what they write, print and refuse. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { CLIENT_NAMES, clientNamed } from "../../src/commands/connect.ts";
import { writeSettings } from "../../src/commands/settings_file.ts";
import { importLitellm } from "../../src/commands/import_litellm.ts";
import { asking, initFile } from "../../src/commands/init.ts";
import { changesText, modelsText } from "../../src/commands/models.ts";
import { setUp } from "../../src/commands/setup.ts";
import { UsageError } from "../../src/commands/option_values.ts";
import { changes } from "../../src/models/changes.ts";
import { perMillion } from "../../src/models/summary.ts";
import { loadConfig } from "../../src/config/load.ts";
import { foundProviders } from "../../src/config/demo.ts";
import type { ModelSummary } from "../../src/models/summary.ts";

const SECRET = "sk_live_0123456789abcdef0123";
const env = (variables: Record<string, string>) => (name: string) => variables[name];
const nobody = () => null;

Deno.test("asking() shows what counts without an answer, and puts nothing before what is typed", () => {
  const lines: unknown[][] = [];
  const answers = ["mistral", "", null];
  const ask = asking((...line) => {
    lines.push(line);
    return answers.shift() ?? null;
  });
  assertEquals([1, 2, 3].map(() => ask("Which?", "openai")), ["mistral", null, null]);
  assertEquals(lines, Array(3).fill(["Which? [openai]"]));
});

Deno.test("initFile() writes a configuration that loads, out of flags, answers or what is usual", () => {
  const keys = env({ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" });
  const usual = initFile({}, keys, nobody, SECRET);
  assertEquals(usual.notes, []);
  const { config } = loadConfig(usual.text, { env: keys });
  assertEquals(config.providers.map(({ name }) => name), ["openai", "anthropic"]);
  assertEquals([config.server.port, config.store.url, config.keys[0].secret], [
    8787,
    "sqlite:./data/sluice.db",
    SECRET,
  ]);

  const answers = ["mistral, groq", "postgres://u@h/d", "9000"];
  const asked = initFile({}, keys, () => answers.shift() ?? null, SECRET);
  assertEquals(asked.notes.length, 2);
  assertMatch(asked.notes[0], /MISTRAL_API_KEY/);
  const more = env({ MISTRAL_API_KEY: "k", GROQ_API_KEY: "k" });
  assertEquals(loadConfig(asked.text, { env: more }).config.server.port, 9000);

  const flags = initFile({ providers: ["ollama"], store: "sqlite:x.db", port: 1 }, keys, () => {
    throw new Error("nothing is left to ask");
  }, SECRET);
  assertEquals(
    loadConfig(flags.text, { env: keys }).config.providers[0].baseUrl,
    "http://127.0.0.1:11434/v1",
  );
});

Deno.test("setUp() names commands that whoever ran `init` can run", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/sluice.jsonc`;
  for (
    const [npm, program] of [["", "deno task start"], ["exec", `npx -y deno@${Deno.version.deno} task start`]]
  ) {
    let printed = "";
    await setUp({
      command: "init",
      file,
      force: true,
      providers: ["ollama"],
      store: "sqlite:x.db",
      port: 1,
    }, {
      env: env({ npm_command: npm }),
      load: () => Promise.reject(new Error("nothing is loaded")),
      log: () => {},
      makeKey: () => Promise.reject(new Error("no key is made")),
      open: () => Promise.reject(new Error("nobody is asked")),
      print: (line) => printed += line,
      note: () => {},
      failed() {},
    });
    assertStringIncludes(printed, `\n  ${program} --config ${file}`);
    const text = await Deno.readTextFile(file);
    assertStringIncludes(text, `\`${program} check --config FILE\``);
    assertStringIncludes(text, `\`${program} providers\``);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("initFile() refuses what no configuration may have, and says what may be", () => {
  const write = (given: Parameters<typeof initFile>[0]) => () => initFile(given, env({}), nobody, SECRET);
  assertThrows(write({ providers: ["opnai"] }), UsageError, "expected one of openai");
  assertThrows(write({ providers: [] }), UsageError, "expected a provider");
  assertThrows(write({ store: "mysql://x" }), UsageError, "sqlite:PATH");
  assertThrows(
    () => initFile({}, env({}), (q) => q.includes("port") ? "x" : null, SECRET),
    UsageError,
    "from 1 to 65535",
  );
});

const LITELLM = `
model_list:
  - model_name: gpt-4o
    litellm_params: {model: azure/my-gpt4o, api_base: "https://acme.openai.azure.com/", api_key: os.environ/AZURE_KEY, rpm: 600}
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, rpm: 200, input_cost_per_token: 0.0000025, output_cost_per_token: 1e-05}
  - model_name: claude
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: sk-ant-plain, unheard_of: 1}
  - model_name: mine/local
    litellm_params: {model: ollama/llama3, api_base: "http://127.0.0.1:11434"}
  - model_name: emb
    litellm_params: {model: openai/text-embedding-3-small}
    model_info: {mode: embedding}
  - model_name: "openai/*"
    litellm_params: {model: "openai/*"}
  - model_name: weird
    litellm_params: {model: sagemaker/x}
litellm_settings:
  fallbacks: [{"gpt-4o": ["claude", "absent"]}]
  max_budget: 100
  budget_duration: 30d
  success_callback: [langfuse]
router_settings: {model_group_alias: {"gpt-4": gpt-4o}}
general_settings: {master_key: os.environ/LITELLM_MASTER_KEY}
`;

Deno.test("importLitellm() ends where a model is its own fallback, or two are each other's", () => {
  const entry = (name: string) => ({ model_name: name, litellm_params: { model: `openai/${name}` } });
  const { config, notes } = importLitellm(JSON.stringify({
    model_list: [entry("a"), entry("b")],
    router_settings: { fallbacks: [{ a: ["a", "b"] }, { b: ["a"] }] },
  }));
  const models = config.models as { id: string; routes: { model: string }[] }[];
  assertEquals(models[0].routes.map(({ model }) => model), ["a", "b"]);
  assertEquals(models[1].routes[0].model, "b");
  assertStringIncludes(notes.join("\n"), "a is its own fallback");
});

Deno.test("importLitellm() takes over models, keys, budgets and fallbacks, and says what it could not", () => {
  const { config, notes } = importLitellm(LITELLM);
  const variables = {
    OPENAI_API_KEY: "o",
    ANTHROPIC_API_KEY: "a",
    AZURE_KEY: "z",
    LITELLM_MASTER_KEY: "m".repeat(20),
    SLUICE_KEY: SECRET,
  };
  const loaded = loadConfig(JSON.stringify(config), { env: env(variables) }).config;
  assertEquals(loaded.models.map(({ id }) => id), ["openai/gpt-4o", "anthropic/claude", "mine/local"]);
  const [gpt, claude] = loaded.models;
  assertEquals(gpt.routes, [
    { provider: "azure", model: "my-gpt4o", weight: 600 },
    { provider: "openai", model: "gpt-4o", weight: 200 },
    { provider: "anthropic", model: "claude-sonnet-4-5", weight: null },
  ]);
  assertEquals([gpt.pricing.prompt, gpt.pricing.completion, gpt.shortNames], ["0.0000025", "0.00001", [
    "gpt-4",
  ]]);
  assertEquals(claude.shortNames, ["claude"]);
  const urls = Object.fromEntries(loaded.providers.map(({ name, baseUrl }) => [name, baseUrl]));
  assertEquals(urls.azure, "https://acme.openai.azure.com");
  assertEquals(urls.ollama, "http://127.0.0.1:11434/v1");
  // A variable that is a preset's needs no word.
  assertEquals((config.providers as Record<string, unknown>).openai, {});
  assertEquals(loaded.keys[0].spendLimit?.period, "month");
  const said = notes.join("\n");
  for (
    const words of [
      "gpt-4o: callers name it openai/gpt-4o",
      "claude: litellm_params.unheard_of has no counterpart",
      "anthropic: a key stands in the file as it is",
      "emb: a model of mode embedding",
      "openai/*: models that openai lists",
      "weird: no provider is known",
      "fallbacks: absent is no model",
      "litellm_settings.success_callback has no counterpart",
      "general_settings.master_key became admin_key",
    ]
  ) assertStringIncludes(said, words);
  assert(!said.includes("sk-ant-plain"));
});

Deno.test("importLitellm() takes over prices of each kind, of long prompts and of service tiers", () => {
  const { config, notes } = importLitellm(`
model_list:
  - model_name: openai/gpt
    litellm_params: {model: openai/gpt, input_cost_per_token: 1.1e-06, output_cost_per_token: "4.4e-6", input_cost_per_second: 0.1}
    model_info:
      cache_read_input_token_cost: 2.75e-7
      cache_creation_input_token_cost: 0.00000375
      cache_creation_input_token_cost_above_1hr: 6e-06
      output_cost_per_reasoning_token: 0.000005
      input_cost_per_audio_token: 0.0001
      output_cost_per_audio_token: 2
      input_cost_per_token_above_200k_tokens: 2.2e-06
      output_cost_per_token_above_200k_tokens: 0.0000066
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 1.2e-05
      input_cost_per_token_priority: 0.0000022
      input_cost_per_token_above_272k_tokens_priority: 0.0000044
      input_cost_per_token_batches: 5.5e-07
      search_context_cost_per_query: {search_context_size_low: 0.01}
      input_cost_per_request: 0.003
      file_search_cost_per_1k_calls: 2.5
      input_cost_per_image: 0
  - model_name: openai/half
    litellm_params: {model: openai/half, input_cost_per_token: 1.1e-06}
`);
  const { models } = loadConfig(JSON.stringify(config), { env: env({ OPENAI_API_KEY: "o" }) }).config;
  const prices = {
    prompt: "0.0000011",
    completion: "0.0000044",
    input_cache_read: "0.000000275",
    input_cache_write: "0.00000375",
    input_cache_write_1h: "0.000006",
    internal_reasoning: "0.000005",
    audio: "0.0001",
    audio_output: "2",
    request: "0.003",
    file_search: "0.0025",
  };
  const [{ sheets: [sheet] = [] }] = models;
  assertEquals(sheet.prices, prices);
  const long = { ...prices, prompt: "0.0000022", completion: "0.0000066", input_cache_write_1h: "0.000012" };
  assertEquals(sheet.tiers, [
    { above: 0, service: "priority", prices: { ...prices, prompt: "0.0000022" } },
    { above: 200_000, service: null, prices: long },
    { above: 272_000, service: "priority", prices: { ...long, prompt: "0.0000044" } },
  ]);
  for (
    const field of [
      "litellm_params.input_cost_per_second",
      "model_info.input_cost_per_token_batches",
      "model_info.search_context_cost_per_query",
    ]
  ) assertStringIncludes(notes.join("\n"), `openai/gpt: ${field} has no counterpart`);
  assert(!notes.some((note) => note.includes("_per_request") || note.includes("cost_per_token ")));
});

Deno.test("importLitellm() takes over a budget as far as it is an amount", () => {
  const limitOf = (budget: string) => {
    const { config, notes } = importLitellm(`{model_list: [], litellm_settings: {max_budget: ${budget}}}`);
    const [key] = (config.keys ?? []) as { spend_limit: { amount: string } }[];
    return key?.spend_limit.amount ?? notes.find((note) => note.includes("max_budget")) ?? null;
  };
  assertEquals(limitOf("0.5"), "0.5");
  assertEquals(limitOf("100"), "100");
  assertEquals(limitOf("9000000"), "9000000");
  assertStringIncludes(limitOf("1e22")!, "an amount is at most 9000000");
});

Deno.test("importLitellm() refuses what is no such configuration", () => {
  for (const text of ["", "a: [", "model_list: 3", "- 1", "model_list: {a: 1}"]) {
    assertThrows(() => importLitellm(text), UsageError);
  }
  assertEquals(
    importLitellm("model_list: [3, {model_name: x}, {model_name: a, litellm_params: {model: __proto__/x}}]")
      .config.models,
    undefined,
  );
});

Deno.test("every client's settings hold address, key and model, and are written where the client looks", async () => {
  const connection = { url: "http://127.0.0.1:8787", secret: SECRET, model: "openai/gpt-5" };
  const home = await Deno.makeTempDir();
  for (const name of CLIENT_NAMES) {
    const settings = clientNamed(name)(connection);
    assertStringIncludes(settings.text, "http://127.0.0.1:8787");
    assertStringIncludes(settings.text, SECRET);
    const { wrote, message } = await writeSettings(settings, home);
    assertEquals(wrote, settings.file !== undefined, name);
    if (settings.file === undefined) assertStringIncludes(message, "no file");
    else assertStringIncludes(await Deno.readTextFile(`${home}/${settings.file.path}`), "gpt-5");
  }
  assertThrows(() => clientNamed("nope"), UsageError, "claude-code");
  assertThrows(() => clientNamed("__proto__"), UsageError, "claude-code");
  await Deno.remove(home, { recursive: true });
});

Deno.test("writeSettings() lays fields over a file of JSON, and leaves any other as it is", async () => {
  const home = await Deno.makeTempDir();
  const connection = { url: "http://h", secret: SECRET, model: "a/b" };
  const write = async (name: string) => (await writeSettings(clientNamed(name)(connection), home)).message;
  await Deno.mkdir(`${home}/.claude`);
  const path = `${home}/.claude/settings.json`;
  await Deno.writeTextFile(path, '{"theme":"dark","env":{"A":"1","ANTHROPIC_BASE_URL":"x"}}');
  assertStringIncludes(await write("claude-code"), "before-sluice");
  const { theme, env: variables } = JSON.parse(await Deno.readTextFile(path));
  assertEquals([theme, variables.A, variables.ANTHROPIC_BASE_URL], ["dark", "1", "http://h"]);
  assertStringIncludes(await Deno.readTextFile(`${path}.before-sluice`), '"x"');
  await Deno.writeTextFile(path, "{ // mine\n}");
  assertStringIncludes(await write("claude-code"), "left as it is");
  assertEquals(await Deno.readTextFile(path), "{ // mine\n}");
  await Deno.writeTextFile(`${home}/.aider.conf.yml`, "model: x\n");
  assertStringIncludes(await write("aider"), "left as it is");
  await Deno.remove(home, { recursive: true });
});

Deno.test("connect sets Claude Code and Codex up for a provider that takes their own credential", async () => {
  const model = (id: string, provider: string) => ({
    id,
    routes: [{ provider, model: "m" }],
    context_length: 1000,
    pricing: { prompt: "0.1", completion: "0.1" },
  });
  const { config } = loadConfig(
    JSON.stringify({
      store: { url: "sqlite::memory:" },
      providers: {
        anthropic: { pass_credentials: true },
        openai: { pass_credentials: true },
        paid: { api: "openai-responses", base_url: "http://127.0.0.1:1", api_key: "k" },
      },
      models: [model("a/b", "anthropic"), model("o/b", "openai"), model("p/b", "paid")],
    }),
    { env: env({ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }) },
  );
  const home = await Deno.makeTempDir();
  const connect = async (client: string, named: string, write = false) => {
    let printed = "";
    await setUp({ command: "connect", client, model: named, secret: SECRET, write }, {
      env: env({ HOME: home }),
      load: () => Promise.resolve(config),
      log: () => {},
      makeKey: () => Promise.reject(new Error("a key is given")),
      open: () => Promise.reject(new Error("nobody is asked")),
      print: (line) => printed += line,
      note: () => {},
      failed() {},
    });
    return printed;
  };
  assertStringIncludes(
    await connect("claude-code", "a/b"),
    `"ANTHROPIC_CUSTOM_HEADERS": "x-svc-key: ${SECRET}"`,
  );
  assertStringIncludes(await connect("codex", "o/b"), `http_headers = { "x-svc-key" = "${SECRET}" }`);
  assertStringIncludes(await connect("codex", "o/b"), "requires_openai_auth = true");
  // As the manual has it: one connection for all turns.
  assertStringIncludes(await connect("codex", "p/b"), "supports_websockets = true");
  // A model of the gateway's own credentials, or of a vendor that the client cannot sign in at.
  for (const [client, named] of [["claude-code", "p/b"], ["codex", "p/b"], ["codex", "a/b"]] as const) {
    assert(!(await connect(client, named)).includes("x-svc-key"), `${client} ${named}`);
  }
  // A token in the file would keep Claude Code from its sign-in; other headers stay.
  await Deno.mkdir(`${home}/.claude`);
  await Deno.writeTextFile(
    `${home}/.claude/settings.json`,
    JSON.stringify({
      env: {
        ANTHROPIC_AUTH_TOKEN: "old",
        ANTHROPIC_CUSTOM_HEADERS: "x-svc-key: old\nx-svc-resume: true",
        A: "1",
      },
    }),
  );
  await connect("claude-code", "a/b", true);
  assertEquals(JSON.parse(await Deno.readTextFile(`${home}/.claude/settings.json`)).env, {
    ANTHROPIC_CUSTOM_HEADERS: `x-svc-resume: true\nx-svc-key: ${SECRET}`,
    A: "1",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8787",
    ANTHROPIC_MODEL: "a/b",
  });
  await Deno.remove(home, { recursive: true });
});

const summary = (id: string, more: Partial<ModelSummary> = {}): ModelSummary => ({
  id,
  name: id,
  pricing: { prompt: "0.000001", completion: "0.000002" },
  pricing_tiers: 0,
  context_length: 8,
  max_completion_tokens: null,
  features: [],
  routes: ["p:x"],
  ...more,
});

Deno.test("changes() tells prices first, then what came, what went and what else is new", () => {
  const before = [summary("a/1"), summary("a/2"), summary("a/3"), summary("a/4")];
  const after = [
    summary("a/1", { context_length: 9 }),
    summary("a/2", { pricing: { prompt: "0.000003", completion: "0.000002" } }),
    summary("a/4", { pricing: null }),
    summary("a/5", { pricing: null }),
  ];
  assertEquals(changesText(changes(before, after)).split("\n"), [
    "price    a/2  prompt: 1 -> 3 for a million",
    "price    a/4  prompt: 1 -> ? for a million",
    "price    a/4  completion: 2 -> ? for a million",
    "added    a/5  ? in, ? out",
    "removed  a/3  1 in, 2 out",
    "changed  a/1  context_length: 8 -> 9",
  ]);
  assertEquals(changesText(changes(before, before)), "Nothing has changed.");
  assertMatch(modelsText(after), /^a\/1\ta\/1\t1 in, 2 out\tcontext 9\tp:x$/m);
});

Deno.test("perMillion() is exact", () => {
  const cases: [string | null, string][] = [
    ["0.0000025", "2.5"],
    ["0", "0"],
    ["1", "1000000"],
    ["0.000000003625", "0.003625"],
    ["0.00001", "10"],
    [null, "?"],
  ];
  for (const [token, million] of cases) assertEquals(perMillion(token), million);
});

Deno.test("foundProviders() are presets whose keys are set, and no servers or clouds that may not be there", () => {
  const names = (variables: Record<string, string>) => foundProviders(env(variables)).map(({ name }) => name);
  assertEquals(names({}), []);
  assertEquals(names({ OPENAI_API_KEY: "", AWS_REGION: "eu-west-1", GOOGLE_CLOUD_PROJECT: "p" }), []);
  assertEquals(names({ OPENAI_API_KEY: "k", GEMINI_API_KEY: "k", DATABRICKS_TOKEN: "k" }), [
    "openai",
    "google",
  ]);
});

Deno.test("try says by its exit status whether any model answered", async () => {
  const { config } = loadConfig('{"providers":{"openai":{"api_key":"k"}}}', { env: env({}) });
  const stream = 'data: {"choices":[{"delta":{"content":"yes"}}]}\n\ndata: [DONE]\n\n';
  const refused = JSON.stringify({ error: { message: "it is away" } });
  for (const answering of [0, 1, 2]) {
    let asked = 0;
    let printed = "";
    let failed = 0;
    await setUp({ command: "try", text: "hello", models: "*", limit: 2, json: false, config: undefined }, {
      env: env({}),
      load: () => Promise.resolve(config),
      log: () => {},
      makeKey: () => Promise.reject(new Error("no key is made")),
      open: () =>
        Promise.resolve({
          handle: () =>
            Promise.resolve(
              asked++ < answering ? new Response(stream) : new Response(refused, { status: 502 }),
            ),
          accounts: {
            generation: () => Promise.reject(new Error("no record")),
            flush: () => Promise.resolve(),
          },
          models: () => [{ id: "a/b" }, { id: "c/d" }],
          close: () => Promise.resolve(),
        }),
      print: (line) => printed += line,
      note: () => {},
      failed: () => failed++,
    });
    assertEquals([failed, printed.match(/it is away/g)?.length ?? 0], [
      answering === 0 ? 1 : 0,
      2 - answering,
    ]);
  }
});
