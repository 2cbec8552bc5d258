/** Labels and budgets as callers and operators meet them: over HTTP, in every format. */
import { assert, assertEquals, assertMatch, assertObjectMatch } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway, type TestOptions } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { atNoon } from "../support/time.ts";

const ADMIN = "the-admin-key";
const HELLO = [{ role: "user", content: "hi" }];
const FORMATS: [path: string, body: Record<string, unknown>][] = [
  ["/v1/chat/completions", { model: "p/model", max_tokens: 10, messages: HELLO }],
  ["/v1/messages", { model: "p/model", max_tokens: 10, messages: HELLO }],
  ["/v1/responses", { model: "p/model", max_output_tokens: 16, input: "hi" }],
];

interface Ground {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  // deno-lint-ignore no-explicit-any
  admin(path: string): Promise<any>;
  // deno-lint-ignore no-explicit-any
  own(path: string): Promise<any>;
}

async function running(
  config: Record<string, unknown>,
  body: (ground: Ground) => Promise<void>,
  options: TestOptions = {},
): Promise<void> {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway(
    {
      p: {
        api: "openai-chat",
        url: `${provider.url}/v1`,
        model: { pricing: { prompt: "0.001", completion: "0.001" } },
      },
    },
    { admin_key: ADMIN, ...config },
    options,
  );
  const get = async (path: string, key: string) => {
    const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
    return await response.json();
  };
  try {
    await body({
      post: (path, body, headers) => gateway.post(path, body, { headers }),
      admin: (path) => get(path, ADMIN),
      own: (path) => get(path, SECRET),
    });
  } finally {
    await gateway.close();
    await provider.close();
  }
}

Deno.test("tags and session of every format stand in the record and in usage", () =>
  running(
    { teams: [{ name: "t" }], keys: [{ name: "test", secret: SECRET, team: "t" }] },
    async ({ post, admin, own }) => {
      for (const [path, body] of FORMATS) {
        const response = await post(path, body, {
          "x-svc-tags": "env=prod, path=/v1/x",
          "x-svc-session": "run-1",
        });
        assertEquals(response.status, 200, await response.text());
        assertObjectMatch(await own(`/v1/generations/${response.headers.get("x-request-id")}`), {
          tags: { env: "prod", path: "/v1/x" },
          session: "run-1",
          team: "t",
        });
      }
      const inBody = await post(FORMATS[2][0], {
        ...FORMATS[2][1],
        user: "ann",
        metadata: { env: "dev" },
        prompt_cache_key: "conversation",
      });
      await inBody.body?.cancel();
      const { data } = await admin("/admin/usage?by=session,tag:env");
      assertEquals(
        data.map((row: Record<string, unknown>) => [row.session, row["tag:env"], row.generations]),
        [
          ["run-1", "prod", 3],
          ["conversation", "dev", 1],
        ],
      );
      const ofSession = async (query: string) =>
        (await admin(`/admin/generations?session=run-1&${query}`)).data.map((g: { format: string }) =>
          g.format
        );
      assertEquals(await ofSession(""), ["responses", "messages", "chat_completions"]);
      assertEquals(await ofSession("limit=1"), ["responses"]);
      assertEquals(await ofSession("key=nobody"), []);
      assertEquals(await ofSession("to=2020-01-01"), []);
      const list = await admin("/admin/usage?by=session&limit=1");
      assertEquals([list.data.length, list.data[0].session], [1, "run-1"]);
      const next = await admin(`/admin/usage?by=session&limit=1&cursor=${list.next_cursor}`);
      assertEquals([next.data[0].session, next.next_cursor], ["conversation", null]);
      assertObjectMatch(await admin("/admin/usage?by=nothing"), { error: { code: "validation_error" } });
      assertObjectMatch((await admin("/admin/teams")).data[0], { name: "t", keys: 1, spend_limit: null });
      assertObjectMatch(await admin("/admin/teams/t"), { spend: { period: "month" } });
      assertObjectMatch(await admin("/admin/teams/nobody"), { error: { code: "not_found" } });
      const { spend, team_spend } = await own("/v1/key");
      assertEquals(spend.amount, team_spend.amount);
      assert(Number(spend.forecast) >= Number(spend.amount));
    },
  ));

Deno.test("tags that cannot be read are refused by name, in every format, and leave no record", () =>
  running({}, async ({ post, admin }) => {
    for (const [path, body] of FORMATS) {
      const response = await post(path, body, { "x-svc-tags": "env='; DROP TABLE keys; --, b" });
      assertEquals(response.status, 422);
      assertMatch(await response.text(), /Cannot read x-svc-tags: expected name=value, got \\"b\\"/);
    }
    // What is no header at all never comes so far; what is one, is text like any other.
    const hostile = `a=%00\\u0000<script>'"$.${"{"}x}`;
    assertEquals((await post(FORMATS[0][0], FORMATS[0][1], { "x-svc-tags": hostile })).status, 200);
    const { data } = await admin("/admin/usage?by=tag:a");
    assertEquals(data[0]["tag:a"], `%00\\u0000<script>'"$.${"{"}x}`);
    assertEquals((await admin("/admin/generations")).data.length, 1);
  }));

Deno.test("a session that has reached its limit is told so in every format, and clients do not repeat it", () =>
  running({
    keys: [{ name: "test", secret: SECRET, session_limit: { amount: "0.20", requests_per_minute: 1000 } }],
  }, async ({ post }) => {
    const headers = { "x-svc-session": "loop" };
    let calls = 0;
    for (;; calls++) {
      const response = await post(FORMATS[0][0], FORMATS[0][1], headers);
      await response.body?.cancel();
      if (response.status === 429) break;
      assertEquals(response.status, 200);
      assert(calls < 1000);
    }
    assert(calls > 0);
    for (const [path, body] of FORMATS) {
      const response = await post(path, body, headers);
      assertEquals([response.status, response.headers.get("x-should-retry")], [429, "false"]);
      const { error } = await response.json();
      assertEquals(error.code, "api_key_limit_exceeded");
      assertMatch(
        error.message,
        /^This session's spend limit of 0\.20 \(0\.\d+ spent\) does not cover .*Start a new session/,
      );
      const other = await post(path, body, { "x-svc-session": `other ${path}`.replace(" ", "-") });
      assertEquals(other.status, 200);
      await other.body?.cancel();
    }
  }));

Deno.test("a session's requests a minute end a loop with a message", () =>
  running({
    keys: [{ name: "test", secret: SECRET, session_limit: { requests_per_minute: 3 } }],
  }, async ({ post }) => {
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      const response = await post("/v1/messages", {
        ...FORMATS[1][1],
        metadata: {
          user_id: `user_${"ab".repeat(32)}_account__session_54c1eb09-bc4c-4d2f-98eb-6d2ab2d5e2fe`,
        },
      });
      statuses.push(response.status);
      const text = await response.text();
      if (response.status === 200) continue;
      assertMatch(text, /This session has reached its limit of 3 requests a minute/);
      assertEquals(response.headers.get("x-should-retry"), "false");
      assert(Number(response.headers.get("retry-after")) > 0);
    }
    assertEquals(statuses, [200, 200, 200, 429, 429]);
  }, { now: atNoon }));

Deno.test("the DLP policies of a key and of its team hold together", () =>
  running({
    dlp_policies: {
      cards: { mode: "alert", entity_types: ["CREDIT_CARD"] },
      mails: { mode: "block", entity_types: ["EMAIL_ADDRESS"] },
    },
    teams: [{ name: "t", dlp_policy: "mails" }],
    keys: [{ name: "test", secret: SECRET, team: "t", dlp_policy: "cards" }],
  }, async ({ post }) => {
    const say = (content: string) =>
      post(FORMATS[0][0], { ...FORMATS[0][1], messages: [{ role: "user", content }] });
    for (const text of ["write to ann@example.com", "card 4111 1111 1111 1111"]) {
      const response = await say(text);
      assertEquals((await response.json()).error?.code, "dlp_violation", text);
    }
    assertEquals((await say("nothing of the kind")).status, 200);
  }));
