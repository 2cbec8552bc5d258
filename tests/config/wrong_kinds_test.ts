/**
 * Values of a wrong kind and misspelt names at every place of the configuration that the JSON Schema describes: what the schema
 * refuses the check refuses, at its place, and says what is allowed. A field that is added is tried without a change here.
 */
import Ajv from "ajv/dist/2020.js";
import { assert, assertEquals } from "@std/assert";
import { ConfigError } from "../../src/config/config_error.ts";
import { examineValue } from "../../src/config/load.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { type InputMistake, pathText } from "../../src/schema/mistakes.ts";
import { environment, load, mistakesOf, NO_ENV } from "./example.ts";

const PRICES = { prompt: "0.001", completion: "0.002" };
const LIMIT = { amount: "1", period: "day" };

/** Everything that a configuration may have. */
const FULL = {
  server: {
    tls: { cert: "cert.pem", key: "key.pem" },
    cors_origins: ["https://app.example"],
    public_url: "https://gateway.example",
    trusted_proxies: ["10.0.0.0/8"],
  },
  store: { url: "sqlite::memory:", pepper: "0123456789abcdef" },
  admin_key: "0123456789abcdef",
  oidc: {
    issuer: "https://id.example",
    client_id: "c",
    client_secret: "s",
    scopes: ["openid"],
    roles: { claim: "r", map: { staff: "owner" } },
    member_spend_limit: LIMIT,
  },
  providers: {
    up: {
      api: "openai-chat",
      base_url: "http://127.0.0.1:1/v1",
      api_key: "k",
      headers: { "x-a": "b" },
      breaker: {},
      auth: { type: "key" },
    },
    mistral: { api_key: "k" },
    azure: { resource: "r", api_key: "k", deployments: { m: "d" } },
    bedrock: { region: "us-east-1", auth: { type: "aws" } },
    vertex: { project: "p", location: "eu", auth: { type: "google" } },
  },
  models: [{
    id: "a/b",
    name: "n",
    routes: [{ provider: "up", model: "b", api: "openai-chat", weight: 1, pricing: PRICES }],
    pricing: PRICES,
    pricing_tiers: [{ above_input_tokens: 5, service_tier: "flex", ...PRICES }],
    price_changes: [{ from: "2030-01-31", pricing: PRICES, pricing_tiers: [] }],
    capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
    reasoning_efforts: ["low"],
    parameters: {},
    short_names: ["x*"],
  }],
  catalog: {},
  auto: { models: ["a/b"] },
  search: { engine: "searxng", base_url: "http://127.0.0.1:1" },
  dlp: {},
  dlp_policies: {
    strict: {
      mode: "block",
      entity_types: ["CREDIT_CARD"],
      stop_words: [{ value: "x" }],
      allowlist: [{ value: "y" }],
      regexes: [{ name: "r", pattern: "a" }],
    },
  },
  access_policies: { some: { allow: ["a/*"], deny: [] } },
  accounts: [{ name: "default", credits: "5" }],
  teams: [{ name: "red", spend_limit: LIMIT, models: ["a/*"] }],
  webhooks: [{ url: "http://127.0.0.1/", secret: "s", events: ["budget.80"] }],
  alerts: [{
    name: "n",
    when: { metric: "error_rate", by: "all" },
    to: [{ slack: "http://127.0.0.1/" }, { email: ["a@b.example"] }],
  }],
  smtp: { host: "mail.example", from: "a@mail.example" },
  payloads: { to: "file:kept", key: "0123456789abcdef" },
  keys: [{
    name: "k",
    secret: "sk_live_0123456789abcdef",
    models: ["a/*"],
    spend_limit: LIMIT,
    rate_limit: { requests_per_minute: 5 },
    session_limit: { amount: "1" },
    tag_limits: [{ tag: "t", ...LIMIT }],
  }],
  telemetry: {},
};

type Step = string | number;
interface Node {
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
}

/** Every place that the schema describes, as far as the value reaches. */
function* places(node: Node, value: unknown, at: Step[] = []): Generator<{ path: Step[]; node: Node }> {
  yield { path: at, node };
  for (const choice of node.anyOf ?? []) yield* places(choice, value, at);
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries()) if (node.items) yield* places(node.items, one, [...at, i]);
    return;
  }
  const entries: Record<string, unknown> = typeof value === "object" && value !== null ? { ...value } : {};
  for (const [name, one] of Object.entries(node.properties ?? {})) {
    yield* places(one, entries[name], [...at, name]);
  }
  if (typeof node.additionalProperties !== "object") return;
  for (const [name, one] of Object.entries(entries)) {
    yield* places(node.additionalProperties, one, [...at, name]);
  }
}

/** The whole with another value at one place. */
function having(path: readonly Step[], value: unknown): unknown {
  const whole = structuredClone(FULL);
  let holder = whole as unknown as Record<Step, unknown>;
  for (const step of path.slice(0, -1)) holder = (holder[step] ??= {}) as Record<Step, unknown>;
  holder[path.at(-1)!] = value;
  return whole;
}

function mistakes(value: unknown): readonly InputMistake[] {
  try {
    examineValue(value, { env: NO_ENV }).conclude();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes;
  }
}

const CANARY = "sk-proj-0123456789abcdefghij";
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  1.5,
  -1,
  1e15,
  "",
  "5",
  "\u0000",
  [],
  {},
  [null],
  [[]],
  CANARY,
];

const SCHEMA = configJsonSchema() as Node;
const PLACES = [...places(SCHEMA, FULL)];

Deno.test("what the JSON Schema refuses the check refuses, at its place, and says what is allowed", () => {
  assertEquals(mistakes(FULL), []);
  // deno-lint-ignore no-explicit-any
  const fits = new (Ajv as any).default({ strict: false }).compile(SCHEMA);
  assert(fits(FULL), JSON.stringify(fits.errors));
  let refused = 0;
  for (const { path, node } of PLACES) {
    if (path.length === 0) continue;
    const bounds = [node.minimum, node.maximum].filter((bound) => bound !== undefined);
    const at = pathText(path);
    for (const value of [...VALUES, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1])]) {
      const whole = having(path, value);
      const found = mistakes(whole);
      const what = `${at}: ${JSON.stringify(value)}`;
      for (const { path: place, message } of found) {
        assert(
          /^(?:expected .*, got .|unknown field|expected once)|expected the environment variable/.test(
            message,
          ),
          `${what}: ${message}`,
        );
        // What names are allowed is told elsewhere.
        assert(!message.includes(CANARY) || !place.startsWith(at), `${what}: ${message}`);
      }
      // The kind of credential of a cloud may be left out where fields of it are given.
      if (fits(whole) || /^providers\.\w+\.auth/.test(at) && JSON.stringify(value) === "{}") continue;
      refused++;
      const here = found.some((one) =>
        one.path.startsWith(at) || at.startsWith(one.path) && one.path.endsWith("auth.type")
      );
      assert(here || at.includes(".auth.") && found.length > 0, `${what}: ${JSON.stringify(found)}`);
    }
  }
  assert(refused > 2000, `${refused} refused`);
});

Deno.test("a misspelt name is refused with the name that was meant, and without its value", () => {
  for (const { path, node } of PLACES) {
    const names = Object.keys(node.properties ?? {});
    for (const name of names) {
      const slip = name.length > 3 ? name.slice(0, 2) + name.slice(3) : `${name}x`;
      if (names.includes(slip)) continue;
      const found = mistakes(having([...path, slip], CANARY));
      const at = pathText([...path, slip]);
      const message = found.find((one) => one.path === at)?.message ?? "";
      assert(message.startsWith(`unknown field; nearest is ${name}; known are `), `${at}: ${message}`);
      assert(!JSON.stringify(found).includes(CANARY), at);
    }
  }
});

const OTHERS: [situation: string, value: unknown, mistakes: string[]][] = [
  ["a kind of credential that is no object", { vertex: { project: "p", auth: "none" } }, [
    'providers.vertex.auth: expected an object, got "none"',
  ]],
  ["a kind of credential that is null", { bedrock: { region: "r", auth: null } }, [
    "providers.bedrock.auth: expected an object, got null",
  ]],
  ["null for an address that a preset has", { mistral: { api_key: "k", base_url: null } }, [
    "providers.mistral.base_url: expected an http:// or https:// address without user, query or fragment, got null",
  ]],
  ["a deployment that is no name", { azure: { resource: "r", api_key: "k", deployments: { m: 5 } } }, [
    "providers.azure.deployments.m: expected the name of a deployment without spaces, got 5",
  ]],
  ["a list of deployments with something else", {
    azure: { resource: "r", api_key: "k", deployments: ["m", 5] },
  }, [
    "providers.azure.deployments[1]: expected the name of a model without spaces, got 5",
  ]],
  ["deployments that are neither", { azure: { resource: "r", api_key: "k", deployments: 5 } }, [
    "providers.azure.deployments: expected names of deployments by the names of models, or a list of names that are both, got 5",
  ]],
  ["a key in place of a provider", { openai: "a-key-without-a-beginning" }, [
    "providers.openai: expected an object, got a text of 25 characters (not shown)",
  ]],
  ["a key in place of another field", { mistral: { api_key: "k", api: CANARY } }, [
    "providers.mistral.api: expected one of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse, demo, got a text like a secret (not shown)",
  ]],
];
for (const [situation, providers, expected] of OTHERS) {
  Deno.test(`loadValue() refuses ${situation}`, () => {
    const value = { providers: { ...providers as object, demo: { api: "demo" } }, models: [DEMO] };
    assertEquals(mistakesOf(() => load(value)), expected);
  });
}

const DEMO = { id: "demo/a", routes: [{ provider: "demo", model: "a" }], pricing: PRICES };
const demo = (more: object) => ({ providers: { demo: { api: "demo" } }, models: [DEMO], ...more });

Deno.test("an alert on a share of a budget that is never told is refused", () => {
  const rule = (percent: number) =>
    demo({
      alerts: [{ name: "n", when: { metric: "budget", percent }, to: [{ slack: "http://127.0.0.1/" }] }],
    });
  for (const percent of [50, 80, 100]) load(rule(percent));
  assertEquals(mistakesOf(() => load(rule(60))), [
    "alerts[0].when.percent: expected one of 50, 80, 100, got 60",
  ]);
});

Deno.test("policies of keys and teams that are not applied are warned of", () => {
  const value = demo({
    dlp: { enabled: false },
    dlp_policies: { p: { mode: "block" } },
    teams: [{ name: "t", dlp_policy: "p" }],
    keys: [{ name: "k", secret: "sk_live_0123456789abcdef", dlp_policy: "p" }],
  });
  assertEquals(load(value).warnings, [
    "keys[0].dlp_policy: not applied, as `dlp.enabled` is false",
    "teams[0].dlp_policy: not applied, as `dlp.enabled` is false",
  ]);
  assertEquals(load({ ...value, dlp: {} }).warnings, []);
});

Deno.test("what looks like a variable and is none is warned of, without showing it", () => {
  for (const written of ["$MY_ADMIN_KEY_OF_LATE", "${MY_ADMIN_KEY_OF_LATE"]) {
    assertEquals(load(demo({ admin_key: written }), environment({ MY_ADMIN_KEY_OF_LATE: "x" })).warnings, [
      "admin_key: taken as it is written; a variable of the environment is written ${NAME}",
    ]);
  }
});
