import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe } from "../../src/config/describe.ts";
import { demoConfig } from "../../src/config/demo.ts";
import { loadConfig, loadValue } from "../../src/config/load.ts";
import { environment, EXAMPLE, least, mistakesOf, NO_ENV } from "./example.ts";

Deno.test("describe() says what the contract's example would run", () => {
  const env = environment({
    OPENAI_API_KEY: "hidden",
    SLUICE_ADMIN_KEY: "hidden",
    SLUICE_STORE: "postgres://u:hidden@db:5432/sluice?password=hidden",
  });
  const { config } = loadConfig(EXAMPLE, { env, flags: { hostname: "::", workers: 2 } });
  assertEquals(
    describe(config),
    `listens on http://[::]:8787 with 2 workers
store      postgres://…@db:5432/sluice?…, generations kept 90 days
admin      on
providers  1
  openai: openai-responses at api.openai.com
models     1
  openai/gpt-5: openai (gpt-5)
svc/auto   over openai/gpt-5
keys       1 in the configuration, of 1 account
search     searxng at 127.0.0.1:8888
DLP        on, 1 policy`,
  );
});

Deno.test("describe() names sections that only some configurations have", () => {
  const { config } = loadValue({
    ...least(),
    store: { url: "sqlite::memory:", retention_days: 1 },
    teams: [{ name: "red" }, { name: "blue" }],
    webhooks: [{
      url: "https://a.example/CANARY",
      secret: "CANARY-of-enough-letters",
      events: ["budget.80"],
    }],
    alerts: [{ name: "lag", when: { metric: "store_lag" }, to: [{ slack: "https://a.example/CANARY" }] }],
    payloads: { to: "file:./data/payloads", key: "CANARY-of-enough-letters", retention_days: 1 },
    oidc: {
      issuer: "https://id.example",
      client_id: "sluice",
      client_secret: "CANARY",
      roles: { claim: "roles", map: { a: "owner" } },
    },
    server: { public_url: "https://gateway.example" },
  }, { env: NO_ENV });
  const text = describe(config);
  for (
    const line of [
      "listens on http://127.0.0.1:8787",
      "store      sqlite::memory:, generations kept 1 day",
      "admin      on, sign-in with https://id.example",
      "teams      red, blue",
      "webhooks   1",
      "alerts     lag",
      "payloads   files in ./data/payloads, kept 1 day, read by owner",
    ]
  ) assertStringIncludes(`${text}\n`, `${line}\n`);
  assert(!text.includes("CANARY"), text);
  const { payloads } = loadValue({
    ...least(),
    payloads: { to: "s3://bucket/prefix", key: "a-key-of-sixteen-letters", readers: [] },
  }, { env: NO_ENV }).config;
  assertStringIncludes(describe({ ...config, payloads }), "payloads   s3://bucket/prefix/, kept ");
  assertStringIncludes(describe({ ...config, payloads }), ", read by nobody\n");
});

Deno.test("demoConfig() is a configuration without a warning, on loopback, with an embedded provider", () => {
  const { config, warnings } = demoConfig({ env: NO_ENV });
  assertEquals(warnings, []);
  assertEquals(config.server.hostname, "127.0.0.1");
  assertEquals(config.store.url, "sqlite:./data/sluice.db");
  assertEquals(config.providers.map(({ api }) => api.name), ["demo"]);
});

Deno.test("demoConfig() follows PORT and --port, and leaves a DATABASE_URL alone", () => {
  const env = environment({ PORT: "9000", DATABASE_URL: "postgres://h/d" });
  const { config } = demoConfig({ env });
  assertEquals([config.server.port, config.store.url], [9000, "sqlite:./data/sluice.db"]);
  assertEquals(demoConfig({ env, flags: { port: 0 } }).config.server.port, 0);
});

Deno.test("demoConfig() listens on loopback only", () => {
  for (const hostname of ["127.0.0.2", "localhost", "::1"]) {
    assertEquals(demoConfig({ env: NO_ENV, flags: { hostname } }).config.server.hostname, hostname);
  }
  for (const hostname of ["0.0.0.0", "::", "127.0.0.1.example.com"]) {
    assertEquals(mistakesOf(() => demoConfig({ env: NO_ENV, flags: { hostname } })), [
      `--hostname: expected a loopback address in demo mode, got "${hostname}"; ` +
      "to serve other machines, give a configuration with --config",
    ]);
  }
});
