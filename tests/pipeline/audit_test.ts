/** What the audit log and the metrics hold after calls, and after changes by an administrator. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "the-admin-key";
const MAIL = "jane.doe@corp.example";
const CARD = "4539 5787 6362 1486";

// deno-lint-ignore no-explicit-any
type Loose = any;

async function audited(
  policy: Record<string, unknown>,
  use: (
    ask: (text: string, plugins?: unknown) => Promise<Response>,
    admin: (path: string, method?: string, body?: unknown) => Promise<Loose>,
  ) => Promise<void>,
  says = "fine",
): Promise<void> {
  const provider = loopbackProvider(() =>
    Response.json({
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: says }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
    admin_key: ADMIN,
    dlp_policies: { safe: policy },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "safe" }],
  });
  try {
    await use(
      (text, dlp) =>
        gateway.post("/v1/chat/completions", {
          model: "p/model",
          messages: [{ role: "user", content: text }],
          ...(dlp !== undefined && { plugins: { dlp } }),
        }),
      async (path, method = "GET", body) => {
        const response = await fetch(gateway.url + path, {
          method,
          headers: { authorization: `Bearer ${ADMIN}` },
          body: body === undefined ? undefined : JSON.stringify(body),
        });
        const text = await response.text();
        return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
      },
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
}

for (
  const [mode, action, status] of [["block", "refused", 403], ["mask", "masked", 200], [
    "alert",
    "alerted",
    200,
  ]] as const
) {
  Deno.test(`a request that is ${action} is in the audit log and the metrics, without its text`, () =>
    audited(
      { mode, regexes: [{ name: "order", pattern: "AB-\\d{4}" }], stop_words: [{ value: "falcon" }] },
      async (ask, admin) => {
        const response = await ask(`${MAIL} and ${CARD} for AB-1234 falcon`, {
          report_scope: "latest_user_message",
        });
        assertEquals(response.status, status);
        await response.body?.cancel();
        await (await ask("nothing here")).body?.cancel();
        const { data, next_cursor } = await admin("/admin/audit?kind=dlp");
        assertEquals([data.length, next_cursor], [1, null]);
        const { id, created, key_id, generation, ...entry } = data[0];
        assert(
          id.startsWith("aud_") && key_id.length > 0 && generation === response.headers.get("x-request-id"),
        );
        assert(!Number.isNaN(Date.parse(created)));
        assertEquals(entry, {
          kind: "dlp",
          key: "test",
          account: "default",
          policy: "safe",
          of: "request",
          mode,
          action,
          findings: 4,
          types: { EMAIL_ADDRESS: 1, CREDIT_CARD: 1, STOP_WORD: 1, REGEX: 1 },
          rules: { order: 1 },
          places: { content: 4 },
        });
        const metrics = await admin("/metrics");
        assert(
          metrics.includes(`sluice_dlp_findings_total{type="CREDIT_CARD",mode="${mode}",of="request"} 1`),
          metrics,
        );
        assert(metrics.includes(`sluice_dlp_screened_total{of="request",action="${action}"} 1`));
      },
    ));

  Deno.test(`an answer that is ${action} is in the audit log and the metrics, without its text`, () =>
    audited({ mode: "alert", answers: mode }, async (ask, admin) => {
      await (await ask("who")).body?.cancel();
      const { data } = await admin("/admin/audit?key=test");
      assertEquals(data.length, 1);
      const { of, action: done, types, places } = data[0];
      assertEquals({ of, done, types, places }, {
        of: "answer",
        done: action,
        types: { EMAIL_ADDRESS: 1 },
        places: { "answer.text": 1 },
      });
      assert(!JSON.stringify(data).includes("jane"));
      assert((await admin("/metrics")).includes(`mode="${mode}",of="answer"} 1`));
    }, `It is ${MAIL}.`));
}

Deno.test("what an administrator changes is in the audit log, without secrets", () =>
  audited({ mode: "alert" }, async (_, admin) => {
    const made = await admin("/admin/keys", "POST", {
      name: "ada",
      spend_limit: { amount: "5.00", period: "day" },
    });
    await admin("/admin/keys/ada", "PATCH", { models: ["p/*"] });
    const rotated = await admin("/admin/keys/ada/rotate", "POST", { overlap_seconds: 60 });
    await admin("/admin/keys/ada", "DELETE");
    await admin("/admin/accounts/default/credits", "POST", { amount: "7.00", note: "gift" });
    await admin("/admin/keys", "POST", { name: "test", nonsense: 1 });
    const { data } = await admin("/admin/audit?kind=admin");
    assertEquals(data.map(({ action, key, by }: Loose) => [action, key, by]), [
      // The one that was refused.
      ["called", null, "admin_key"],
      ["credits.added", null, "admin_key"],
      ["key.revoked", "ada", "admin_key"],
      ["key.rotated", "ada", "admin_key"],
      ["key.changed", "ada", "admin_key"],
      ["key.created", "ada", "admin_key"],
    ]);
    assertEquals(data[1].fields, { amount: "7.00", note: "gift" });
    assertEquals(data[4].fields, { models: ["p/*"] });
    const all = JSON.stringify(data);
    for (const secret of [made.secret, rotated.secret, SECRET, ADMIN]) assert(!all.includes(secret));
    const first = await admin("/admin/audit?limit=2");
    const second = await admin(`/admin/audit?limit=2&cursor=${first.next_cursor}`);
    assertEquals(
      [...first.data, ...second.data].map(({ id }: Loose) => id),
      data.slice(0, 4).map(({ id }: Loose) => id),
    );
    assertEquals((await admin("/admin/audit?kind=other")).error.code, "validation_error");
  }));

Deno.test("a policy is tried on a text or a request, which leaves no trace and changes nothing", () =>
  audited({ mode: "block", entity_types: ["CREDIT_CARD"] }, async (_, admin) => {
    const scan = (body: unknown) => admin("/admin/dlp/scan", "POST", body);
    const text = `to ${MAIL} with ${CARD}`;
    const tried = await scan({ policy: "safe", text });
    assertEquals([tried.mode, tried.action, tried.findings_count], ["block", "block", 1]);
    assertEquals(tried.findings[0].location, "text");
    assertEquals(text.slice(tried.findings[0].start, tried.findings[0].end), CARD);
    assert(!JSON.stringify(tried).includes("4539"));
    assertEquals((await scan({ text })).findings_count, 2);
    const both = await scan({
      policy: "safe",
      dlp: { mode: "alert", entity_types: ["EMAIL_ADDRESS"] },
      text,
    });
    assertEquals(both.findings_count, 2);
    const request = { messages: [{ role: "user", content: "hi" }, { role: "user", content: text }] };
    const { findings } = await scan({ policy: "safe", request, format: "messages" });
    assertEquals(findings.map(({ message_index, location }: Loose) => [message_index, location]), [[
      1,
      "content",
    ]]);
    for (const wrong of [{}, { policy: "none", text }, { text, request }, { text, format: "other" }]) {
      assertEquals((await scan(wrong)).error.code, "validation_error");
    }
    assertEquals((await admin("/admin/audit")).data, []);
  }));

Deno.test("the audit log is the administrator's alone", () =>
  audited({ mode: "alert" }, async () => {
    const provider = loopbackProvider(leastAnswer);
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { admin_key: ADMIN });
    const response = await fetch(`${gateway.url}/admin/audit`, {
      headers: { authorization: `Bearer ${SECRET}` },
    });
    assertEquals(response.status, 401);
    await response.body?.cancel();
    await gateway.close();
    await provider.close();
  }));
