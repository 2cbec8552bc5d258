/** A key is read by one schema, whether the configuration, the administration API or a command names it. */
import { assertEquals, assertThrows } from "@std/assert";
import { readKeyChange, readNewKey, readNewToken, timeOf } from "../../src/accounts/administration/input.ts";
import { loadValue } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { Failure } from "../../src/exchange/failure.ts";

const VALUES: Record<string, unknown[]> = {
  name: ["k", "ключ", "x".repeat(128), "x".repeat(129), "", "a\nb", "\ud800", 5, null],
  account: ["default", "", null],
  access_policy: ["p", null, "", 5],
  dlp_policy: ["p", null, "", {}],
  models: [
    null,
    [],
    ["a/*"],
    ["x".repeat(256)],
    ["x".repeat(257)],
    [""],
    ["ü"],
    "a/*",
    Array(1001).fill("*"),
  ],
  spend_limit: [
    null,
    { amount: "1", period: "day" },
    { amount: "9000000", period: "day" },
    { amount: "9000001", period: "day" },
    { amount: "0.0000000000001", period: "day" },
    { amount: "-1", period: "day" },
    { amount: 1, period: "day" },
    { amount: "1", period: "year" },
    { amount: "1" },
    { amount: "1", period: "day", foo: 1 },
    [],
    "1",
  ],
  rate_limit: [
    null,
    {},
    { requests_per_minute: null },
    { requests_per_minute: 1, tokens_per_minute: 1e12 },
    { requests_per_minute: 0 },
    { tokens_per_minute: 1e12 + 1 },
    { tokens_per_minute: 1.5 },
    { foo: 1 },
    [],
    5,
  ],
  expires_at: [
    null,
    "2030-01-31",
    "2030-01-31T00:00:00Z",
    "2030-01-31T00:00:00.123456+01:00",
    "2030-02-30",
    "2030-02-30T00:00:00Z",
    "2030-01-31T00:00:00",
    "2030-13-01",
    "soon",
    1893456000,
  ],
};

function accepts(read: () => unknown, kind: typeof Failure | typeof ConfigError): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof kind) return false;
    throw error;
  }
}

Deno.test("the configuration and the administration API accept the same keys", () => {
  for (const [field, values] of Object.entries(VALUES)) {
    for (const value of values) {
      const key = { name: "k", [field]: value };
      const config = {
        providers: { p: { api: "demo" } },
        models: [{ id: "p/m", routes: [{ provider: "p", model: "m" }] }],
        keys: [{ ...key, secret: "sk_live_1" }],
      };
      const byFile = accepts(() => loadValue(config, { env: () => undefined }), ConfigError);
      const what = `${field}: ${JSON.stringify(value)?.slice(0, 80)}`;
      assertEquals([what, accepts(() => readNewKey(key), Failure)], [what, byFile]);
      assertEquals([what, accepts(() => readKeyChange({ [field]: value }), Failure)], [what, byFile]);
    }
  }
});

Deno.test("a name can be seen, is told from others by its look, and survives in a URL", () => {
  const names = [
    "a",
    "Ada Lovelace",
    "=1+1",
    "a/b",
    "...",
    ".env",
    "محمد علی",
    "می\u200cخواهم",
    "👩\u200d💻",
    "é",
    "x".repeat(128),
  ];
  for (const name of names) assertEquals(readNewKey({ name }).name, name);
  const invisible = [
    " ",
    "\u3000",
    "\u200b",
    "\u00ad",
    "\u200d",
    "\ufeffdev",
    "\u202elive",
    "a\u2028b",
    "dev\u2069",
  ];
  for (
    const name of [
      ...invisible,
      "",
      " dev",
      "dev ",
      "dev\u00a0",
      ".",
      "..",
      "a\tb",
      "\ud800",
      "x".repeat(129),
    ]
  ) {
    assertThrows(() => readNewKey({ name }), Failure, "a name of 1 to 128 printable characters", name);
  }
});

Deno.test("readNewKey() names every mistake, with the value found and what is allowed", () => {
  const input = { name: "", rate_limit: { requests_per_minute: 0 }, expire_at: null };
  const failure: Failure = assertThrows(() => readNewKey(input), Failure);
  assertEquals(failure.param, "name");
  assertEquals(failure.errors?.map(({ loc, msg }) => [loc, msg]), [
    [
      ["name"],
      'expected a name of 1 to 128 printable characters without spaces at its ends, other than . and .., got ""',
    ],
    [["rate_limit", "requests_per_minute"], "expected a whole number from 1 to 1000000000000, got 0"],
    [
      ["expire_at"],
      "unknown field; nearest is expires_at; known are name, account, access_policy, dlp_policy, models, spend_limit, " +
      "rate_limit, team, session_limit, tag_limits, repair, hedge, resume_seconds, payloads, expires_at",
    ],
  ]);
});

Deno.test("a token that is made ends later than now; a key may have ended", () => {
  const now = Date.parse("2030-01-31T00:00:00Z");
  for (const expires_at of ["2030-01-31", "2030-01-30", "2030-01-31T00:59:59+01:00"]) {
    const failure = assertThrows(
      () => readNewToken({ name: "t", role: "owner", expires_at }, now),
      Failure,
    );
    assertEquals([failure.code, failure.param], ["validation_error", "expires_at"]);
    assertEquals(
      failure.errors?.[0].msg,
      `expected a time later than now, got "${expires_at}", which has passed`,
    );
    assertEquals(readNewKey({ name: "k", expires_at }).expiresAt, Date.parse(expires_at));
  }
  assertEquals(
    readNewToken({ name: "t", role: "owner", expires_at: "2030-01-31T00:00:00.001Z" }, now).expiresAt,
    now + 1,
  );
  assertEquals(
    readNewToken({ name: "t", role: "owner", expires_at: "2030-02-01" }, now).expiresAt,
    now + 86_400_000,
  );
  assertEquals(readKeyChange({ expires_at: "2020-01-01" }), { expiresAt: Date.parse("2020-01-01") });
});

Deno.test("readKeyChange() gives what is named and nothing else", () => {
  assertEquals(readKeyChange({}), {});
  assertEquals(readKeyChange({ models: null }), { models: null });
  assertEquals(readKeyChange({ rate_limit: null }), { requestsPerMinute: null, tokensPerMinute: null });
  assertEquals(readKeyChange({ rate_limit: { tokens_per_minute: 5 } }), { tokensPerMinute: 5 });
  assertEquals(readKeyChange({ rate_limit: { tokens_per_minute: 5, requests_per_minute: null } }), {
    requestsPerMinute: null,
    tokensPerMinute: 5,
  });
  assertThrows(() => readKeyChange({ session_limit: {} }), Failure, "`amount`, `requests_per_minute`");
  assertThrows(
    () => readKeyChange({ rate_limit: {} }),
    Failure,
    "`requests_per_minute`, `tokens_per_minute`",
  );
});

Deno.test("timeOf() takes a time without a zone as UTC", () => {
  assertEquals(timeOf("from", "2026-01-01T00:00:00"), Date.UTC(2026, 0, 1));
  assertEquals(timeOf("from", "2026-01-01"), Date.UTC(2026, 0, 1));
  assertEquals(timeOf("from", undefined), null);
  assertThrows(() => timeOf("from", "2026-02-30"), Failure, 'got "2026-02-30"');
});
