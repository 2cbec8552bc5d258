/** What one section of the configuration says of another, and what must be there only once. */
import { assertEquals } from "@std/assert";
import { least, load, mistakesOf } from "./example.ts";

const plus = (fields: Record<string, unknown>) => ({ ...least(), ...fields });
const alert = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  when: { metric: "store_lag" },
  to: [{ slack: "https://hooks.example/1" }],
  ...more,
});
const KEY = { name: "k", secret: "sk_live_0123456789abcdef" };
const webhook = (url: string) => ({ url, secret: "a-secret-of-enough-letters", events: ["budget.80"] });

const MISTAKES: [situation: string, value: unknown, mistakes: string[]][] = [
  ["two teams of one name", plus({ teams: [{ name: "red" }, { name: "blue" }, { name: "red" }] }), [
    'teams[2].name: expected a value that teams[0].name does not have, got "red"',
  ]],
  ["two alerts of one name", plus({ alerts: [alert("lag"), alert("lag", { for: "5m" })] }), [
    'alerts[1].name: expected a value that alerts[0].name does not have, got "lag"',
  ]],
  [
    "two webhooks of one address",
    plus({ webhooks: [webhook("https://a.example/1"), webhook("https://a.example/1")] }),
    [
      'webhooks[1].url: expected a value that webhooks[0].url does not have, got "https://a.example/…"',
    ],
  ],
  [
    "two secrets of one webhook",
    plus({
      alerts: ["first", "second", "first"].map((secret, i) => ({
        ...alert(`a${i}`),
        to: [{ webhook: "https://a.example/1", secret }, { webhook: "https://a.example/2", secret: "other" }],
      })),
    }),
    [
      "alerts[1].to[0].secret: expected the same value as alerts[0].to[0].secret, of the same webhook, " +
      "got another value (not shown)",
    ],
  ],
  ["a team of an unknown account", plus({ teams: [{ name: "red", account: "defualt" }] }), [
    'teams[0].account: expected one of the accounts default, got "defualt"; nearest is default',
  ]],
  [
    "a team of no account where default is none",
    plus({ accounts: [{ name: "acme" }], teams: [{ name: "red", account: "default" }, { name: "blue" }] }),
    ['teams[0].account: expected one of the accounts acme, got "default"'],
  ],
  ["a key of an unknown team", plus({ teams: [{ name: "red" }], keys: [{ ...KEY, team: "rde" }] }), [
    'keys[0].team: expected one of the teams red, got "rde"; nearest is red',
  ]],
  [
    "a key of another account than its team's",
    plus({
      accounts: [{ name: "acme" }, { name: "other" }],
      teams: [{ name: "red", account: "acme" }],
      keys: [{ ...KEY, team: "red", account: "other" }],
    }),
    [`keys[0].account: expected "acme", which is the team's account, or none, got "other"`],
  ],
];

for (const [situation, value, expected] of MISTAKES) {
  Deno.test(`loadConfig() names ${situation}`, () => assertEquals(mistakesOf(() => load(value)), expected));
}

Deno.test("loadConfig() warns of payloads that are asked for where no place is configured", () => {
  const asking = {
    keys: [{ ...KEY, payloads: true }, { ...KEY, name: "l", secret: `${KEY.secret}l`, payloads: false }],
    dlp_policies: { strict: { mode: "mask", payloads: true } },
    access_policies: { eu: { allow: ["*"], payloads: true } },
  };
  const told = (value: unknown) => load(value).warnings.filter((warning) => /payloads/.test(warning));
  const end = "payloads: nothing is kept, as the configuration has no `payloads` to say where";
  assertEquals(told(plus(asking)), [
    `keys[0].${end}`,
    `dlp_policies.strict.${end}`,
    `access_policies.eu.${end}`,
  ]);
  const payloads = { to: "file:./payloads", key: "a-key-of-sixteen-letters" };
  assertEquals(told(plus({ ...asking, payloads })), []);
});

Deno.test("loadConfig() warns of policies of keys and teams that are not applied", () => {
  const value = plus({
    dlp: { enabled: false },
    dlp_policies: { strict: { mode: "block" } },
    teams: [{ name: "red", dlp_policy: "strict" }],
    keys: [{ ...KEY, dlp_policy: "strict" }],
  });
  const end = "dlp_policy: not applied, as `dlp.enabled` is false";
  assertEquals(load(value).warnings.filter((warning) => /dlp/.test(warning)), [
    `keys[0].${end}`,
    `teams[0].${end}`,
  ]);
});

const ADDRESS = "an http:// or https:// address without user and fragment";
const WEBHOOKS: [url: string, shown: string][] = [
  ["ftp://a.example/CANARY", '"ftp://a.example/…"'],
  ["https://a.example/CANARY#CANARY", '"https://a.example/…"'],
  ["https://user:CANARY@a.example/", '"https://…@a.example/"'],
  ["ftp://a.example?CANARY", '"ftp://a.example/…"'],
  ["a.example/hooks/CANARY", "another value (not shown)"],
  ["//a.example/CANARY", "another value (not shown)"],
  ["https:/CANARY#x", "another value (not shown)"],
  ["CANARY", "another value (not shown)"],
];
for (const [url, shown] of WEBHOOKS) {
  Deno.test(`a mistake in the webhook ${url} does not show its path`, () => {
    const value = plus({
      webhooks: [webhook(url)],
      alerts: [alert("lag", { to: [{ webhook: url, secret: "a-secret-of-enough-letters" }] })],
    });
    assertEquals(mistakesOf(() => load(value)), [
      `webhooks[0].url: expected ${ADDRESS}, got ${shown}`,
      `alerts[0].to[0].webhook: expected ${ADDRESS}, got ${shown}`,
    ]);
  });
}
