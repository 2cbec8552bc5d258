/** The configuration as it runs over HTTP: without secrets, with its defaults, with what the last reload said. */
import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "../../src/config/load.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { isHidden, shownConfig } from "../../src/config/shown.ts";
import { atOnce } from "../../src/timing/slices.ts";
import { ADMIN, withConsole } from "./rig.ts";

const headers = { authorization: `Bearer ${ADMIN}` };

const SECRETIVE = `{
  "admin_key": "canary-admin",
  "store": {"url": "postgres://ada:canary-password@db/x?password=canary-query", "pepper": "canary-pepper-of-enough-letters-0123"},
  "server": {"port": 0},
  "providers": {
    "a": {"api": "openai-chat", "base_url": "http://127.0.0.1:1/v1", "api_key": "canary-key",
      "headers": {"x-extra": "canary-header", "authorization": "canary-auth"}},
    "b": {"api": "openai-chat", "base_url": "http://127.0.0.1:1/v1", "api_key": "\${SOME_KEY}"},
    "c": {"preset": "bedrock", "region": "eu-west-1", "auth": {"type": "aws", "region": "eu-west-1",
      "access_key_id": "canary-id", "secret_access_key": "canary-secret", "session_token": "canary-token"}}
  },
  "models": [{"id": "a/m", "name": "From \${PLACE}", "routes": [{"provider": "a", "model": "m"}]}],
  "search": {"engine": "brave", "api_key": "canary-search"},
  "webhooks": [{"url": "https://hooks.example/services/canary-path", "secret": "canary-webhook"}],
  "dlp_policies": {"p": {"mode": "block", "stop_words": [{"value": "canary-word"}], "allowlist": [{"value": "canary-allowed"}],
    "regexes": [{"name": "ticket", "pattern": "T-[0-9]+"}]}},
  "keys": [{"name": "dev", "secret": "sk_live_canary"}]
}`;

Deno.test("shownConfig() shows no secret, variables by name, and the defaults of what nobody wrote", () => {
  const env: Record<string, string> = { SOME_KEY: "canary-from-env", PLACE: "canary-place" };
  const { config } = loadConfig(SECRETIVE, { env: (name) => env[name] });
  const { config: shown, defaults } = atOnce(shownConfig(config));
  const text = JSON.stringify(shown);
  assertEquals(text.match(/canary[\w-]*/g), null);
  // deno-lint-ignore no-explicit-any
  const whole = shown as any;
  assertEquals(whole.providers.b.api_key, "${SOME_KEY}");
  assertEquals(whole.models[0].name, "From ${PLACE}");
  assertEquals(whole.providers.a.api_key, "(hidden)");
  assertEquals(whole.dlp_policies.p.regexes, [{ name: "ticket", pattern: "T-[0-9]+" }]);
  assertEquals(whole.webhooks[0].url, "https://hooks.example/…");
  assert(whole.store.url.includes("postgres://"), whole.store.url);
  assertEquals(whole.providers.a.retries, 2);
  assert(defaults.includes("providers.a.retries") && !defaults.includes("admin_key"), defaults.join());
});

Deno.test("shownConfig() of a long list of keys may be interrupted after each of them", () => {
  const key = (i: number) => `{"name": "k${i}", "secret": "sk_live_${String(i).padStart(32, "0")}"}`;
  const keys = (count: number) => `[${Array.from({ length: count }, (_, i) => key(i)).join()}]`;
  const yields = (count: number) => {
    const { config } = loadConfig(`{"providers": {"openai": {"api_key": "k"}}, "keys": ${keys(count)}}`, {
      env: () => undefined,
    });
    return [...shownConfig(config)].length;
  };
  // Once for its values, and once for its defaults.
  assertEquals(yields(300) - yields(100), 2 * 200);
});

Deno.test("every field of the configuration whose description speaks of a secret is hidden", () => {
  const found: string[] = [];
  // deno-lint-ignore no-explicit-any
  const walk = (schema: any, path: (string | number)[]) => {
    if (typeof schema !== "object" || schema === null) return;
    for (const one of schema.anyOf ?? []) walk(one, path);
    for (const [name, below] of Object.entries(schema.properties ?? {})) walk(below, [...path, name]);
    if (schema.items) walk(schema.items, [...path, 0]);
    if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, [...path, "NAME"]);
    const types = [schema.type, ...(schema.anyOf ?? []).map((one: { type?: string }) => one.type)];
    const isText = types.includes("string") && schema.enum === undefined;
    if (isText && /\bsecret\b|password|credential of|pepper|API key\b/i.test(schema.description ?? "")) {
      found.push(path.join("."));
      assert(isHidden(path), `${path.join(".")}: ${schema.description}`);
    }
  };
  walk(configJsonSchema(), []);
  assert(found.length >= 5, `fields with secrets: ${found.join()}`);
});

Deno.test("GET /admin/config tells how the last reload went, for every process of the store", () =>
  withConsole(async (ask, gateway) => {
    const first = await ask("GET", "/admin/config", { headers });
    assertEquals([first.status, first.json.reload, first.json.nodes.length], [200, null, 1]);
    assertEquals(first.json.nodes[0].self, true);
    assert(!first.text.includes(ADMIN) && !first.text.includes("sk_live_"), "no secret");
    gateway.gateway.notReloaded(new Error("server.port: expected a whole number"));
    const failed = (await ask("GET", "/admin/config", { headers })).json;
    assertEquals([failed.reload.ok, failed.reload.mistakes], [false, [
      "server.port: expected a whole number",
    ]]);
    await gateway.gateway.accounts.announce();
    const again = (await ask("GET", "/admin/config", { headers })).json;
    assertEquals(again.nodes[0].about.reload.ok, false);
  }));

Deno.test("GET /admin/policies shows patterns, and of words only their number", () =>
  withConsole(async (ask) => {
    const answer = await ask("GET", "/admin/policies", { headers });
    assertEquals(answer.json.dlp, [{
      name: "strict",
      mode: "block",
      answers: "off",
      entity_types: ["EMAIL_ADDRESS"],
      regexes: [{ name: "ticket", pattern: "T-[0-9]+" }],
      stop_words: 1,
      allowed_values: 0,
    }]);
    assertEquals(answer.json.access, [{ name: "eu", allow: ["mistral/*"], deny: [] }]);
    assertEquals(answer.json.screening.enabled, true);
    assert(!answer.text.includes("falcon"));
  }, {
    config: {
      dlp_policies: {
        strict: {
          mode: "block",
          entity_types: ["EMAIL_ADDRESS"],
          stop_words: [{ value: "falcon" }],
          regexes: [{ name: "ticket", pattern: "T-[0-9]+" }],
        },
      },
      access_policies: { eu: { allow: ["mistral/*"] } },
    },
  }));
