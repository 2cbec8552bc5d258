/** Defaults: a field that is left out is not asked by its schema, but is what its default is when it is written. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { CONFIG, configJsonSchema } from "../../src/config/schema.ts";
import { openReport, read } from "../../src/schema/mistakes.ts";

interface Node {
  type?: string;
  default?: unknown;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
}

/** One entry of everything that a configuration may have, with nothing but the fields that it must have. */
const LEAST = {
  server: { tls: { cert: "cert.pem", key: "key.pem" } },
  oidc: { issuer: "https://id.example", client_id: "c", roles: { claim: "r", map: { staff: "owner" } } },
  providers: { up: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
  models: [{
    id: "a/b",
    routes: [{ provider: "up", model: "b" }],
    pricing: { prompt: "0.1", completion: "0.2" },
    price_changes: [{ from: "2030-01-31", pricing: { prompt: "0.1", completion: "0.2" } }],
    capabilities: {},
  }],
  dlp_policies: { strict: { mode: "block", stop_words: [{ value: "x" }], allowlist: [{ value: "y" }] } },
  access_policies: { some: {} },
  accounts: [{ name: "acme" }],
  teams: [{ name: "red" }],
  webhooks: [{ url: "http://127.0.0.1/", secret: "s" }],
  alerts: [{ name: "n", when: { metric: "error_rate" }, to: [{ slack: "http://127.0.0.1/" }] }],
  smtp: { host: "mail.example", from: "a@mail.example" },
  payloads: { to: "file:kept", key: "0123456789abcdef" },
  keys: [{ name: "k", secret: "sk_live_0123", session_limit: { requests_per_minute: 5 } }],
};

let filled = 0;

/** The value with the defaults of all that it leaves out. */
function withDefaults(node: Node, value: unknown): unknown {
  const kind = Array.isArray(value) ? "array" : typeof value;
  const own = node.anyOf?.find(({ type }) => type === kind) ?? node;
  if (Array.isArray(value)) return value.map((one) => withDefaults(own.items ?? {}, one));
  if (typeof value !== "object" || value === null) return value;
  const whole: Record<string, unknown> = {};
  for (const [name, written] of Object.entries(value)) {
    const others = typeof own.additionalProperties === "object" ? own.additionalProperties : {};
    whole[name] = withDefaults(own.properties?.[name] ?? others, written);
  }
  for (const [name, property] of Object.entries(own.properties ?? {})) {
    if (name in whole || property.default === undefined) continue;
    whole[name] = withDefaults(property, property.default);
    filled++;
  }
  return whole;
}

function readConfig(value: unknown) {
  const found = openReport(new Map());
  const config = read(CONFIG, value, found);
  assertEquals(found.mistakes, []);
  // What of a model the file has is the one thing that differs.
  return { ...config, models: config?.models.map((model) => ({ ...model, given: null })) };
}

Deno.test("a configuration with every default written is the one that leaves them out", () => {
  const whole = withDefaults(configJsonSchema(), LEAST);
  assert(filled > 120, `${filled} defaults`);
  assertEquals(readConfig(whole), readConfig(LEAST));
});

Deno.test("lists and objects that stand for what is left out are new for each configuration", () => {
  const [one, other] = [readConfig({ providers: {} }), readConfig({ providers: {} })];
  one.server!.corsOrigins.push("*");
  one.accounts!.pop();
  assertEquals(other.server!.corsOrigins, []);
  assertEquals(other.accounts, [{ name: "default", credits: null }]);
  assertStrictEquals(one.dlpPolicies === other.dlpPolicies, false);
});
