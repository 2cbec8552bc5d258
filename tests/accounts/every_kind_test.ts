/** A thousand calls of every kind at once, against a limit that few of them fit into, of a provider that bills all it may. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import postgres from "postgres";
import { onCluster } from "../support/cluster.ts";
import { dearestAnswer, MOST_OUTPUT, PRICES } from "../support/dearest_provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { pause } from "../support/time.ts";

const LIMIT = 3;
const CALLS = 1000;
const LONG = "word ".repeat(400);
const png = Buffer.alloc(400, 7);
Buffer.from("89504e470d0a1a0a0000000d494844520000040000000300", "hex").copy(png);
const IMAGE = `data:image/png;base64,${png.toString("base64")}`;
const SCHEMA = { type: "object", properties: { answer: { type: "string", description: LONG } } };

const kind = (more: Record<string, unknown>, content: unknown = "hi") => ({
  model: "p/model",
  max_tokens: 200,
  messages: [{ role: "user", content }],
  ...more,
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
  kind({ tools: [{ type: "function", function: { name: "t", description: LONG, parameters: SCHEMA } }] }),
  kind({}, [{
    type: "input_audio",
    input_audio: { data: Buffer.alloc(240, 1).toString("base64"), format: "wav" },
  }]),
  kind({ model: "q/model" }, [{ type: "text", text: LONG, cache_control: { type: "ephemeral", ttl: "1h" } }]),
  kind({ reasoning_effort: "high" }, "a b c d ".repeat(200)),
  // The first route fails.
  kind({ model: "f/model", stream: true }),
];
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
    if (seen.body.model === "bad") return Response.json({ error: { message: "no" } }, { status: 503 });
    const answer = dearestAnswer(seen, { searches: true });
    if (nth % BREAKS > 0 || seen.body.stream !== true) return answer;
    const text = await answer.text();
    // Sometimes behind the counts, sometimes before.
    return new Response(text.slice(0, text.length * (nth % 3 + 1) / 3.5), { headers: answer.headers });
  });
const MODEL = { pricing: PRICES, max_completion_tokens: MOST_OUTPUT };
const key = { name: "test", secret: SECRET, spend_limit: { amount: `${LIMIT}`, period: "total" } };

const ROUTES = [{ provider: "p", model: "bad" }, { provider: "p", model: "model" }];

type Ask = (body: unknown, nth: number, signal?: AbortSignal) => Promise<Response>;

/** Asks a thousand times at once, and once more after a second of quiet. Answers how many were refused for a moment. */
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
    return text.includes('"reserved":true') ? "reserved" : JSON.parse(text).error.code as string;
  }));
  const known = ["", "reserved", "api_key_limit_exceeded", "service_unavailable", "provider_unavailable"];
  assertEquals(codes.filter((code) => !known.includes(code)), []);
  assert(codes.includes(""), "none was let in");
  await pause(1000);
  for (let nth = 0; nth < 6; nth++) {
    const response = await ask(KINDS[0], nth);
    const text = await response.text();
    assert(response.ok || text.includes("api_key_limit_exceeded"), text);
  }
  return codes.filter((code) => code === "reserved").length;
}

async function onNodes(stores: readonly Record<string, unknown>[]): Promise<void> {
  const [search, served] = [engine(), provider()];
  const nodes: TestGateway[] = [];
  try {
    for (const store of stores) {
      nodes.push(
        await testGateway({
          p: { api: "openai-chat", url: served.url, model: MODEL },
          q: { api: "anthropic-messages", url: served.url, model: MODEL },
          f: { api: "openai-chat", url: served.url, model: { ...MODEL, routes: ROUTES } },
        }, { store, keys: [key], search: { engine: "searxng", base_url: search.url } }),
      );
    }
    await crowd((body, nth, signal) =>
      nodes[nth % nodes.length].post("/v1/chat/completions", body, { signal })
    );
    for (const node of nodes) await node.gateway.idle();
    for (const node of nodes) await node.gateway.accounts.flush();
    const [sum] = (await nodes[0].gateway.accounts.usage({ by: "key" })).data;
    assert(Number(sum.cost) <= LIMIT, `${sum.cost} of ${LIMIT}`);
    assert(Number(sum.cost) > LIMIT / 2, `only ${sum.cost} of ${LIMIT}`);
  } finally {
    for (const node of nodes) await node.close();
    await served.close();
    await search.close();
  }
}

Deno.test("sqlite: a thousand calls of every kind at once spend no more than the limit", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
  try {
    await onNodes([{ url: `sqlite:${folder}/store.db` }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

onCluster((cluster) => {
  Deno.test("postgres: a thousand calls of every kind at once on three nodes spend no more than the limit", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    await sql`CREATE DATABASE kinds`;
    await sql.end();
    const url = cluster().url.replace(/[^/]*$/, "kinds");
    try {
      await onNodes([1, 2, 3].map((n) => ({ url, journal: `${folder}/node${n}` })));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});

Deno.test({
  name: "sqlite: a thousand calls of every kind at once on two workers spend no more than the limit",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-kinds-" });
    const [search, served] = [engine(), provider()];
    const model = (id: string, name: string) => ({
      id,
      routes: [{ provider: name, model: "model" }],
      capabilities: { modality_input: ["text", "image", "audio"], features: ["tools", "structured_outputs"] },
      ...MODEL,
    });
    await Deno.writeTextFile(
      `${cwd}/sluice.jsonc`,
      JSON.stringify({
        store: { url: "sqlite:./s.db" },
        providers: {
          p: { api: "openai-chat", base_url: served.url },
          q: { api: "anthropic-messages", base_url: served.url },
        },
        models: [model("p/model", "p"), model("q/model", "q"), { ...model("f/model", "p"), routes: ROUTES }],
        search: { engine: "searxng", base_url: search.url },
        keys: [key],
      }),
    );
    const program = await serveProgram(["--config", "sluice.jsonc", "--workers", "2"], { cwd });
    try {
      await crowd((body, _, signal) =>
        fetch(`${program.url}/v1/chat/completions`, {
          method: "POST",
          signal,
          body: JSON.stringify(body),
          headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
        })
      );
      program.kill("SIGTERM");
      await program.ended;
      const { out } = await runProgram(["usage", "--json", "--config", "sluice.jsonc"], { cwd });
      const costs = (JSON.parse(out).data ?? JSON.parse(out)) as { cost: string }[];
      const spent = costs.reduce((sum, { cost }) => sum + Number(cost), 0);
      assert(spent <= LIMIT && spent > LIMIT / 3, `${spent} of ${LIMIT}`);
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
