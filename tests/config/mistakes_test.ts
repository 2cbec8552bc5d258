import { assert, assertEquals, assertThrows } from "@std/assert";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { nearest } from "../../src/schema/mistakes.ts";
import { environment, least, load, mistakesOf, NO_ENV } from "./example.ts";

/** A configuration that loads, put together from the least one and the fields given. */
const OIDC = { issuer: "https://id.example", client_id: "x", roles: { claim: "roles", map: {} } };
const plus = (fields: Record<string, unknown>) => ({ ...least(), ...fields });
const provider = (fields: Record<string, unknown>) =>
  plus({ providers: { up: { ...least().providers.up, ...fields } } });
const model = (fields: Record<string, unknown>) => plus({ models: [{ ...least().models[0], ...fields }] });
const key = (fields: Record<string, unknown>) =>
  plus({ keys: [{ name: "k", secret: "sk_live_0123456789abcdef", ...fields }] });

const ADDRESS = "an http:// or https:// address without user, query or fragment";
const PRICE = 'a decimal string like "0.0000025", at most 1000, with at most 18 digits after the point';
const AMOUNT = 'a decimal string like "25.00" from 0 to 9000000, with at most 12 digits after the point';
const PROVIDER_FIELDS =
  "preset, api, base_url, region, project, location, resource, deployments, api_key, auth, headers, max_version, first_byte_seconds, idle_seconds, tls, http2, retries, breaker, pass_credentials, think_tags, max_concurrent, trace_context";

const MISTAKES: [situation: string, value: unknown, mistakes: string[]][] = [
  ["nothing at all", {}, [
    "providers: expected an object of named entries, got nothing",
  ]],
  ["no model, and nobody to ask", { providers: { demo: { api: "demo" } } }, [
    "models: expected a list of at least one model, as no provider is asked for its own, got nothing",
  ]],
  ["no model, and nobody asked", { providers: least().providers, catalog: { discover: false } }, [
    "models: expected a list of at least one model, as no provider is asked for its own, got nothing",
  ]],
  [
    "a model without routes, and nobody asked",
    plus({
      models: [{ id: "a/b", pricing: { prompt: "0", completion: "0" } }],
      catalog: { discover: false },
    }),
    [
      "models[0].routes: expected a list of at least one route, as no provider is asked for its models, got nothing",
    ],
  ],
  ["tiers of prices without prices", model({ pricing: undefined, pricing_tiers: [] }), [
    "models[0].pricing_tiers: expected none without `pricing`, got a list of 0",
  ]],
  ["hours that are none", plus({ catalog: { discover_hours: 0 } }), [
    "catalog.discover_hours: expected a number of hours from 0.001 to 720, got 0",
  ]],
  ["a list for the whole", [], [": expected an object, got a list of 0"]],
  ["no model", plus({ models: [] }), ["models: expected a list of at least one model, got a list of 0"]],
  ["a port out of range", plus({ server: { port: 65536 } }), [
    "server.port: expected a whole number from 0 to 65535, got 65536",
  ]],
  ["a fraction for a port", plus({ server: { port: 1.5 } }), [
    "server.port: expected a whole number from 0 to 65535, got 1.5",
  ]],
  ["a string for a port", plus({ server: { port: "8787" } }), [
    'server.port: expected a whole number from 0 to 65535, got "8787"',
  ]],
  ["seconds below zero", plus({ server: { shutdown_grace_seconds: -1 } }), [
    "server.shutdown_grace_seconds: expected a number of seconds from 0 to 86400, got -1",
  ]],
  ["an issuer in the open", plus({ oidc: { ...OIDC, issuer: "http://id.example" } }), [
    'oidc.issuer: expected an https:// address without user, query or fragment; http:// on the own machine, got "http://id.example"',
  ]],
  ["an unknown role", plus({ oidc: { ...OIDC, roles: { claim: "roles", map: { a: "admin" } } } }), [
    'oidc.roles.map.a: expected one of owner, operator, auditor, member, got "admin"',
  ]],
  ["a network that is none", plus({ server: { trusted_proxies: ["10.0.0.0/33", "10.0.0.1"] } }), [
    'server.trusted_proxies[0]: expected an address or a network like "10.0.0.0/8", got "10.0.0.0/33"',
  ]],
  ["a misspelt section", plus({ dlp_polices: {} }), [
    "dlp_polices: unknown field; nearest is dlp_policies; known are server, store, admin_key, oidc, providers, models, catalog, auto, " +
    "search, dlp, dlp_policies, access_policies, accounts, teams, webhooks, alerts, smtp, payloads, keys, logs, log_level, log_generations, telemetry, $schema",
  ]],
  ["a misspelt credential, whose value stays hidden", provider({ apikey: "hidden" }), [
    `providers.up.apikey: unknown field; nearest is api_key; known are ${PROVIDER_FIELDS}`,
  ]],
  ["an unknown field like no other", provider({ zzz: 1 }), [
    `providers.up.zzz: unknown field; known are ${PROVIDER_FIELDS}`,
  ]],
  ["a credential of another type", provider({ auth: { type: "google", region: "eu-central-1" } }), [
    'providers.up.auth.region: expected no value (auth of type google has only credentials_file), got "eu-central-1"',
  ]],
  [
    "half a pair of keys, which stays hidden",
    provider({
      auth: { type: "aws", secret_access_key: "hidden", session_token: "hid den" },
    }),
    [
      "providers.up.auth.session_token: expected a session token in printable ASCII, got another value (not shown)",
    ],
  ],
  ["a misspelt API", provider({ api: "anthropic" }), [
    "providers.up.api: expected one of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse, demo, " +
    'got "anthropic"; nearest is anthropic-messages',
  ]],
  ["a provider without address", plus({ providers: { up: { api: "gemini" } } }), [
    "providers.up.base_url: expected an http:// or https:// address, got nothing",
  ]],
  ["an address of another scheme", provider({ base_url: "ftp://h/v1" }), [
    `providers.up.base_url: expected ${ADDRESS}, got "ftp://h/v1"`,
  ]],
  ["an address with a password", provider({ base_url: "https://u:hidden@h/v1?key=hidden" }), [
    `providers.up.base_url: expected ${ADDRESS}, got "https://…@h/v1?…"`,
  ]],
  ["a credential with a line break", provider({ api_key: "hidden\n" }), [
    "providers.up.api_key: expected printable ASCII without spaces or line breaks, got another value (not shown)",
  ]],
  ["a header value with a line break", provider({ headers: { "x-a": "hidden\nx" } }), [
    "providers.up.headers.x-a: expected a header value without line breaks, got another value (not shown)",
  ]],
  ["a header of another kind", provider({ headers: { "x-a": 12345 } }), [
    "providers.up.headers.x-a: expected a header value without line breaks, got another value (not shown)",
  ]],
  ["an impossible provider name", plus({ providers: { ...least().providers, "é": { api: "demo" } } }), [
    'providers["é"]: expected a name of 1 to 64 printable ASCII characters without spaces at its ends, other than . and .., got "é"',
  ]],
  [
    "a provider name that browsers remove from URLs",
    plus({ providers: { ...least().providers, "..": { api: "demo" } } }),
    [
      'providers[".."]: expected a name of 1 to 64 printable ASCII characters without spaces at its ends, other than . and .., got ".."',
    ],
  ],
  ["a breaker that is a number", provider({ breaker: 5 }), [
    "providers.up.breaker: expected an object, got 5",
  ]],
  [
    "a route to an unknown provider",
    model({ routes: [{ provider: "up", model: "a" }, { provider: "pu", model: "a" }] }),
    [
      'models[0].routes[1].provider: expected one of the providers up, got "pu"; nearest is up',
    ],
  ],
  [
    "a route over an unknown API",
    model({ routes: [{ provider: "up", model: "a", api: "telepathy" }] }),
    [
      'models[0].routes[0].api: expected one of openai-chat, openai-responses, anthropic-messages, gemini, bedrock-converse, got "telepathy"',
    ],
  ],
  ["no route", model({ routes: [] }), [
    "models[0].routes: expected a list of at least one route, got a list of 0",
  ]],
  ["a weight of zero", model({ routes: [{ provider: "up", model: "a", weight: 0 }] }), [
    "models[0].routes[0].weight: expected a number from 0.000001 to 1000000, or null, got 0",
  ]],
  ["a model without provider", model({ id: "gpt-5" }), [
    'models[0].id: expected a model id "<provider>/<model>" of at most 256 characters in printable ASCII without "*", got "gpt-5"',
  ]],
  ["the gateway's own model", model({ id: "svc/auto" }), [
    'models[0].id: expected another id, this one is the gateway\'s own, got "svc/auto"',
  ]],
  ["a price as a number", model({ pricing: { prompt: 0.5, completion: "1" } }), [
    `models[0].pricing.prompt: expected ${PRICE}, got 0.5`,
  ]],
  ["a price with an exponent", model({ pricing: { prompt: "1e-6", completion: "-1" } }), [
    `models[0].pricing.prompt: expected ${PRICE}, got "1e-6"`,
    `models[0].pricing.completion: expected ${PRICE}, got "-1"`,
  ]],
  ["a price that is missing", model({ pricing: { prompt: "1" } }), [
    `models[0].pricing.completion: expected ${PRICE}, got nothing`,
  ]],
  ["a misspelt kind of price", model({ pricing: { prompt: "1", completion: "1", input_cache_reads: "1" } }), [
    "models[0].pricing.input_cache_reads: unknown field; nearest is input_cache_read; known are prompt, completion, " +
    "input_cache_read, input_cache_write, input_cache_write_1h, internal_reasoning, image, image_output, audio, audio_output, request, web_search, file_search, x_search, search_source",
  ]],
  ["an unknown feature", model({ capabilities: { features: ["tool"] } }), [
    "models[0].capabilities.features[0]: expected one of tools, reasoning, prompt_caching, structured_outputs, " +
    'response_format, got "tool"; nearest is tools',
  ]],
  ["an unknown reasoning effort", model({ reasoning_efforts: ["hihg"] }), [
    "models[0].reasoning_efforts[0]: expected one of none, minimal, low, medium, high, xhigh, max, " +
    'got "hihg"; nearest is high',
  ]],
  ["a short name with a star inside", model({ short_names: ["claude-*-5"] }), [
    'models[0].short_names[0]: expected a name without "/", with "*" only at its end, got "claude-*-5"',
  ]],
  [
    "two models of one id and one short name",
    plus({
      models: [{ ...least().models[0], short_names: ["s"] }, {
        ...least().models[0],
        short_names: ["t", "s"],
      }],
    }),
    [
      'models[1].id: expected a value that models[0].id does not have, got "up/a"',
      'models[1].short_names[1]: expected a value that models[0].short_names[0] does not have, got "s"',
    ],
  ],
  ["svc/auto over strangers only", plus({ auto: { models: ["up/b"] } }), [
    'auto.models[0]: expected one of the models up/a, got "up/b"; nearest is up/a',
  ]],
  ["a quality above one", plus({ auto: { quality: 2 } }), [
    "auto.quality: expected a number from 0 to 1, got 2",
  ]],
  ["an unknown search engine", plus({ search: { engine: "searxgn" } }), [
    'search.engine: expected one of searxng, brave, tavily, exa, serper, mediawiki, none, got "searxgn"; nearest is searxng',
  ]],
  ["a search engine of one's own without address", plus({ search: { engine: "searxng" } }), [
    "search.base_url: expected the address of the searxng server, got nothing",
  ]],
  ["a search engine without its key", plus({ search: { engine: "brave" } }), [
    "search.api_key: expected a key, since brave answers no one without, got nothing",
  ]],
  ["an unknown store", plus({ store: { url: "./data.db" } }), [
    'store.url: expected "sqlite:PATH", "sqlite::memory:" or "postgres://USER:PASSWORD@HOST/DATABASE", got "./data.db"',
  ]],
  ["a pepper that is short", plus({ store: { pepper: "hidden" } }), [
    "store.pepper: expected a secret of at least 16 characters, or null, got another value (not shown)",
  ]],
  ["a DLP policy without mode", plus({ dlp_policies: { p: {} } }), [
    "dlp_policies.p.mode: expected one of alert, mask, block, got nothing",
  ]],
  [
    "a fuzzy allowlist",
    plus({ dlp_policies: { p: { mode: "mask", allowlist: [{ value: "a", match: "fuzzy" }] } } }),
    [
      'dlp_policies.p.allowlist[0].match: expected one of exact, got "fuzzy"',
    ],
  ],
  ["something else for an unscannable part", plus({ dlp: { on_unscannable: "refuse" } }), [
    'dlp.on_unscannable: expected one of pass, block, got "refuse"',
  ]],
  ["two accounts of one name", plus({ accounts: [{ name: "default" }, { name: "default" }] }), [
    'accounts[1].name: expected a value that accounts[0].name does not have, got "default"',
  ]],
  ["credits as a number", plus({ accounts: [{ name: "default", credits: 100 }] }), [
    `accounts[0].credits: expected ${AMOUNT}, got 100`,
  ]],
  ["credits that no store can hold", plus({ accounts: [{ name: "default", credits: "9000001" }] }), [
    `accounts[0].credits: expected ${AMOUNT}, got "9000001"`,
  ]],
  [
    "credits finer than a store has them",
    plus({ accounts: [{ name: "default", credits: "0.0000000000001" }] }),
    [
      `accounts[0].credits: expected ${AMOUNT}, got "0.0000000000001"`,
    ],
  ],
  ["an impossible host name", plus({ server: { hostname: "999.1.1.1" } }), [
    'server.hostname: expected a host name or an IP address, without port and brackets, got "999.1.1.1"',
  ]],
  ["a header given twice", provider({ headers: { "X-A": "1", "x-a": "2" } }), [
    "providers.up.headers.x-a: expected one value for a header, in whatever case its name is, got another value (not shown)",
  ]],
  [
    "a name that JavaScript keeps",
    { ...least(), dlp_policies: JSON.parse('{"__proto__":{"mode":"mask"}}') },
    [
      'dlp_policies.__proto__: expected another name, got "__proto__"',
    ],
  ],
  ["a secret that no header can carry", key({ secret: "sk_live_日本" }), [
    'keys[0].secret: expected "sk_live_" and up to 504 characters of printable ASCII without spaces, ' +
    "got another value (not shown)",
  ]],
  ["a rate limit without a rate", key({ rate_limit: { foo: 1 } }), [
    "keys[0].rate_limit.foo: unknown field; known are requests_per_minute, tokens_per_minute",
    "keys[0].rate_limit: expected an object with `requests_per_minute`, `tokens_per_minute`, or both, got an object",
  ]],
  ["a rate limit that names nothing", key({ rate_limit: {} }), [
    "keys[0].rate_limit: expected an object with `requests_per_minute`, `tokens_per_minute`, or both, got an object",
  ]],
  ["a day that there is not", key({ expires_at: "2030-02-30" }), [
    "keys[0].expires_at: expected a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z, " +
    'got "2030-02-30"',
  ]],
  ["a key of an unknown account", key({ account: "defualt" }), [
    'keys[0].account: expected one of the accounts default, got "defualt"; nearest is default',
  ]],
  ["a key of no account where default is none", { ...key({}), accounts: [{ name: "acme" }] }, [
    'keys[0].account: expected one of the accounts acme, got "default"',
  ]],
  ["a secret without its prefix", key({ secret: "hidden" }), [
    'keys[0].secret: expected "sk_live_" and up to 504 characters of printable ASCII without spaces, got another value (not shown)',
  ]],
  [
    "two keys of one name and one secret",
    plus({
      keys: [{ name: "k", secret: "sk_live_hidden" }, { name: "k", secret: "sk_live_hidden" }],
    }),
    [
      'keys[1].name: expected a value that keys[0].name does not have, got "k"',
      "keys[1].secret: expected a value that keys[0].secret does not have, got another value (not shown)",
    ],
  ],
  ["a key that is the admin key", { ...key({ secret: "sk_live_hidden" }), admin_key: "sk_live_hidden" }, [
    "keys[0].secret: expected a value that admin_key does not have, got another value (not shown)",
  ]],
  ["an unknown period", key({ spend_limit: { amount: "1", period: "monthly" } }), [
    'keys[0].spend_limit.period: expected one of day, week, month, total, got "monthly"; nearest is month',
  ]],
  ["a rate of zero", key({ rate_limit: { requests_per_minute: 0 } }), [
    "keys[0].rate_limit.requests_per_minute: expected a whole number from 1 to 1000000000000, got 0",
  ]],
  ["a time without zone", key({ expires_at: "2030-01-31T00:00:00" }), [
    'keys[0].expires_at: expected a date like 2030-01-31 or a time like 2030-01-31T00:00:00Z, got "2030-01-31T00:00:00"',
  ]],
  [
    "a missing variable, whatever its remains look like",
    provider({ base_url: "${UP}", api_key: "${UP_KEY}" }),
    [
      "providers.up.base_url: expected the environment variable UP, which is not set",
      "providers.up.api_key: expected the environment variable UP_KEY, which is not set",
    ],
  ],
  ["a variable that cannot be one", plus({ server: { hostname: "${UP-KEY}" } }), [
    'server.hostname: expected the name of a variable between ${ and }, got "${UP-KEY}"',
  ]],
  ["mistakes of every kind at once", {
    providers: { up: { api: "openai-chat", base_url: "http://h/v1", api_key: "${NONE}", retries: 99 } },
    models: [{ id: "up/a", routes: [{ provider: "down", model: "a" }], price: {} }],
    keys: [{ name: "k", secret: "sk_live_0123456789abcdef", account: "nobody" }],
    sever: {},
  }, [
    "providers.up.api_key: expected the environment variable NONE, which is not set",
    "providers.up.retries: expected a whole number from 0 to 10, got 99",
    "models[0].price: unknown field; nearest is price_changes; known are id, name, routes, context_length, " +
    "max_completion_tokens, default_completion_tokens, pricing, pricing_tiers, price_changes, capabilities, reasoning_efforts, knowledge_cutoff, parameters, order, cache, short_names",
    "sever: unknown field; nearest is server; known are server, store, admin_key, oidc, providers, models, catalog, auto, search, dlp, " +
    "dlp_policies, access_policies, accounts, teams, webhooks, alerts, smtp, payloads, keys, logs, log_level, log_generations, telemetry, $schema",
    'models[0].routes[0].provider: expected one of the providers up, got "down"',
    'keys[0].account: expected one of the accounts default, got "nobody"',
  ]],
];

for (const [situation, value, expected] of MISTAKES) {
  Deno.test(`loadConfig() names ${situation}`, () => assertEquals(mistakesOf(() => load(value)), expected));
}

Deno.test("loadConfig() shows what came from the environment only as it is written", () => {
  const value = plus({ server: { hostname: "${H}" }, search: { engine: "${H}" } });
  assertEquals(mistakesOf(() => load(value, environment({ H: "not a hidden host" }))), [
    'server.hostname: expected a host name or an IP address, without port and brackets, got "${H}"',
    'search.engine: expected one of searxng, brave, tavily, exa, serper, mediawiki, none, got "${H}"',
  ]);
});

Deno.test("loadConfig() names a field written twice", () => {
  const text = JSON.stringify(least()).replace('"up":{', '"up":{"api":"demo"},"up":{"api":"demo",');
  assertEquals(mistakesOf(() => loadConfig(text, { env: NO_ENV })), [
    "providers.up: expected once, got the same name again",
    "providers.up.api: expected once, got the same name again",
  ]);
});

const SYNTAX: [text: string, mistakes: string[]][] = [
  ["", [": expected an object, got an empty file"]],
  ['{\n  "a": 1\n  "b": 2\n}', ["3:3: not JSON: comma expected"]],
  ['\ufeff{ "a": hidden }', ["1:8: not JSON: invalid symbol, got a word without double quotes"]],
  ['{ "a": 1', ["1:9: not JSON: close brace expected, got the end of the file"]],
  ['{ "a": "hidden\n}', ["1:8: not JSON: unexpected end of string"]],
  ["{} {}", ['1:4: not JSON: end of file expected, got "{"']],
  ["{ 'a': 1 }", [
    "1:3: not JSON: property name expected, got a single quote; text stands in double quotes",
  ]],
  ["{ a: 1 }", ["1:3: not JSON: property name expected, got a word without double quotes"]],
  ['{ "a": 1, # one\n}', ["1:11: not JSON: property name expected, got #; a comment begins with //"]],
  ["# ours\nproviders:\n  openai:\n    api_key: hidden\n", [
    "1:1: expected JSON, in which comments may stand, got what looks like YAML",
  ]],
];
for (const [text, expected] of SYNTAX) {
  Deno.test(`loadConfig() finds the syntax error in ${JSON.stringify(text)}`, () => {
    assertEquals(mistakesOf(() => loadConfig(text, { env: NO_ENV })), expected);
  });
}

Deno.test("ConfigError lists its mistakes under the name of the source", () => {
  const error = assertThrows(
    () => loadConfig("{}", { env: NO_ENV, source: "configuration s.jsonc" }),
    ConfigError,
  );
  assertEquals(
    error.message,
    "Cannot use configuration s.jsonc: 1 mistake\n" +
      "  providers: expected an object of named entries, got nothing",
  );
});

Deno.test("nearest() suggests what is near and nothing else", () => {
  const known = ["hostname", "port", "keepalive_seconds"];
  assertEquals(nearest("prot", known), "port");
  assertEquals(nearest("Host", known), "hostname");
  assertEquals(nearest("keepalive", known), "keepalive_seconds");
  assertEquals(
    nearest("input_cache_write_1hr", ["input_cache_write", "input_cache_write_1h"]),
    "input_cache_write_1h",
  );
  assertEquals(nearest("zebra", known), undefined);
  assertEquals(nearest("", known), undefined);
});

Deno.test("loadConfig() names the headers that the exchange makes itself", () => {
  for (const name of ["host", "Content-Length", "transfer-encoding"]) {
    const [mistake] = mistakesOf(() => load(provider({ headers: { [name]: "1" } })));
    assert(
      mistake.startsWith(`providers.up.headers.${name}: expected a header that is not the gateway's own`),
      mistake,
    );
  }
});
