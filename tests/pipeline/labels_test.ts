import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { labelsOf } from "../../src/pipeline/admission/labels.ts";

const UUID = "54c1eb09-bc4c-4d2f-98eb-6d2ab2d5e2fe";

function read(headers: Record<string, string>, body: unknown = {}) {
  return labelsOf((name) => headers[name] ?? null, body);
}

Deno.test("labelsOf() says nothing of a call that says nothing", () => {
  assertEquals(read({}), null);
  assertEquals(read({ "x-svc-tags": " , " }), null);
  for (
    const body of [null, [], "text", { metadata: null, user: 7 }, { metadata: {}, prompt_cache_key: "" }]
  ) {
    assertEquals(read({}, body), null);
  }
});

Deno.test("labelsOf() reads tags and session of the headers before anything in the body", () => {
  const body = { user: "u", metadata: { env: "dev" }, prompt_cache_key: "p" };
  assertEquals(
    read({
      "x-svc-tags": "env=prod, cost-center=a/b = c,  __proto__=x",
      "x-svc-session": "run 1".slice(0, 3),
    }, body),
    {
      tags: Object.fromEntries([["env", "prod"], ["cost-center", "a/b = c"], ["__proto__", "x"]]),
      session: "run",
    },
  );
});

const NINE = Array.from({ length: 9 }, (_, i) => `t${i}=v`).join(",");
const REFUSED: [headers: Record<string, string>, message: RegExp][] = [
  [{ "x-svc-tags": NINE }, /at most 8 tags, got 9/],
  [{ "x-svc-tags": "env" }, /expected name=value, got "env"/],
  [{ "x-svc-tags": "=v" }, /expected a name .* got ""/],
  [{ "x-svc-tags": "a b=v" }, /expected a name .* got "a b"/],
  [{ "x-svc-tags": "a'=v" }, /expected a name .* got "a'"/],
  [{ "x-svc-tags": `${"n".repeat(65)}=v` }, /expected a name of 1 to 64/],
  [{ "x-svc-tags": "env=" }, /expected a value .* for env, got ""/],
  [{ "x-svc-tags": `env=${"v".repeat(65)}` }, /expected a value of 1 to 64/],
  [{ "x-svc-tags": "env=a\u0000b" }, /expected a value .* for env/],
  [{ "x-svc-tags": "env=grün" }, /expected a value .* for env, got "grün"/],
  // As the bytes of UTF-8 arrive.
  [{ "x-svc-tags": "env=gr\u00c3\u00bcn" }, /expected a value .* for env, got "grün"/],
  [{ "x-svc-tags": "\u00f0\u009f\u008e\u0089" }, /expected name=value, got "🎉"/],
  [{ "x-svc-tags": "env=a, env=b" }, /expected env once, got it twice/],
  [{ "x-svc-session": "a b" }, /expected 1 to 128 .* got "a b"/],
  [{ "x-svc-session": "\u00c3\u00bc" }, /expected 1 to 128 .* got "ü"/],
  [{ "x-svc-session": "s".repeat(129) }, /expected 1 to 128/],
];

for (const [headers, message] of REFUSED) {
  const [[name, value]] = Object.entries(headers);
  Deno.test(`labelsOf() refuses ${name}: ${JSON.stringify(value.slice(0, 30))}`, () => {
    const failure = assertThrows(() => read(headers), Failure);
    assertEquals([failure.code, failure.param], ["validation_error", name]);
    assertMatch(failure.message, message);
  });
}

const SESSIONS: [title: string, headers: Record<string, string>, body: unknown, session: string][] = [
  ["prompt_cache_key", {}, { prompt_cache_key: "conv" }, "conv"],
  ["Claude Code's header", { "x-claude-code-session-id": UUID }, {
    metadata: { user_id: "user_a_account__session_b" },
  }, UUID],
  ["Claude Code's older metadata", {}, {
    metadata: { user_id: `user_${"ab".repeat(32)}_account__session_${UUID}` },
  }, UUID],
  ["Claude Code's newer metadata", {}, {
    metadata: { user_id: JSON.stringify({ device_id: "d", account_uuid: "", session_id: UUID }) },
  }, UUID],
  ["Codex's header", { "session-id": UUID }, { prompt_cache_key: "p" }, UUID],
  ["Codex's older header", { session_id: UUID }, { prompt_cache_key: "p" }, UUID],
  ["opencode's header", { "x-opencode-session": "ses_1" }, {}, "ses_1"],
];

for (const [title, headers, body, session] of SESSIONS) {
  Deno.test(`labelsOf() takes the session from ${title}`, () =>
    assertEquals(read(headers, body)?.session, session));
}

Deno.test("labelsOf() shortens a session that was named for another purpose, each to another", () => {
  const a = read({}, { prompt_cache_key: "k".repeat(5000) })?.session;
  const b = read({}, { prompt_cache_key: "k".repeat(5001) })?.session;
  assertMatch(a!, /^sha256:[0-9a-f]{64}$/);
  assertEquals(a === b, false);
  assertMatch(read({}, { prompt_cache_key: "line\nbreak" })!.session!, /^sha256:/);
  // The rest of a long one is not hashed: it may have 30 MB.
  const [c, d] = ["c", "d"].map((end) => read({}, { prompt_cache_key: "é".repeat(1 << 16) + end })!.session);
  assertEquals(c, d);
});

Deno.test("labelsOf() makes tags of what bodies have, as far as it fits", () => {
  assertEquals(
    read({}, { user: "ann", metadata: { env: "prod", "a b": "x", n: 7, long: "l".repeat(200) } })?.tags,
    {
      user: "ann",
      env: "prod",
      long: "l".repeat(64),
    },
  );
  assertEquals(
    read({}, { metadata: { user_id: `user_${"ab".repeat(32)}_account_me_session_${UUID}` } })?.tags,
    {
      user: "me",
    },
  );
  assertEquals(read({}, { metadata: { user_id: "{not json" } })?.tags, { user: "{not json" });
  assertEquals(read({}, { user: "a\u0000\ud800b" })?.tags, { user: "a\ufffd\ufffdb" });
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`m${i}`, "v"]));
  assertEquals(Object.keys(read({}, { metadata: many })!.tags!).length, 8);
});

Deno.test("labelsOf() looks for a session in no user's id that is longer than a client writes one", () => {
  const native = JSON.parse;
  let parsed = 0;
  JSON.parse = (text: string, ...more: []) => {
    parsed++;
    return native(text, ...more);
  };
  try {
    const flood = `{"session_id":"s","x":[${"{},".repeat(100_000)}{}]}`;
    assertEquals(read({}, { metadata: { user_id: flood } })?.session, null);
    assertEquals(parsed, 0);
    // A pattern that would try each of its beginnings.
    const beginnings = `user_0_account_${"_session_".repeat(500_000)}!`;
    assertEquals(read({}, { metadata: { user_id: beginnings } })?.session, null);
  } finally {
    JSON.parse = native;
  }
});
