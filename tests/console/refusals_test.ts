/** Calls that are refused before a provider is asked: the overview, the live view and the metrics count them, no ledger has them. */
import { assert, assertEquals } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { ADMIN, withConsole } from "./rig.ts";

const BEARER = { authorization: `Bearer ${ADMIN}` };
const NOON = Date.UTC(2026, 9, 1, 12);
const DAY = 86_400_000;

const KEYS = {
  good: {},
  screened: { dlp_policy: "cards" },
  lost: { dlp_policy: "gone" },
  forbidden: { access_policy: "none" },
  spent: { spend_limit: { amount: "0.000000000001", period: "total" } },
  poor: { account: "poor" },
  slow: { rate_limit: { requests_per_minute: 1 } },
};
type KeyName = keyof typeof KEYS;

const CONFIG = {
  models: [{
    id: "demo/model",
    routes: [{ provider: "demo", model: "model" }],
    pricing: { prompt: "0.001", completion: "0.01" },
  }],
  accounts: [{ name: "default" }, { name: "poor", credits: "0" }],
  dlp_policies: { cards: { mode: "block", entity_types: ["CREDIT_CARD"] } },
  access_policies: { none: { deny: ["*"] } },
  keys: Object.entries(KEYS).map(([name, more]) => ({ name, secret: `${SECRET}_${name}`, ...more })),
};

const user = (content: string) => ({ model: "demo/model", messages: [{ role: "user", content }] });
const CARD = "My card is 4111 1111 1111 1111.";

/** Each with the code it is refused by, and the model that it counts for. */
const REFUSED: [key: KeyName, body: unknown, status: number, code: string, model: string | null][] = [
  ["screened", user(CARD), 403, "dlp_violation", "demo/model"],
  ["screened", { ...user(CARD), stream: true }, 403, "dlp_violation", "demo/model"],
  ["good", { ...user(CARD), plugins: { dlp: { mode: "block" } } }, 403, "dlp_violation", "demo/model"],
  ["lost", user("hi"), 503, "dlp_policy_unavailable", "demo/model"],
  ["forbidden", user("hi"), 403, "policy_violation", "demo/model"],
  ["spent", user("hi"), 429, "api_key_limit_exceeded", "demo/model"],
  ["poor", user("hi"), 402, "insufficient_funds", "demo/model"],
  ["slow", user("hi"), 429, "provider_rate_limited", "demo/model"],
  ["good", { ...user("hi"), model: "demo/other" }, 404, "model_not_found", null],
  ["good", { ...user("hi"), messages: [] }, 422, "validation_error", "demo/model"],
  ["good", "{", 422, "validation_error", null],
];

Deno.test("calls that are refused before a provider is asked count as failed, and leave no record", async () => {
  let now = NOON;
  await withConsole(async (ask, { gateway }) => {
    const call = async (key: KeyName, body: unknown) => {
      const response = await gateway.handle(
        new Request("http://gateway/v1/chat/completions", {
          method: "POST",
          headers: {
            authorization: `Bearer ${SECRET}_${key}`,
            "content-type": "application/json",
            "x-svc-tags": "app=test",
          },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      );
      return {
        status: response.status,
        text: await response.text(),
        id: response.headers.get("x-request-id"),
      };
    };
    const watched = await gateway.handle(new Request("http://gateway/admin/live", { headers: BEARER }));
    const told = watched.body!.pipeThrough(new TextDecoderStream()).getReader();
    assertEquals((await call("slow", user("hi"))).status, 200);
    const ids: (string | null)[] = [];
    for (const [key, body, status, code] of REFUSED) {
      const answer = await call(key, body);
      assertEquals([answer.status, JSON.parse(answer.text).error?.code], [status, code], code);
      ids.push(answer.id);
    }
    const overview = async (query: string) =>
      (await ask("GET", `/admin/overview?${query}`, { headers: BEARER })).json;
    const all = REFUSED.length + 1;
    const countsOf = (groups: { value: string; requests: number; errors: number }[]) =>
      Object.fromEntries(groups.map(({ value, requests, errors }) => [value, [requests, errors]]));
    const known = REFUSED.filter(([, , , , model]) => model !== null).length;
    const expected: Record<string, Record<string, number[]>> = {
      model: { "demo/model": [known + 1, known] },
      provider: { demo: [1, 0] },
      tag: { "app=test": [all, all - 1] },
      key: Object.fromEntries(
        Object.keys(KEYS).map((name) => {
          const refused = REFUSED.filter(([key]) => key === name).length;
          return [name, [refused + (name === "slow" ? 1 : 0), refused]];
        }),
      ),
    };
    for (const [by, groups] of Object.entries(expected)) {
      const { total, series, groups: found } = await overview(`range=1h&by=${by}`);
      assertEquals([total.requests, total.errors, series.errors.at(-1)], [all, all - 1, all - 1], by);
      assertEquals(countsOf(found), groups, by);
    }

    let text = "";
    while (!ids.every((id) => text.includes(`"${id}"`))) text += (await told.read()).value;
    await told.cancel();
    const ended = [...text.matchAll(/^event: end\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data));
    for (const [i, [key, , , code, model]] of REFUSED.entries()) {
      const end = ended.find(({ id }) => id === ids[i]);
      assertEquals([end.key, end.model, end.status, end.error_code, end.recorded], [
        key,
        // Of a name that no model has nothing is told: it may be any words of the caller's.
        model ?? "",
        "failed",
        code,
        false,
      ]);
    }
    assert(!text.includes("4111"));

    const records = await ask("GET", "/admin/generations", { headers: BEARER });
    assertEquals(records.json.data.length, 1, "CONTRACT 3: what ended without usage leaves no record");
    const { text: metrics } = await ask("GET", "/metrics", { headers: BEARER });
    for (const code of new Set(REFUSED.map(([, , , code]) => code))) {
      const count = REFUSED.filter((one) => one[3] === code).length;
      assert(metrics.includes(`\nsluice_refusals_total{code="${code}"} ${count}\n`), code);
    }

    // Longer ranges are of the sums that bills are made of, which know nothing of refused calls.
    now += 8 * DAY;
    for (const range of ["30d", "90d", "1y"]) {
      const { total, source, series, groups } = await overview(`range=${range}&by=model`);
      assertEquals([source, total.requests, total.errors], ["sums by day", all, all - 1], range);
      assertEquals(series.errors.filter(Boolean), [all - 1], range);
      assertEquals(countsOf(groups), expected.model, range);
    }
  }, { config: CONFIG, now: () => now });
});

Deno.test("a call that no provider takes is counted once", async () => {
  await withConsole(async (ask, gateway) => {
    const answer = await gateway.post("/v1/chat/completions", user("hi"));
    assertEquals(answer.status, 502);
    await answer.body?.cancel();
    const { json } = await ask("GET", "/admin/overview?range=1h&by=model", { headers: BEARER });
    assertEquals([json.total.requests, json.total.errors], [1, 1]);
    assert(!(await ask("GET", "/metrics", { headers: BEARER })).text.includes("sluice_refusals_total{"));
  }, {
    config: {
      ...CONFIG,
      providers: {
        demo: { api: "openai-chat", base_url: "http://127.0.0.1:9/v1", api_key: "k", retries: 0 },
      },
      keys: [{ name: "dev", secret: SECRET }],
    },
  });
});
