/** What the overview's endpoints answer: sums over a range, and what needs a look. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { overview, type OverviewSources } from "../../src/console/overview.ts";
import { SECRET } from "../support/gateway.ts";
import { ADMIN, withConsole } from "./rig.ts";

const BEARER = { authorization: `Bearer ${ADMIN}` };
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 9, 1, 12);
const KEY = { name: "dev", secret: SECRET };
const PRICED = {
  models: [{
    id: "demo/model",
    routes: [{ provider: "demo", model: "model" }],
    pricing: { prompt: "0.001", completion: "0.01" },
  }],
};

Deno.test("GET /admin/overview: a call of now is in short ranges, one of last month in long ones, and costs what it did", async () => {
  let now = NOON;
  await withConsole(async (ask, gateway) => {
    const call = () =>
      gateway.post("/v1/chat/completions", {
        model: "demo/model",
        messages: [{ role: "user", content: "hi" }],
      }, { headers: { "x-svc-tags": "feature=search" } }).then((response) => response.text());
    await call();
    const overview = async (query: string) =>
      (await ask("GET", `/admin/overview?${query}`, { headers: BEARER })).json;
    const short = await overview("range=1h&by=tag");
    assertEquals([short.total.requests, short.total.errors, short.times.length, short.store], [
      1,
      0,
      60,
      true,
    ]);
    assertEquals(short.series.requests.at(-1), 1);
    assertEquals(short.groups.map((g: { value: string }) => g.value), ["feature=search"]);
    const { data: [spent] } = (await ask("GET", "/admin/usage?by=model", { headers: BEARER })).json;
    assert(Number(spent.cost) > 0);
    assertEquals([short.total.cost, short.groups[0].cost], [spent.cost, spent.cost]);
    assert(short.total.latency_ms.p50 !== null || short.total.ttft_ms.p50 !== null);

    now += 40 * DAY;
    await call();
    assertEquals((await overview("range=24h")).total.requests, 1);
    for (const by of ["model", "provider", "key"]) {
      const long = await overview(`range=90d&by=${by}`);
      assertEquals([long.total.requests, long.source, long.times.length], [2, "sums by day", 90], by);
      assertEquals(Number(long.total.cost), 2 * Number(spent.cost));
      assertEquals(long.series.requests.filter((n: number) => n > 0), [1, 1]);
      assertEquals(long.groups.map((g: { requests: number }) => g.requests), [2], by);
    }
    assertEquals((await overview("range=1y")).total.requests, 2);
    // One value alone has totals, times and a course of its own.
    for (
      const [by, of] of [["model", "demo/model"], ["provider", "demo"], ["key", "dev"], [
        "tag",
        "feature=search",
      ]]
    ) {
      const all = await overview(`range=24h&by=${by}`);
      const one = await overview(`range=24h&by=${by}&of=${encodeURIComponent(of)}`);
      assertEquals([one.total, one.series], [all.total, all.series], by);
      const other = await overview(`range=24h&by=${by}&of=other`);
      assertEquals([other.total.requests, other.series.requests.some(Boolean)], [0, false], by);
      assertEquals(other.groups.length, 1, "beside all others");
    }
    const lone = await overview("range=90d&by=model&of=demo%2Fmodel");
    assertEquals([lone.total.requests, lone.series.requests.filter((n: number) => n > 0)], [2, [1, 1]]);
    for (const [query, param] of [["range=2h", "range"], ["by=colour", "by"]]) {
      const refused = await ask("GET", `/admin/overview?${query}`, { headers: BEARER });
      assertEquals([refused.status, refused.json.error.extra.errors[0].loc[0]], [422, param]);
    }
  }, { config: { ...PRICED, keys: [KEY] }, now: () => now });
});

Deno.test("GET /admin/overview: groups of a long range hold each call once, whatever the spans of the nodes had room for", async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `demo/model-${i}`);
  const models = ids.map((id) => ({ ...PRICED.models[0], id }));
  await withConsole(async (ask, gateway) => {
    const made = await ask("POST", "/admin/keys", { headers: BEARER, body: { name: "zeta" } });
    const call = async (model: string) => {
      const messages = [{ role: "user", content: "hi" }];
      const headers = { authorization: `Bearer ${made.json.secret}` };
      const response = await gateway.post("/v1/chat/completions", { model, messages }, { headers });
      assertEquals(response.status, 200, await response.text());
    };
    for (const id of ids) await call(id);
    await ask("PATCH", "/admin/keys/zeta", { headers: BEARER, body: { name: "alpha" } });
    await call(ids[0]);
    const groupsOf = async (by: string) => {
      const { json } = await ask("GET", `/admin/overview?range=90d&by=${by}`, { headers: BEARER });
      assertEquals([json.source, json.total.requests], ["sums by day", 61]);
      return [
        json.groups.slice(0, 2).map((g: { value: string; requests: number }) => [g.value, g.requests]),
        json.groups.length + json.more_groups,
      ];
    };
    const [[first, [, second]], all] = await groupsOf("model");
    assertEquals([first, second, all], [["demo/model-0", 2], 1, 60]);
    // A key has the name that it has at last.
    assertEquals(await groupsOf("key"), [[["alpha", 61]], 1]);
    const usage = await ask("GET", "/admin/usage?by=key", { headers: BEARER });
    assertEquals(usage.json.data.map(({ key }: { key: string }) => key), ["alpha"]);
  }, { config: { models } });
});

Deno.test("overview(): sums of thousands of keys are asked for once, since each page would sum up all of them anew", async () => {
  const asked: string[] = [];
  const rows = Array.from({ length: 2500 }, (_, i) => ({
    key: `key-${i}`,
    day: "2026-09-30",
    generations: i,
    failed: 0,
    input_tokens: 1,
    cached_tokens: 0,
    output_tokens: 1,
    searches: 0,
    cost: "0.01",
    cache_saved: "0.00",
  }));
  const found = await overview({ range: "90d", by: "key" }, {
    now: NOON,
    timeline: { read: () => Promise.resolve({ rollups: [], store: true, whole: true }) },
    administration: {
      usage({ by, most = 1000 }: { by: string; most?: number }) {
        asked.push(by);
        const all = by === "day" ? rows.slice(-1) : rows;
        return Promise.resolve({ data: all.slice(0, most), next_cursor: all.length > most ? "more" : null });
      },
    },
  } as unknown as OverviewSources);
  assertEquals(asked.toSorted(), ["day", "key"]);
  assertEquals([found.source, found.groups.length, found.more_groups], ["sums by day", 12, 2488]);
  assertEquals(found.groups[0].value, "key-2499");
});

Deno.test("GET /admin/attention: budgets at 80 %, keys that expire, open breakers and warnings of the configuration", async () => {
  const soon = new Date(NOON + 3 * DAY).toISOString();
  await withConsole(async (ask, gateway) => {
    const matters = async () => {
      const { data } = (await ask("GET", "/admin/attention", { headers: BEARER })).json;
      return data as { level: string; kind: string; name: string; text: string; share?: number }[];
    };
    assertEquals((await matters()).map(({ kind, name }) => [kind, name]), [["key", "dev"]]);
    const call = (model: string, secret: string) =>
      gateway.post("/v1/chat/completions", {
        model,
        max_tokens: 20,
        messages: [{ role: "user", content: "hi" }],
      }, {
        headers: { authorization: `Bearer ${secret}` },
      }).then((response) => response.text());
    const made = await ask("POST", "/admin/keys", { headers: BEARER, body: { name: "ada" } });
    await call("demo/model", made.json.secret);
    const { data: [spent] } = (await ask("GET", "/admin/usage?by=key", { headers: BEARER })).json;
    const limit = { amount: (Number(spent.cost) / 0.9).toFixed(6), period: "month" };
    await ask("PATCH", "/admin/keys/ada", { headers: BEARER, body: { spend_limit: limit } });
    await call("gone/model", SECRET);
    const found = await matters();
    const budget = found.find(({ kind }) => kind === "budget")!;
    assert(Math.abs(budget.share! - .9) < .01 && budget.name === "ada", JSON.stringify(found));
    const breaker = found.find(({ kind }) => kind === "breaker")!;
    assertEquals([breaker.level, breaker.name], ["bad", "gone"]);
    assertStringIncludes(breaker.text, "out of service");
    const levels = found.map(({ level }) => level);
    assertEquals(levels, levels.toSorted());
    assert(!JSON.stringify(found).includes(SECRET));
  }, {
    config: {
      providers: {
        demo: { api: "demo" },
        gone: {
          api: "openai-chat",
          base_url: "http://127.0.0.1:9/v1",
          api_key: "k",
          retries: 0,
          breaker: { failures: 1, window_seconds: 60, open_seconds: 60 },
        },
      },
      models: [
        ...PRICED.models,
        {
          id: "gone/model",
          routes: [{ provider: "gone", model: "m" }],
          pricing: { prompt: "0", completion: "0" },
        },
      ],
      keys: [{ ...KEY, expires_at: soon }],
    },
    now: () => NOON,
  });
});

Deno.test("lists as lines of JSON: all of a search, however many pages it has", async () => {
  await withConsole(async (ask, gateway) => {
    for (let i = 0; i < 3; i++) {
      await (await gateway.post("/v1/chat/completions", {
        model: "demo/model",
        messages: [{ role: "user", content: "hi" }],
      }, { headers: { "x-svc-tags": `n=${i}` } })).text();
    }
    const headers = { ...BEARER, accept: "application/x-ndjson" };
    const all = await ask("GET", "/admin/generations", { headers });
    assertEquals(all.headers.get("content-type"), "application/x-ndjson");
    const rows = all.text.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(rows.map(({ tags }) => tags.n), ["2", "1", "0"]);
    const one = await ask("GET", "/admin/generations?tag=n%3D1&status=completed", { headers });
    assertEquals(one.text.trimEnd().split("\n").map((line) => JSON.parse(line).tags.n), ["1"]);
    const csv = await ask("GET", "/admin/generations?tag=n%3D1", {
      headers: { ...BEARER, accept: "text/csv" },
    });
    assertEquals(csv.text.split("\r\n").length, 3);
    assert(csv.text.startsWith("id,created,"));
    for (
      const [query, fits] of [
        ["requested_model=demo%2Fmodel", 3],
        ["requested_model=svc%2Fauto", 0],
        ["stream=false", 3],
        ["stream=true", 0],
        ["max_cost=9&min_input_tokens=1&max_output_tokens=9999", 3],
        ["max_input_tokens=0", 0],
        ["min_ttft=0&max_latency=600000", 3],
        ["client_gone=true", 0],
        ["called_tools=false", 3],
      ] as const
    ) {
      const found = await ask("GET", `/admin/generations?${query}`, { headers: BEARER });
      assertEquals([query, found.json.data.length], [query, fits]);
    }
    for (
      const [path, param] of [
        ["generations?max_latency=soon", "max_latency"],
        ["generations?stream=1", "stream"],
        ["generations?status=complete", "status"],
        ["generations?format=chat", "format"],
        ["generations?dlp_mode=off", "dlp_mode"],
        ["generations?min_cost=x", "min_cost"],
        ["generations?min_latency=-1", "min_latency"],
        ["generations?findings=maybe", "findings"],
        ["live?status=complete", "status"],
        ["live?format=chat", "format"],
      ]
    ) {
      const refused = await ask("GET", `/admin/${path}`, { headers: BEARER });
      assertEquals([refused.status, refused.json.error.extra.errors[0].loc[0]], [422, param]);
    }
  }, { config: { keys: [KEY] } });
});
