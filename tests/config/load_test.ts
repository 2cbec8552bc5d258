import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { parseJsonc } from "../../src/config/jsonc.ts";
import { loadConfig, readSource } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { shared, sharedTest } from "../support/shared.ts";
import { environment, EXAMPLE, EXAMPLE_ENV, least, load, mistakesOf, NO_ENV } from "./example.ts";

Deno.test("loadConfig() loads the contract's example", () => {
  const { config, warnings } = loadConfig(EXAMPLE, { env: EXAMPLE_ENV });
  assertEquals(config.adminKey, "admin-secret-of-some-length");
  assertEquals(config.providers[0].auth, { type: "key", key: "sk-upstream" });
  assertEquals(config.models[0].pricing.prompt, "0.00000125");
  assertEquals(config.keys[0].spendLimit, { amount: 25n * 10n ** 12n, period: "month" });
  // The example's svc/auto names a model that the example does not configure.
  assertEquals(config.auto, { models: ["openai/gpt-5"], quality: 0.5 });
  assertEquals(warnings, [
    "keys[0].secret: expected a secret: this one is left out, so nobody can use the key, got another value (not shown)",
    'auto.models[0]: expected one of the models openai/gpt-5, got "openai/gpt-5-mini"; nearest is openai/gpt-5',
  ]);
});

sharedTest("CONTRACT.md", "loadConfig() loads the example as it stands in the contract", () => {
  const contract = Deno.readTextFileSync(shared("CONTRACT.md"));
  const text = contract.slice(
    contract.indexOf("```jsonc\n") + 9,
    contract.indexOf("\n```", contract.indexOf("```jsonc")),
  );
  const { config } = loadConfig(text, { env: EXAMPLE_ENV });
  assertEquals(config, loadConfig(EXAMPLE, { env: EXAMPLE_ENV }).config);
});

Deno.test("loadConfig() fills in every default", () => {
  const { config, warnings } = load(least());
  assertEquals(warnings, []);
  const { providers: [{ api, ...provider }], ...rest } = config;
  assertEquals(api.name, "openai-chat");
  assertEquals({ ...rest, provider }, {
    server: {
      hostname: "127.0.0.1",
      port: 8787,
      maxBodyBytes: 33554432,
      maxFileBytes: 20971520,
      maxTextChars: 4000000,
      maxMessages: 2000,
      maxInFlight: 4096,
      maxInFlightBytes: 536_870_912,
      maxConnections: null,
      maxSocketsPerKey: 16_384,
      tls: null,
      headerMs: 30_000,
      idleMs: 300_000,
      keepAliveMs: 15_000,
      shutdownGraceMs: 60_000,
      workers: 1,
      corsOrigins: [],
      metrics: "key",
      publicUrl: null,
      trustedProxies: [],
      docs: true,
    },
    store: {
      url: "sqlite:./data/sluice.db",
      journal: "./data/node",
      offlineMs: 3_600_000,
      connections: 4,
      retentionDays: 90,
      pepper: null,
    },
    adminKey: null,
    oidc: null,
    provider: {
      name: "up",
      baseUrl: "http://127.0.0.1:1/v1",
      auth: { type: "key", key: "" },
      headers: {},
      firstByteMs: 120_000,
      idleMs: 120_000,
      retries: 2,
      breaker: { failures: 5, windowMs: 30_000, openMs: 15_000 },
      http2: true,
      passCredentials: false,
      maxConcurrent: null,
      traceContext: false,
      maxVersion: null,
      preset: null,
    },
    models: [{
      id: "up/a",
      name: "up/a",
      routes: [{ provider: "up", model: "a", weight: null }],
      contextLength: null,
      maxCompletion: null,
      defaultOutput: null,
      knowledgeCutoff: null,
      sheets: [{
        source: config.models[0].sheets![0].source,
        from: 0,
        hours: null,
        prices: { prompt: "0", completion: "0" },
        tiers: [],
      }],
      given: new Set(["id", "routes", "defaultCompletionTokens", "pricing", "order", "cache", "shortNames"]),
      order: "written",
      stickyCache: true,
      pricing: { prompt: "0", completion: "0" },
      inputs: ["text"],
      outputs: ["text"],
      features: new Set(),
      efforts: null,
      parameters: {},
      shortNames: [],
    }],
    catalog: { discover: null, discoverHours: 1, unpriced: "refuse" },
    auto: { models: [], quality: 0.5 },
    search: { engine: "none", baseUrl: "", apiKey: "", results: 5, timeoutMs: 10_000, price: "0.005" },
    dlp: { enabled: true, onUnscannable: "pass", restore: false },
    dlpPolicies: {},
    accessPolicies: [],
    accounts: [{ name: "default", credits: null }],
    teams: [],
    webhooks: [],
    alerts: [],
    smtp: null,
    payloads: null,
    logs: "text",
    logLevel: "info",
    logGenerations: null,
    telemetry: { sample: null, langfuse: false },
    keys: [],
  });
});

Deno.test("loadConfig() freezes what it returns, all the way down", () => {
  const { config } = load(least());
  assertThrows(() => Object.assign(config.models[0].routes, { 1: null }), TypeError);
  assertThrows(() => config.server.port = 1, TypeError);
});

Deno.test("loadConfig() accepts comments, trailing commas and a byte order mark", () => {
  const text = `\ufeff/* a */ { // b
    "providers": { "p": { "api": "demo", } },
    "models": [ { "id": "p/m", "routes": [ { "provider": "p", "model": "m", }, ], }, ],
  }`;
  assertEquals(loadConfig(text, { env: NO_ENV }).config.models[0].id, "p/m");
});

Deno.test("loadConfig() takes the slash off the end of an address", () => {
  const value = least();
  value.providers.up.base_url = "https://api.example.com/v1/";
  assertEquals(load(value).config.providers[0].baseUrl, "https://api.example.com/v1");
});

Deno.test("loadConfig() replaces variables inside strings, several in one", () => {
  const value = least();
  value.providers.up.base_url = "http://${HOST}:${PORT_OF_UP}/v1";
  const { config } = load(value, environment({ HOST: "localhost", PORT_OF_UP: "99" }));
  assertEquals(config.providers[0].baseUrl, "http://localhost:99/v1");
});

Deno.test("loadConfig() leaves a repetition in a pattern alone", () => {
  const value = {
    ...least(),
    dlp_policies: { p: { mode: "mask", regexes: [{ name: "r", pattern: "x${2}y${1,3}" }] } },
  };
  assertEquals(load(value).config.dlpPolicies.p.patterns[0].pattern, "x${2}y${1,3}");
});

Deno.test("loadConfig() does not look for variables in what a variable holds", () => {
  const value = { ...least(), admin_key: "${A}" };
  assertEquals(load(value, environment({ A: "x${B}", B: "no" })).config.adminKey, "x${B}");
});

Deno.test("loadConfig() keeps a field named __proto__ a field", () => {
  const text = JSON.stringify(least()).replace(/}$/, ',"__proto__":{"keys":1}}');
  const [mistake] = mistakesOf(() => loadConfig(text, { env: NO_ENV }));
  assertStringIncludes(mistake, "__proto__: unknown field");
});

Deno.test("loadConfig() lets an environment of the host override the file", () => {
  const value = { ...least(), admin_key: "in-file", store: { url: "sqlite:a.db" }, server: { port: 1 } };
  const env = environment({
    PORT: "9000",
    SLUICE_STORE: "sqlite:b.db",
    SLUICE_ADMIN_KEY: "in-env",
    DATABASE_URL: "postgres://h/d",
  });
  const { config } = load(value, env);
  assertEquals([config.server.port, config.store.url, config.adminKey], [9000, "sqlite:b.db", "in-env"]);
});

Deno.test("loadConfig() uses DATABASE_URL only when no store is configured", () => {
  const env = environment({ DATABASE_URL: "postgres://h/d" });
  assertEquals(load(least(), env).config.store.url, "postgres://h/d");
  assertEquals(load({ ...least(), store: { retention_days: 3 } }, env).config.store, {
    url: "postgres://h/d",
    journal: "./data/node",
    offlineMs: 3_600_000,
    connections: 4,
    retentionDays: 3,
    pepper: null,
  });
  assertEquals(load({ ...least(), store: { url: "sqlite:a.db" } }, env).config.store.url, "sqlite:a.db");
});

Deno.test("loadConfig() uses the database of PG variables where there is neither a store nor DATABASE_URL", () => {
  const url = (set: Record<string, string>, store?: object) =>
    load({ ...least(), ...(store && { store }) }, environment(set)).config.store.url;
  const set = {
    PGHOST: "db.example",
    PGPORT: "6432",
    PGDATABASE: "app--a/b",
    PGUSER: "us er",
    PGPASSWORD: "p@ss:w/rd",
    PGSSLMODE: "require",
  };
  assertEquals(
    url(set),
    "postgres://us%20er:p%40ss%3Aw%2Frd@db.example:6432/app--a%2Fb?sslmode=require",
  );
  assertEquals(url({ ...set, DATABASE_URL: "postgres://h/d" }), "postgres://h/d?sslmode=require");
  assertEquals(
    url({ ...set, DATABASE_URL: "postgres://h/d?sslmode=disable" }),
    "postgres://h/d?sslmode=disable",
  );
  assertEquals(url(set, { url: "sqlite:a.db" }), "sqlite:a.db");
  assertEquals(url({ PGHOST: "::1", PGDATABASE: "d" }), "postgres://[::1]/d");
  assertEquals(
    url({ PGHOST: "/run/postgresql", PGUSER: "u", PGDATABASE: "d" }),
    "postgres://u@localhost/d?host=%2Frun%2Fpostgresql",
  );
  // Set for a developer's tools, and not for this.
  assertEquals(url({ PGHOST: "db.example" }), url({}));
  assertEquals(
    mistakesOf(() => load(least(), environment({ ...set, PGPORT: "x" })))[0]?.split(":")[0],
    "PGHOST",
  );
});

Deno.test("loadConfig() takes no journal on a host whose disks end with the process, unless one is configured", () => {
  const journal = (set: Record<string, string>, store?: object) =>
    load({ ...least(), ...(store && { store }) }, environment({ DATABASE_URL: "postgres://h/d", ...set }))
      .config.store.journal;
  assertEquals(journal({}), "./data/node");
  assertEquals(journal({ DENO_DEPLOY: "true" }), null);
  assertEquals(journal({ DENO_DEPLOY: "true" }, { retention_days: 3 }), null);
  assertEquals(journal({ DENO_DEPLOY: "true" }, { journal: "/mnt/node" }), "/mnt/node");
});

Deno.test("loadConfig() says on Deno Deploy what an instance has not: files that last, and processes", () => {
  const text = JSON.stringify({
    ...least(),
    server: { workers: 4 },
    payloads: { to: "file:./payloads", key: "k".repeat(40) },
  });
  const there = loadConfig(text, { env: environment({ DENO_DEPLOY: "true" }) });
  assertEquals(there.config.server.workers, 1);
  const said = (warnings: string[]) => warnings.filter((line) => line.includes("Deno Deploy"));
  assertEquals(said(there.warnings).map((line) => line.split(":")[0]), ["payloads.to", "server.workers"]);
  const here = loadConfig(text, { env: NO_ENV });
  assertEquals([here.config.server.workers, said(here.warnings)], [4, []]);
});

Deno.test("loadConfig() lets the command line override the environment", () => {
  const flags = { port: 3, hostname: "0.0.0.0", workers: 2 };
  const { config } = loadConfig(JSON.stringify(least()), { env: environment({ PORT: "9000" }), flags });
  assertEquals([config.server.port, config.server.hostname, config.server.workers], [3, "0.0.0.0", 2]);
});

Deno.test("loadConfig() reports a wrong override under its own name", () => {
  const env = environment({ PORT: "http", DATABASE_URL: "mysql://u:hidden@h/d?password=hidden" });
  assertEquals(mistakesOf(() => load(least(), env)), [
    'PORT: expected a whole number from 0 to 65535, got "http"',
    'DATABASE_URL: expected "sqlite:PATH", "sqlite::memory:" or "postgres://USER:PASSWORD@HOST/DATABASE", ' +
    'got "mysql://…@h/d?…"',
  ]);
});

Deno.test("loadConfig() never throws anything but a ConfigError, whatever is done to the example", () => {
  const { value } = parseJsonc(EXAMPLE, EXAMPLE_ENV, "example");
  const paths = pathsOf(value);
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom("${", "${X}", "${}", "__proto__", "\0", "\ud800", "constructor", [], {}, null, -0, 1e308),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...paths), junk, fc.string()), { minLength: 1, maxLength: 4 }),
      (edits) => {
        const spoilt = structuredClone(value);
        for (const [path, replacement, name] of edits) spoil(spoilt, path, replacement, name);
        for (const mistake of mistakesOf(() => load(spoilt))) {
          assert(
            !mistake.includes("sk-upstream") && !mistake.includes("admin-secret-of-some-length"),
            mistake,
          );
        }
      },
    ),
    { numRuns: 600 },
  );
});

Deno.test("loadConfig() never throws anything but a ConfigError, whatever is done to the example's text", () => {
  const edit = fc.tuple(
    fc.nat(EXAMPLE.length),
    fc.nat(12),
    fc.oneof(fc.string(), fc.constantFrom(...'{}[],:"\\/*$')),
  );
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
      let text = EXAMPLE;
      for (const [at, length, insert] of edits) text = text.slice(0, at) + insert + text.slice(at + length);
      mistakesOf(() => loadConfig(text, { env: EXAMPLE_ENV }));
    }),
    { numRuns: 400 },
  );
});

Deno.test("loadConfig() refuses a text nested past all reason", () => {
  assertEquals(mistakesOf(() => loadConfig("[".repeat(200_000), { env: NO_ENV })), [": nested too deeply"]);
});

type Step = string | number;

function pathsOf(value: unknown, path: Step[] = []): Step[][] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, item]) =>
    pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key])
  );
  return path.length ? [path, ...below] : below;
}

/** Replaces the value at a path, and for a name also puts it under a second name beside it. */
function spoil(root: unknown, path: Step[], value: unknown, name: string): void {
  let holder = root as Record<Step, unknown>;
  for (const step of path.slice(0, -1)) {
    const next = holder[step];
    if (typeof next !== "object" || next === null) return;
    holder = next as Record<Step, unknown>;
  }
  // Copies: a later edit may go into this value, and a value within itself is no JSON.
  holder[path[path.length - 1]] = structuredClone(value);
  if (name.length % 2 === 1 && !Array.isArray(holder)) holder[name] = structuredClone(value);
}

Deno.test("readSource() takes a text that is one, and else the file of that name", async () => {
  assertEquals(await readSource('// c\n{"a":1}'), { name: "configuration", text: '// c\n{"a":1}' });
  const directory = await Deno.makeTempDir();
  try {
    const file = `${directory}/s.jsonc`;
    await Deno.writeTextFile(file, "{}");
    assertEquals(await readSource(file), { name: `configuration ${file}`, text: "{}" });
    await Deno.writeFile(file, new Uint8Array([0x7b, 0xff, 0x7d]));
    await refusal(file, "not UTF-8 text");
    await refusal(`${directory}/absent`, "no such file");
    await refusal(directory, "expected a file, got a directory");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function refusal(source: string, message: string): Promise<void> {
  const error = await assertRejects(() => readSource(source), ConfigError);
  assertEquals(error.message, `Cannot use configuration ${source}: 1 mistake\n  ${message}`);
}

Deno.test("server.public_url is the URL of a site: a path is refused, as the console's pages would not be below it", () => {
  const at = (public_url: string) => load({ ...least(), server: { public_url } });
  for (const url of ["https://gw.example", "https://gw.example/", "http://127.0.0.1:8787"]) {
    assertEquals(at(url).config.server.publicUrl, url.replace(/\/$/, ""));
  }
  for (const url of ["https://gw.example/team", "https://gw.example//", "https://gw.example/?a"]) {
    const { mistakes } = assertThrows(() => at(url), ConfigError);
    assertStringIncludes(mistakes[0].message, "without path, user, query or fragment");
  }
});
