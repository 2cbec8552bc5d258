import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { csv, type ListPage, wholeTable } from "../../src/console/table.ts";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "the-admin-key";

async function administered(
  test: (
    call: (method: string, path: string, body?: unknown, headers?: HeadersInit) => Promise<{
      status: number;
      headers: Headers;
      text: string;
      // deno-lint-ignore no-explicit-any
      json: any;
    }>,
    gateway: Awaited<ReturnType<typeof testGateway>>,
  ) => Promise<void>,
): Promise<void> {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({
    p: {
      api: "openai-chat",
      url: `${provider.url}/v1`,
      model: { pricing: { prompt: "0.01", completion: "0.02" } },
    },
  }, { admin_key: ADMIN, accounts: [{ name: "default", credits: "100.00" }] });
  try {
    await test(async (method, path, body, headers = {}) => {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${ADMIN}`, ...headers },
        body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : null,
      };
    }, gateway);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

const CHAT = { model: "p/model", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };

Deno.test("keys are made, shown, changed, rotated and revoked", () =>
  administered(async (call, gateway) => {
    const made = await call("POST", "/admin/keys", {
      name: "ada",
      models: ["p/*"],
      spend_limit: { amount: "5.00", period: "day" },
      rate_limit: { requests_per_minute: 10 },
      expires_at: "2099-01-01T00:00:00Z",
    });
    assertEquals(made.status, 201);
    assertMatch(made.json.secret, /^sk_live_\w{40}$/);
    const { secret, ...view } = made.json;
    assertEquals(made.headers.get("cache-control"), "no-store");
    assertEquals((await call("GET", `/admin/keys/${view.id}`)).json, view);
    assertEquals((await call("GET", "/admin/keys/ada")).json, view);
    const list = (await call("GET", "/admin/keys")).json;
    assertEquals(list.next_cursor, null);
    assertEquals(list.data.map((k: { name: string }) => k.name), ["test", "ada"]);
    assert(!JSON.stringify(list).includes("sk_live_"));

    const asked = await gateway.post("/v1/chat/completions", CHAT, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assertEquals(asked.status, 200);
    assertEquals(asked.headers.get("x-ratelimit-limit-requests"), "10");
    await asked.body?.cancel();

    const patched = await call("PATCH", `/admin/keys/${view.id}`, { models: ["other/*"], spend_limit: null });
    assertEquals([patched.json.models, patched.json.spend_limit], [["other/*"], null]);
    const hidden = await gateway.post("/v1/chat/completions", CHAT, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assertEquals([hidden.status, (await hidden.json()).error.code], [404, "model_not_found"]);

    const rotated = await call("POST", `/admin/keys/${view.id}/rotate`, { overlap_seconds: 0 });
    assert(rotated.json.secret !== secret);
    assertEquals(rotated.headers.get("cache-control"), "no-store");
    assertEquals((await call("POST", `/admin/keys/${view.id}/rotate`)).status, 200, "a body is optional");
    const revoked = await call("DELETE", `/admin/keys/${view.id}`);
    assert(revoked.json.revoked_at !== null);
    assertEquals((await call("DELETE", `/admin/keys/${view.id}`)).status, 200, "twice is once");
    assertEquals((await call("POST", `/admin/keys/${view.id}/rotate`)).status, 422);
  }));

Deno.test("a change of one rate, or of one limit of sessions, leaves the other", () =>
  administered(async (call) => {
    const rate_limit = { requests_per_minute: 10, tokens_per_minute: 2000 };
    const session_limit = { amount: "2.00", requests_per_minute: 5 };
    await call("POST", "/admin/keys", { name: "eve", rate_limit, session_limit });
    const change = async (fields: Record<string, unknown>) => {
      const { status, json } = await call("PATCH", "/admin/keys/eve", fields);
      assertEquals(status, 200, JSON.stringify(json));
      return [json.rate_limit, json.session_limit];
    };
    assertEquals(await change({ rate_limit: { requests_per_minute: 20 } }), [
      { requests_per_minute: 20, tokens_per_minute: 2000 },
      session_limit,
    ]);
    assertEquals(await change({ session_limit: { amount: "3.00" } }), [
      { requests_per_minute: 20, tokens_per_minute: 2000 },
      { amount: "3.00", requests_per_minute: 5 },
    ]);
    assertEquals(
      await change({ rate_limit: { requests_per_minute: null }, session_limit: { amount: null } }),
      [{ requests_per_minute: null, tokens_per_minute: 2000 }, { amount: null, requests_per_minute: 5 }],
    );
    assertEquals(
      await change({ rate_limit: { tokens_per_minute: null }, session_limit: { requests_per_minute: null } }),
      [null, null],
    );
    assertEquals(await change({ session_limit: { requests_per_minute: 7 } }), [
      null,
      { amount: null, requests_per_minute: 7 },
    ]);
    assertEquals(await change({ session_limit: null, rate_limit: null }), [null, null]);
  }));

Deno.test("usage and generations, as JSON and as CSV, page by page", () =>
  administered(async (call, gateway) => {
    for (let i = 0; i < 5; i++) await (await gateway.post("/v1/chat/completions", CHAT)).text();
    const usage = (await call("GET", "/admin/usage?by=model")).json.data;
    assertEquals(usage, [{
      model: "p/model",
      generations: 5,
      failed: 0,
      input_tokens: 15,
      cached_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 5,
      reasoning_tokens: 0,
      searches: 0,
      cost: "0.25",
      cache_saved: "0.00",
    }]);
    assertEquals((await call("GET", "/admin/usage")).json.data[0].key, "test");
    assertMatch((await call("GET", "/admin/usage?by=day")).json.data[0].day, /^\d{4}-\d\d-\d\d$/);
    assertEquals((await call("GET", "/admin/usage?to=2020-01-01")).json.data, []);

    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { json } = await call("GET", `/admin/generations?limit=2${page}`);
      assert(json.data.length <= 2);
      ids.push(...json.data.map((g: { id: string }) => g.id));
      cursor = json.next_cursor;
    } while (cursor !== null);
    assertEquals(new Set(ids).size, 5);
    const one = (await call("GET", `/admin/generations/${ids[0]}`)).json;
    assertEquals(Object.keys(one).sort(), [
      "account",
      "cache_saved",
      "client_gone",
      "cost",
      "created",
      "dlp",
      "error_code",
      "findings",
      "format",
      "id",
      "key",
      "key_id",
      "latency_ms",
      "list_cost",
      "model",
      "price_version",
      "prices",
      "provider",
      "repaired",
      "requested_model",
      "searches",
      "session",
      "status",
      "steps",
      "stream",
      "tags",
      "team",
      "tool_calls",
      "ttft_ms",
      "usage",
      "usage_estimated",
    ]);
    assertMatch(one.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assertEquals((await call("GET", "/admin/generations?key=nobody")).json.data, []);
    assertEquals(
      (await call("GET", "/admin/generations?model=p/model&key=test&account=default")).json.data.length,
      5,
    );

    const sheet = await call("GET", "/admin/generations?limit=2", undefined, { accept: "text/csv" });
    assertEquals(sheet.headers.get("content-type"), "text/csv; charset=utf-8");
    assert(sheet.headers.get("x-next-cursor"));
    const lines = sheet.text.trimEnd().split("\r\n");
    assertEquals(lines.length, 3);
    assertMatch(lines[0], /^id,created,key,/);
    // Without a limit everything, under one head, however many pages it takes.
    const whole = await call("GET", "/admin/generations", undefined, { accept: "text/csv" });
    assertEquals(whole.headers.get("x-next-cursor"), null);
    assertEquals(whole.text.trimEnd().split("\r\n").slice(0, 3), lines);
    assertEquals(whole.text.trimEnd().split("\r\n").length, 6);
    const typeFor = async (accept: string) =>
      (await call("GET", "/admin/usage", undefined, { accept })).headers.get("content-type")?.split(";")[0];
    for (const accept of ["*/*", "application/json", "text/html", "text/csv;q=0.5, application/json"]) {
      assertEquals(await typeFor(accept), "application/json", accept);
    }
    for (const accept of ["text/csv", "text/*", "text/csv, application/json;q=0.9", "TEXT/CSV, */*;q=0.1"]) {
      assertEquals(await typeFor(accept), "text/csv", accept);
    }
  }));

Deno.test("credits are granted, added and spent", () =>
  administered(async (call, gateway) => {
    await (await gateway.post("/v1/chat/completions", CHAT)).text();
    const credits = (await call("GET", "/admin/accounts/default/credits")).json;
    assertEquals([credits.granted, credits.spent, credits.balance], ["100.00", "0.05", "99.95"]);
    const added = await call("POST", "/admin/accounts/default/credits", { amount: "10.5", note: "paid" });
    assertEquals(added.json.balance, "110.45");
    assertEquals((await call("GET", "/admin/accounts/nobody/credits")).status, 404);
    // Scripts make accounts so.
    const made = await call("POST", "/admin/accounts/nobody/credits", { amount: "10.5" });
    assertEquals([made.status, made.json.balance], [200, "10.50"]);
    assertEquals((await call("GET", "/admin/accounts/nobody/credits")).json.balance, "10.50");
  }));

Deno.test("providers are listed with their health", () =>
  administered(async (call) => {
    const { data } = (await call("GET", "/admin/providers")).json;
    assertEquals([data[0].provider, data[0].api], ["p", "openai-chat"]);
  }));

Deno.test("what is wrong in an administration call is said by field", () =>
  administered(async (call) => {
    const cases: [string, string, unknown, number, string][] = [
      ["POST", "/admin/keys", {}, 422, "name"],
      ["POST", "/admin/keys", { name: "test" }, 422, "name"],
      ["POST", "/admin/keys", { name: "a\nb" }, 422, "name"],
      ["POST", "/admin/keys", { name: "x", account: "nobody" }, 422, "account"],
      [
        "POST",
        "/admin/keys",
        { name: "x", spend_limit: { amount: 5, period: "day" } },
        422,
        "spend_limit.amount",
      ],
      [
        "POST",
        "/admin/keys",
        { name: "x", spend_limit: { amount: "-5", period: "day" } },
        422,
        "spend_limit.amount",
      ],
      [
        "POST",
        "/admin/keys",
        { name: "x", spend_limit: { amount: "5", period: "year" } },
        422,
        "spend_limit.period",
      ],
      [
        "POST",
        "/admin/keys",
        { name: "x", rate_limit: { requests_per_minute: 1.5 } },
        422,
        "requests_per_minute",
      ],
      ["POST", "/admin/keys", { name: "x", expires_at: "soon" }, 422, "expires_at"],
      ["POST", "/admin/keys", { name: "x", models: "all" }, 422, "models"],
      ["POST", "/admin/keys", { name: "x", nmae: "y" }, 422, "nmae"],
      ["POST", "/admin/keys", "[]", 422, "JSON object"],
      ["POST", "/admin/keys", "{", 422, "JSON"],
      ["PATCH", "/admin/keys/nobody", { name: "x" }, 404, "key"],
      ["PATCH", "/admin/keys/test", { name: "x" }, 422, "configuration file"],
      ["DELETE", "/admin/keys/test", undefined, 422, "configuration file"],
      ["POST", "/admin/keys/test/rotate", { overlap_seconds: -1 }, 422, "overlap_seconds"],
      ["POST", "/admin/keys/test/rotate", { overlap_seconds: "1" }, 422, "overlap_seconds"],
      ["POST", "/admin/accounts/default/credits", { amount: 5 }, 422, "amount"],
      ["POST", "/admin/accounts/default/credits", { amount: "0" }, 422, "amount"],
      ["POST", "/admin/accounts/default/credits", { amount: "1e9" }, 422, "amount"],
      ["GET", "/admin/usage?by=hour", undefined, 422, "by"],
      ["GET", "/admin/usage?from=yesterday", undefined, 422, "from"],
      ["GET", "/admin/generations?limit=0", undefined, 422, "limit"],
      ["GET", "/admin/generations?limit=1e3", undefined, 422, "limit"],
      ["GET", "/admin/generations?cursor=zzz", undefined, 422, "cursor"],
      ["GET", "/admin/generations?key=%00", undefined, 422, "key"],
      ["GET", "/admin/generations/gen_nothing", undefined, 404, "generation"],
      ["GET", "/admin/keys/%00", undefined, 404, "name"],
      ["GET", "/admin/keys/%", undefined, 404, "name"],
      ["GET", "/admin/keys/a/b/c", undefined, 404, "/admin/keys/a/b/c"],
      ["GET", "/admin/nothing", undefined, 404, "/admin/nothing"],
      ["PUT", "/admin/keys", undefined, 405, "GET, POST"],
      ["POST", "/admin/usage", undefined, 405, "GET"],
      ["DELETE", "/admin/providers", undefined, 405, "GET"],
    ];
    for (const [method, path, body, status, names] of cases) {
      const answer = await call(method, path, body);
      const label = `${method} ${path} ${JSON.stringify(body)} ${answer.text}`;
      assertEquals(answer.status, status, label);
      assert(answer.json.error.message.includes(names), label);
      assertMatch(answer.headers.get("x-request-id") ?? "", /^gen_/, label);
      if (status === 405) assert(answer.headers.get("allow")?.includes("GET"), label);
    }
  }));

Deno.test("quotes and comments of SQL are text like any other, in every place", () =>
  administered(async (call) => {
    const text = `x'; DROP TABLE keys; --" OR 1=1`;
    const made = await call("POST", "/admin/keys", { name: text });
    assertEquals(made.json.name, text);
    const path = encodeURIComponent(text);
    assertEquals((await call("GET", `/admin/keys/${path}`)).json.id, made.json.id);
    for (const query of ["key", "model", "account"]) {
      assertEquals((await call("GET", `/admin/generations?${query}=${path}`)).json.data, []);
    }
    assertEquals((await call("GET", `/admin/generations/${path}`)).status, 404);
    assertEquals((await call("GET", `/admin/accounts/${path}/credits`)).status, 404);
    assertEquals((await call("GET", "/admin/keys")).json.data.length, 2);
  }));

Deno.test("HEAD goes where GET goes, without the body", () =>
  administered(async (call) => {
    for (
      const path of [
        "/admin/keys",
        "/admin/usage",
        "/admin/generations",
        "/admin/providers",
        "/admin/keys/test",
      ]
    ) {
      const head = await call("HEAD", path);
      assertEquals([head.status, head.text], [200, ""], path);
    }
  }));

Deno.test("without an admin key the routes do not exist", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  for (const path of ["/admin/keys", "/admin/usage", "/console"]) {
    const response = await fetch(gateway.url + path, { headers: { authorization: "Bearer null" } });
    assertEquals(response.status, 404, path);
    await response.body?.cancel();
  }
  await gateway.close();
});

Deno.test("wholeTable() reads a page when the caller has taken the one before, and breaks off where one fails", async () => {
  const asked: (string | undefined)[] = [];
  const page = ({ cursor }: { cursor?: string }): Promise<ListPage> => {
    asked.push(cursor);
    if (cursor === "3") return Promise.reject(new Error("away"));
    const n = Number(cursor ?? 0);
    return Promise.resolve({ data: [{ n }, { n }], next_cursor: `${n + 1}` });
  };
  const reader = (await wholeTable(page, ["n"])).body!.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "n\r\n0\r\n0\r\n");
  assert(asked.length <= 3, `${asked}`);
  assertEquals((await reader.read()).value, "1\r\n1\r\n");
  assertEquals((await reader.read()).value, "2\r\n2\r\n");
  await assertRejects(() => reader.read(), Error, "away");
  await assertRejects(() => wholeTable(() => Promise.reject(new Error("at once")), ["n"]), Error, "at once");
});

Deno.test("csv() quotes what needs it and keeps formulas from running", () => {
  assertEquals(csv([], ["a"]), "a\r\n");
  assertEquals(
    csv([{ a: 'say "hi", twice', b: "=HYPERLINK(1)", c: { x: 1 }, d: null, e: -5 }, {
      a: "x\ny",
      b: "-1+2",
      c: [],
      d: 0,
      e: "-0.25",
      cost: "-0.25",
    }], ["a", "b", "c", "d", "e", "cost"]),
    'a,b,c,d,e,cost\r\n"say ""hi"", twice",\'=HYPERLINK(1),"{""x"":1}",,-5,\r\n"x\ny",\'-1+2,[],0,\'-0.25,-0.25\r\n',
  );
});
