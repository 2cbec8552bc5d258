/**
 * A thousand calls of every kind at once, of two keys of a team, against limits that few of them fit into, of a provider that
 * bills all it may.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { highestUsageAnswer, MOST_OUTPUT, PRICES } from "../support/highest_usage_provider.ts";
import { docx, pdf } from "../support/documents.ts";
import { FEATURES, SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { SocketClient } from "../support/socket_client.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { eventually, pause } from "../support/time.ts";

const LIMIT = 3;
const TEAM_LIMIT = 4;
/** Less than the limit of the team: the account is used up before. */
const CREDITS = 3.5;
const SESSION_LIMIT = 0.2;
const HEDGER = "sk_live_testkeytestkeytestkeytestkey02";
const CALLS = 1000;
const LONG = "word ".repeat(400);
const png = Buffer.alloc(400, 7);
Buffer.from("89504e470d0a1a0a0000000d494844520000040000000300", "hex").copy(png);
const IMAGE = `data:image/png;base64,${png.toString("base64")}`;
const SCHEMA = { type: "object", properties: { answer: { type: "string", description: LONG } } };

interface Kind {
  path: string;
  body: Record<string, unknown>;
  headers?: Record<string, string>;
}

const kind = (more: Record<string, unknown>, content: unknown = "hi", headers?: Kind["headers"]): Kind => ({
  path: "/v1/chat/completions",
  body: { model: "p/model", max_tokens: 200, messages: [{ role: "user", content }], ...more },
  headers,
});
const file = (filename: string, type: string, bytes: Uint8Array) => [{
  type: "file",
  file: { filename, file_data: `data:${type};base64,${Buffer.from(bytes).toString("base64")}` },
}];
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const WORDS = Array.from({ length: 30 }, () => "word ".repeat(20));
const tool = (name: string) => ({
  type: "function",
  function: { name, description: LONG, parameters: SCHEMA },
});
const KINDS = [
  kind({}),
  kind({ stream: true }),
  kind({ stream: true, web_search_options: {} }),
  kind({ web_search_options: {}, max_tokens: 1000 }, LONG),
  kind({ n: 3 }),
  kind({ n: 3, model: "q/model" }, LONG),
  kind({}, [{ type: "image_url", image_url: { url: IMAGE } }]),
  kind({}, "中文字".repeat(300)),
  kind({ response_format: { type: "json_schema", json_schema: { name: "s", schema: SCHEMA } } }),
  kind({ max_tokens: undefined }),
  kind({ n: 3, stream: true, max_tokens: undefined }),
  kind({ tools: [tool("t")] }),
  kind({ tools: Array.from({ length: 8 }, (_, i) => tool(`t${i}`)) }),
  kind({}, [{
    type: "input_audio",
    input_audio: { data: Buffer.alloc(240, 1).toString("base64"), format: "wav" },
  }]),
  kind({ model: "q/model" }, [{ type: "text", text: LONG, cache_control: { type: "ephemeral", ttl: "1h" } }]),
  kind({ reasoning_effort: "high" }, "a b c d ".repeat(200)),
  // The first route fails.
  kind({ model: "f/model", stream: true }),
  kind({}, file("a.pdf", "application/pdf", pdf(WORDS))),
  kind({}, file("a.docx", DOCX, docx([WORDS]))),
  kind({ model: "q/model" }, file("a.txt", "text/plain", new TextEncoder().encode(LONG))),
  // Of a provider that does not say what it has used.
  kind({ model: "s/model" }),
  kind({ model: "s/model", stream: true, stream_options: { include_usage: true } }, LONG),
  // Dearer tiers, those that the provider chooses by itself too, and dearer long prompts.
  kind({ model: "t/model", service_tier: "priority" }),
  kind({ model: "t/model", service_tier: "auto", stream: true }),
  kind({ model: "t/model" }, LONG),
  // Both attempts are billed where the second begins before the first has ended.
  kind({ model: "h/model" }, "hi", { authorization: `Bearer ${HEDGER}` }),
  kind({ stream: true }, LONG, { "x-svc-resume": "true" }),
  // Some of them join.
  kind({}, LONG, { "x-svc-resume": "true", "idempotency-key": "once" }),
  kind({}, "hi", { "x-svc-session": "a", "x-svc-tags": "customer=a" }),
  kind({ stream: true }, LONG, { "x-svc-session": "b", "x-svc-tags": "customer=b" }),
  {
    path: "/v1/messages",
    body: { model: "p/model", max_tokens: 300, messages: [{ role: "user", content: LONG }] },
  },
  { path: "/v1/responses", body: { model: "p/model", max_output_tokens: 300, input: LONG } },
  { path: "/v1/responses/compact", body: { model: "p/model", input: LONG } },
] as const satisfies readonly Kind[];
/** Of so many callers one leaves before the answer, and of so many streams one breaks off. */
const LEAVES = 11;
const BREAKS = 13;

const engine = () =>
  loopbackProvider(() =>
    Response.json({ results: [{ url: "https://a.test/", title: "A", content: "word ".repeat(500) }] })
  );
const provider = () =>
  loopbackProvider(async (seen, nth) => {
    await pause(nth % 5);
    if (seen.body.model === "slow") await pause(nth % 3 * 20);
    if (seen.body.model === "bad") return Response.json({ error: { message: "no" } }, { status: 503 });
    if (seen.body.model === "silent") return silentAnswer(seen.body);
    const answer = highestUsageAnswer(seen, { searches: true });
    if (nth % BREAKS > 0 || seen.body.stream !== true) return answer;
    const text = await answer.text();
    // Sometimes behind the counts, sometimes before.
    return new Response(text.slice(0, text.length * (nth % 3 + 1) / 3.5), { headers: answer.headers });
  });

/** More characters than tokens of the usual length that were asked for. */
function silentAnswer({ stream, max_tokens, max_completion_tokens = max_tokens }: Seen["body"]): Response {
  const content = "word ".repeat(2 * Number(max_completion_tokens));
  if (stream !== true) {
    return Response.json({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] });
  }
  const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] };
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
}

const TIERS = [
  {
    service_tier: "priority",
    ...PRICES,
    prompt: "0.000003",
    completion: "0.000006",
    image_output: "0.00012",
  },
  { above_input_tokens: 500, ...PRICES, prompt: "0.000002", image_output: "0.00008" },
];
const total = (amount: number) => ({ amount: `${amount}`, period: "total" });
const BUDGETS = {
  teams: [{ name: "t", spend_limit: total(TEAM_LIMIT) }],
  keys: [{ name: "test", secret: SECRET }, { name: "hedger", secret: HEDGER, hedge: true }].map((key) => ({
    ...key,
    team: "t",
    spend_limit: total(LIMIT),
    session_limit: { amount: `${SESSION_LIMIT}` },
    tag_limits: [{ tag: "customer", ...total(SESSION_LIMIT) }],
  })),
};

const KNOWN = [
  "",
  "reserved",
  "api_key_limit_exceeded",
  "insufficient_funds",
  "service_unavailable",
  "provider_unavailable",
];
/** A limit that is spent, a stream that the provider broke off, a stream that could not be kept while the store was slow. */
const REFUSED_AFTER = /api_key_limit_exceeded|insufficient_funds|provider_unavailable|service_unavailable/;

type Ask = (kind: Kind, nth: number, signal?: AbortSignal) => Promise<Response>;

interface Spent {
  cost: string;
  [dimension: string]: unknown;
}

/** Nothing has spent more than its limit, and most of the largest has been spent. */
async function check(usage: (by: string) => Promise<Spent[]>, credits: number): Promise<void> {
  for (const { account, cost } of await usage("account")) {
    assert(Number(cost) <= credits, `${account}: ${cost}`);
  }
  for (const { key, cost } of await usage("key")) assert(Number(cost) <= LIMIT, `${key}: ${cost}`);
  for (const row of [...await usage("session,key"), ...await usage("tag:customer,key")]) {
    const { session, "tag:customer": customer, cost } = row;
    if (session || customer) assert(Number(cost) <= SESSION_LIMIT, JSON.stringify(row));
  }
  const team = (await usage("team")).find(({ team }) => team === "t");
  assert(Number(team?.cost) <= TEAM_LIMIT && Number(team?.cost) > LIMIT / 3, JSON.stringify(team));
}

/** Asks a thousand times at once, and once more when all have ended, until nothing is reserved. Answers how many were refused for a moment. */
async function crowd(ask: Ask): Promise<number> {
  const codes = await Promise.all(Array.from({ length: CALLS }, async (_, i) => {
    const leaving = new AbortController();
    if (i % LEAVES === 0) void pause(i % 30).then(() => leaving.abort());
    let response: Response;
    let text: string;
    try {
      response = await ask(KINDS[i % KINDS.length], i, leaving.signal);
      text = await response.text();
    } catch (thrown) {
      if (leaving.signal.aborted) return "";
      throw thrown;
    }
    if (response.ok) return "";
    if (text.includes('"reserved":true')) return "reserved";
    const { code } = JSON.parse(text).error;
    return KNOWN.includes(code) ? code : text;
  }));
  assertEquals(codes.filter((code) => !KNOWN.includes(code)), []);
  assert(codes.includes(""), "none was let in");
  for (let nth = 0; nth < 2 * KINDS.length; nth++) {
    let text = "";
    // Turns over WebSockets may go on still, and what other nodes hold comes back when they have heard of it.
    await eventually(async () => {
      const response = await ask(KINDS[nth % KINDS.length], nth);
      text = await response.text();
      if (!response.ok && !text.includes('"reserved":true')) assert(REFUSED_AFTER.test(text), text);
      return !text.includes('"reserved":true');
    }, { what: () => `nothing stays reserved: ${text}` });
  }
  return codes.filter((code) => code === "reserved").length;
}

const MODELS: Record<string, Record<string, unknown>> = {
  "p/model": { routes: [{ provider: "p", model: "model" }] },
  "q/model": { routes: [{ provider: "q", model: "model" }] },
  "f/model": { routes: [{ provider: "p", model: "bad" }, { provider: "p", model: "model" }] },
  "h/model": { routes: [{ provider: "p", model: "slow" }, { provider: "p", model: "model" }] },
  "s/model": { routes: [{ provider: "p", model: "silent" }] },
  "t/model": { routes: [{ provider: "p", model: "tiered" }], pricing_tiers: TIERS },
};

/** The configuration without its store. */
function configFor(served: string, search: string): Record<string, unknown> {
  const breaker = { failures: 1_000_000 };
  return {
    ...BUDGETS,
    providers: {
      p: { api: "openai-chat", base_url: served, api_key: "x", breaker },
      q: { api: "anthropic-messages", base_url: served, api_key: "x", breaker },
    },
    models: Object.entries(MODELS).map(([id, model]) => ({
      id,
      pricing: PRICES,
      max_completion_tokens: MOST_OUTPUT,
      capabilities: {
        modality_input: ["text", "image", "audio", "file"],
        modality_output: ["text", "image"],
        features: FEATURES,
      },
      ...model,
    })),
    search: { engine: "searxng", base_url: search },
  };
}

function asking(urlOf: (nth: number) => string): Ask {
  return ({ path, body, headers }, nth, signal) =>
    fetch(urlOf(nth) + path, {
      method: "POST",
      signal,
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json", ...headers },
    });
}

/** Turns over WebSockets, each of which goes on from the one before, beside the crowd. */
async function talk(url: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => {
    const client = await SocketClient.open(url);
    let previous: string | undefined;
    for (let turn = 0; turn < 3; turn++) {
      const events = await client.turn({
        model: "p/model",
        input: LONG,
        max_output_tokens: 300,
        previous_response_id: previous,
      });
      previous = events.at(-1)?.response?.id;
      if (previous === undefined) break;
    }
    await client.close();
  }));
}

async function onNodes(stores: readonly Record<string, unknown>[]): Promise<void> {
  const [search, served] = [engine(), provider()];
  const nodes: TestGateway[] = [];
  try {
    for (const store of stores) {
      nodes.push(await testGateway({}, { ...configFor(served.url, search.url), store }));
    }
    await Promise.all([
      crowd(asking((nth) => nodes[nth % nodes.length].url)),
      ...nodes.map(({ url }) => talk(url, 12 / nodes.length)),
    ]);
    for (const node of nodes) await node.gateway.idle();
    for (const node of nodes) await node.gateway.accounts.flush();
    await check(
      async (by) => (await nodes[0].gateway.accounts.usage({ by })).data as unknown as Spent[],
      Infinity,
    );
  } finally {
    for (const node of nodes) await node.close();
    await served.close();
    await search.close();
  }
}

Deno.test("sqlite: a thousand calls of every kind at once spend no more than any limit", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
  try {
    await onNodes([{ url: `sqlite:${folder}/store.db` }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

onCluster((cluster) => {
  Deno.test("postgres: a thousand calls of every kind at once on three nodes spend no more than any limit", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    await sql`CREATE DATABASE kinds`;
    await sql.end();
    const url = databaseOf(cluster().url, "kinds");
    try {
      await onNodes([1, 2, 3].map((n) => ({ url, journal: `${folder}/node${n}` })));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});

Deno.test({
  name: "sqlite: a thousand calls of every kind at once on two workers spend no more than any limit",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
    const [search, served] = [engine(), provider()];
    await Deno.writeTextFile(
      `${cwd}/sluice.jsonc`,
      JSON.stringify({
        ...configFor(served.url, search.url),
        store: { url: "sqlite:./s.db" },
        accounts: [{ name: "default", credits: `${CREDITS}` }],
      }),
    );
    const program = await serveProgram(["--config", "sluice.jsonc", "--workers", "2"], { cwd });
    try {
      await Promise.all([crowd(asking(() => program.url)), talk(program.url, 12)]);
      program.kill("SIGTERM");
      await program.ended;
      await check(async (by) => {
        const { out } = await runProgram(["usage", "--by", by, "--json", "--config", "sluice.jsonc"], {
          cwd,
        });
        return JSON.parse(out);
      }, CREDITS);
    } finally {
      try {
        program.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await program.ended;
      await served.close();
      await search.close();
      await Deno.remove(cwd, { recursive: true });
    }
  },
});
