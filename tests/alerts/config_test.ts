/** Mistakes in the sections alerts, smtp and payloads name their field. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ConfigError } from "../../src/config/config_error.ts";
import { describe } from "../../src/config/describe.ts";
import { loadConfig, loadValue } from "../../src/config/load.ts";
import { shownConfig } from "../../src/config/shown.ts";
import { atOnce } from "../../src/timing/slices.ts";

const LEAST = {
  providers: { up: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
  models: [{
    id: "a/b",
    routes: [{ provider: "up", model: "b" }],
    pricing: { prompt: "0", completion: "0" },
  }],
};

function mistakes(more: Record<string, unknown>): string[] {
  const error = assertThrows(() => loadValue({ ...LEAST, ...more }, { env: () => undefined }), ConfigError);
  return error.message.split("\n").slice(1).map((line: string) => line.trim());
}

const rule = (more: Record<string, unknown>) => ({
  alerts: [{ name: "r", when: { metric: "error_rate" }, to: [{ slack: "https://s.example/x" }], ...more }],
});

const WRONG: [Record<string, unknown>, RegExp][] = [
  [
    rule({ when: { metric: "errors" } }),
    /^alerts\[0\]\.when\.metric: expected one of error_rate, .*got "errors"/,
  ],
  [
    rule({ when: { metric: "spend_rate" } }),
    /^alerts\[0\]\.when\.above: expected a number: spend_rate has no limit of its own/,
  ],
  // As if it were per cent: it could never be reached.
  [
    rule({ when: { metric: "error_rate", above: 5 } }),
    /^alerts\[0\]\.when\.above: expected a number below 1, the largest value of error_rate, got 5/,
  ],
  [rule({ when: { metric: "provider_down", above: 1 } }), /above: expected a number below 1, .* got 1/],
  [rule({ when: { metric: "store_down", above: 1 } }), /above: expected a number below 1, .* got 1/],
  [
    rule({ when: { metric: "latency_p95", above: 300 } }),
    /above: expected a number below 120, the largest value of latency_p95, got 300/,
  ],
  [
    rule({ when: { metric: "error_rate", by: "type" } }),
    /^alerts\[0\]\.when\.by: expected one of all, model, provider for error_rate, got "type"/,
  ],
  [
    rule({ when: { metric: "error_rate", above: 0.1, clear: 0.2 } }),
    /^alerts\[0\]\.when\.clear: expected a number up to `above`, got 0\.2/,
  ],
  [
    rule({ when: { metric: "error_rate", over: "5" } }),
    /^alerts\[0\]\.when\.over: expected a time like "30s"/,
  ],
  [rule({ for: "2d" }), /^alerts\[0\]\.for: expected a time like "30s", "5m" or "2h", up to a day, got "2d"/],
  [rule({ for: "90000s" }), /^alerts\[0\]\.for: expected a time/],
  [rule({ to: [] }), /^alerts\[0\]\.to: expected a list of at least one receiver/],
  [rule({ to: [{}] }), /^alerts\[0\]\.to\[0\]: expected an object with one of `webhook`/],
  [
    rule({ to: [{ webhook: "https://a.example/" }] }),
    /^alerts\[0\]\.to\[0\]\.secret: expected a secret with `webhook`/,
  ],
  [
    rule({ to: [{ slack: "ftp://a.example/" }] }),
    /^alerts\[0\]\.to\[0\]\.slack: expected an http:\/\/ or https:\/\/ address/,
  ],
  [
    rule({ to: [{ email: ["a@b.example\r\nBcc: c@d.example"] }] }),
    /^alerts\[0\]\.to\[0\]\.email\[0\]: expected a mail address/,
  ],
  [
    rule({ to: [{ email: ["a@b.example"] }] }),
    /^alerts\[0\]\.to\[0\]\.email: expected no mail address, as there is no `smtp`/,
  ],
  [{ smtp: { from: "a@b.example" } }, /^smtp\.host: expected a host/],
  [
    { smtp: { host: "m", from: "a@b.example", security: "ssl" } },
    /^smtp\.security: expected one of starttls, tls, none/,
  ],
  ...["m:25", "[::1]", "smtp://m", "a b", ""].map((host): [Record<string, unknown>, RegExp] => [
    { smtp: { host, from: "a@b.example" } },
    /^smtp\.host: expected a host name or an IP address, without port and brackets, got "/,
  ]),
  [
    { smtp: { host: "m", from: "a@b.example", user: "u" } },
    /^smtp\.password: expected a password with `user`, and none without, got nothing/,
  ],
  [
    { smtp: { host: "m", from: "a@b.example", password: "canary" } },
    /^smtp\.user: expected a user with `password`, and none without, got nothing/,
  ],
  [
    rule({ when: { metric: "latency_p95", percent: 50 } }),
    /^alerts\[0\]\.when\.percent: expected no value: only the metric budget has it, not latency_p95, got 50/,
  ],
  [
    { payloads: { to: "ftp://x", key: "k".repeat(16) } },
    /^payloads\.to: expected file:FOLDER or s3:\/\/BUCKET/,
  ],
  [{ payloads: { to: "s3://b/../c", key: "k".repeat(16) } }, /^payloads\.to: expected/],
  ...[{ access_key_id: "AK" }, { secret_access_key: "canary" }].map((
    half,
  ): [Record<string, unknown>, RegExp] => [
    { payloads: { to: "s3://bucket/p", key: "k".repeat(16), ...half } },
    /^payloads\.access_key_id: expected both access_key_id and secret_access_key, or neither, got (?!.*canary)/,
  ]),
  ...["endpoint", "region", "access_key_id", "secret_access_key"].map((
    field,
  ): [Record<string, unknown>, RegExp] => [
    { payloads: { to: "file:./p", key: "k".repeat(16), [field]: "https://s3.example" } },
    new RegExp(`^payloads\\.${field}: expected no value, as .to. is a folder`),
  ]),
  [
    { payloads: { to: "file:./p", key: "short" } },
    /^payloads\.key: expected a secret of 16 to 1024 characters.*not shown/,
  ],
  [{ payloads: { to: "file:./p", key: [] } }, /^payloads\.key: expected/],
  [
    { payloads: { to: "file:./p", key: "k".repeat(16), readers: ["member"] } },
    /^payloads\.readers\[0\]: expected one of owner, operator, auditor/,
  ],
  [
    { payloads: { to: "file:./p", key: "k".repeat(16), retention_days: 0 } },
    /^payloads\.retention_days: expected a whole number from 1 to 3650, got 0/,
  ],
  [
    rule({ to: [{ slack: "hooks/T0/B0/secret-part" }] }),
    /^alerts\[0\]\.to\[0\]\.slack: (?!.*secret-part).*not shown/,
  ],
  [
    { smtp: { host: "m", from: "a@b.example", password: "p".repeat(2000) } },
    /^smtp\.password: (?!.*ppp).*not shown/,
  ],
  [{ payloads: { to: "file:./p", key: ["a-secret"] } }, /^payloads\.key(?!.*a-secret)/],
];

for (const [i, [config, expected]] of WRONG.entries()) {
  Deno.test(`a mistake of alerts and payloads names its field (${i + 1}: ${JSON.stringify(config).slice(0, 60)})`, () => {
    const [first] = mistakes(config);
    assertMatch(first, expected);
  });
}

Deno.test("a variable stands for a key, and payloads that are kept nowhere are warned of", () => {
  const { config } = loadValue({
    ...LEAST,
    payloads: { to: "s3://bucket/a//b/", key: ["k".repeat(20), "l".repeat(20)] },
  }, { env: () => undefined });
  assertEquals(config.payloads?.to, { kind: "s3", bucket: "bucket", prefix: "a/b/" });
  const { warnings } = loadValue({
    ...LEAST,
    keys: [{ name: "a", secret: "sk_live_aaaaaaaaaaaaaaaaaaaaaaaa", payloads: true }],
    dlp_policies: { p: { mode: "alert", payloads: true } },
    access_policies: { q: { payloads: true } },
  }, { env: () => undefined });
  assertEquals(
    warnings.filter((line) => line.includes("nothing is kept")).map((line) => line.split(":")[0]),
    [
      "keys[0].payloads",
      "dlp_policies.p.payloads",
      "access_policies.q.payloads",
    ],
  );
});

Deno.test("secrets of payloads, alerts and the mail server are hidden from who looks at the configuration", () => {
  const { config } = loadConfig(
    JSON.stringify({
      ...LEAST,
      payloads: {
        to: "s3://bucket/p",
        key: ["canary-of-a-key-1", "canary-of-a-key-2"],
        access_key_id: "AKID",
        secret_access_key: "canary-of-storage",
      },
      smtp: { host: "mail", from: "a@b.example", user: "u", password: "canary-of-mail" },
      alerts: [{
        name: "r",
        when: { metric: "error_rate" },
        to: [
          { slack: "https://hooks.example/canary-of-slack" },
          { webhook: "https://h.example/canary-path?canary=1", secret: "canary-of-hook" },
        ],
      }],
    }),
    { env: () => undefined },
  );
  const shown = JSON.stringify(atOnce(shownConfig(config)).config);
  assert(!shown.includes("canary"), shown);
  const described = describe(config);
  assert(!described.includes("canary"), described);
  assertMatch(described, /^payloads {3}s3:\/\/bucket\/p\/, kept 30 days, read by owner$/m);
  assertMatch(described, /^alerts {5}r$/m);
});
