/** Bodies of the administration: a field that nobody reads is refused, since what it was written for would not happen. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { hosted } from "../support/deploy_shape.ts";
import { SECRET } from "../support/gateway.ts";
import { ADMIN, withConsole } from "./rig.ts";

const BEARER = { authorization: `Bearer ${ADMIN}` };

const SLIPS: [path: string, body: Record<string, unknown>, slip: string, meant: string][] = [
  ["/admin/keys", { name: "x", expire_at: null }, "expire_at", "expires_at"],
  ["/admin/keys/made/rotate", { overlap_second: 60 }, "overlap_second", "overlap_seconds"],
  ["/admin/tokens", { name: "x", role: "auditor", expires: null }, "expires", "expires_at"],
  ["/admin/teams", { name: "x", spend_limt: null }, "spend_limt", "spend_limit"],
  ["/admin/accounts", { name: "x", credit: "1" }, "credit", "credits"],
  ["/admin/accounts/default/credits", { amount: "1", nte: "x" }, "nte", "note"],
  ["/admin/providers/demo/close", { modle: "model" }, "modle", "model"],
  ["/admin/providers/demo/try", { modle: "model" }, "modle", "model"],
  ["/admin/dlp/scan", { text: "x", polcy: "cards" }, "polcy", "policy"],
  ["/console/session", { admin_kye: ADMIN }, "admin_kye", "admin_key"],
];

Deno.test("an unknown field in a body of the administration is refused with the name that was meant, and nothing is done", () =>
  withConsole(async (ask, gateway) => {
    const { json: made } = await ask("POST", "/admin/keys", { headers: BEARER, body: { name: "made" } });
    for (const [path, body, slip, meant] of SLIPS) {
      const refused = await ask("POST", path, { headers: BEARER, body });
      assertEquals(refused.status, 422, `${path}: ${refused.text}`);
      const { message, extra } = refused.json.error;
      assertStringIncludes(message, `Cannot read ${slip}: unknown field; nearest is ${meant}; known are `);
      assertEquals(extra.errors[0].loc, [slip]);
    }
    const models = await gateway.gateway.handle(
      new Request("http://gateway/v1/models", { headers: { authorization: `Bearer ${made.secret}` } }),
    );
    await models.body?.cancel();
    assertEquals(models.status, 200, "the secret was not rotated");
  }));

Deno.test("values of another kind in bodies of the administration are refused by name", () =>
  withConsole(async (ask) => {
    const text = { text: "x" };
    const request = { messages: [{ role: "user", content: "x" }] };
    const cases: [path: string, body: unknown, expected: string][] = [
      [
        "/admin/accounts/default/credits",
        { amount: "1", note: 5 },
        "Cannot read note: expected a text, got 5.",
      ],
      [
        "/console/session",
        {},
        "Cannot read admin_key: expected the admin key or a token, as text, got nothing.",
      ],
      ...["toString", "__proto__", "messages ", ["messages"], null].map((
        format,
      ): [string, unknown, string] => [
        "/admin/dlp/scan",
        { request, format },
        "Cannot read format: expected one of chat_completions, messages, responses, got ",
      ]),
      ["/admin/dlp/scan", { ...text, format: "constructor" }, "Cannot read format: "],
      ...[{ ...text, request: "x" }, { request, text: 5 }, { ...text, request }, {}].map((
        body,
      ): [string, unknown, string] => [
        "/admin/dlp/scan",
        body,
        "Cannot read text: expected a text, or a request in its place, got ",
      ]),
    ];
    for (const [path, body, expected] of cases) {
      const refused = await ask("POST", path, { headers: BEARER, body });
      assertEquals(refused.status, 422, `${JSON.stringify(body)}: ${refused.text}`);
      assertStringIncludes(refused.json.error.message, expected);
    }
    const added = await ask("POST", "/admin/accounts/default/credits", {
      headers: BEARER,
      body: { amount: "1", note: null },
    });
    assertEquals(added.status, 200);
  }));

Deno.test({
  name: "the audit log counts a caller's pattern of any name",
  // Such patterns need a thread.
  ignore: hosted,
  fn: () =>
    withConsole(async (ask, gateway) => {
      const names = ["toString", "constructor", "__proto__", "plain"];
      const answer = await gateway.post("/v1/chat/completions", {
        model: "demo/model",
        messages: [{ role: "user", content: "abc abc" }],
        plugins: {
          dlp: { mode: "block", entity_types: [], regexes: names.map((name) => ({ name, pattern: "abc" })) },
        },
      });
      assertEquals(answer.status, 403);
      await answer.body?.cancel();
      const { json } = await ask("GET", "/admin/audit?kind=dlp", { headers: BEARER });
      const [{ rules }] = json.data;
      assert(Object.keys(rules).length > 0);
      for (const [name, count] of Object.entries(rules)) {
        assert(names.includes(name) && Number.isInteger(count), `${name}: ${count}`);
      }
    }, { config: { keys: [{ name: "k", secret: SECRET }] } }),
});

Deno.test("names of unknown fields and parameters are shown so that a log and a terminal can print them, and cut", () =>
  withConsole(async (ask) => {
    await ask("POST", "/admin/keys", { headers: BEARER, body: { name: "made" } });
    await ask("POST", "/admin/teams", { headers: BEARER, body: { name: "made" } });
    const names = [
      "k".repeat(300_000),
      "a\0b\n\x1b[31m",
      "a\u202eb\u2028",
      "\ud800",
      "__proto__",
      "<script>",
    ];
    for (const name of names) {
      const body = JSON.parse(`{${JSON.stringify(name)}: 1}`);
      const asked: [method: string, path: string, body?: unknown][] = [
        ["POST", "/admin/keys", body],
        ["PATCH", "/admin/keys/made", body],
        ["PATCH", "/admin/teams/made", body],
        ["POST", "/admin/keys/made/rotate", body],
        ["POST", "/admin/accounts/default/credits", body],
        ["PATCH", "/admin/keys/made", { spend_limit: body }],
        ["GET", `/admin/keys?${encodeURIComponent(name.slice(0, 9000).toWellFormed())}=1`],
      ];
      for (const [method, path, body] of asked) {
        const refused = await ask(method, path, { headers: BEARER, body });
        const label = `${method} ${path.slice(0, 50)} ${name.slice(0, 20)}`;
        assertEquals(refused.status, 422, label);
        const { message, extra } = refused.json.error;
        assert(message.length < 1000 && refused.text.length < 5000, `${label}: ${refused.text.length}`);
        // deno-lint-ignore no-control-regex
        assert(!/[\0-\x1f\u2028\u202e]/.test(message), label);
        assert(message.isWellFormed() && JSON.stringify(extra.errors).isWellFormed(), label);
      }
    }
  }));

Deno.test("values of a query that are refused are shown cut", () =>
  withConsole(async (ask) => {
    const long = "x".repeat(9000);
    for (
      const path of [
        `/admin/accounts/default/statement?month=${long}`,
        `/admin/accounts/default/statement?month=2026-01&by=${long}`,
        `/admin/usage?by=${long}`,
        `/admin/usage?from=${long}`,
        `/admin/keys?limit=${long}`,
        `/admin/keys?cursor=${long}`,
        `/admin/generations?status=${long}`,
      ]
    ) {
      const refused = await ask("GET", path, { headers: BEARER });
      assertEquals(refused.status, 422, path.slice(0, 60));
      assert(refused.text.length < 2000, `${path.slice(0, 60)}: ${refused.text.length}`);
    }
  }));
