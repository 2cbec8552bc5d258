/** A thousand requests at once, over HTTP, on a key whose limit is worth a hundred of them. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { eventually, pause } from "../support/time.ts";

/** What one costs, in cents: twelve tokens at one cent each. */
const COST = 12;
const LIMIT = 100 * COST;
/** More than the estimate of one: its prompt and the twenty tokens it may say. */
const ESTIMATE_BELOW = 100;
/** Spent, or merely reserved by the calls under way. */
const REFUSALS = ["api_key_limit_exceeded", "provider_rate_limited"];
const BODY = { model: "p/model", max_tokens: 20, messages: [{ role: "user", content: "hi" }] };

async function crowd(stores: readonly Record<string, unknown>[]): Promise<void> {
  let served = 0;
  const provider = loopbackProvider(async () => {
    served++;
    await pause(served % 5);
    return Response.json({
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    });
  });
  const nodes: TestGateway[] = [];
  for (const store of stores) {
    nodes.push(
      await testGateway({
        p: {
          api: "openai-chat",
          url: provider.url,
          model: { pricing: { prompt: "0.01", completion: "0.01" } },
        },
      }, {
        store,
        keys: [{ name: "test", secret: SECRET, spend_limit: { amount: `${LIMIT / 100}`, period: "total" } }],
      }),
    );
  }
  const refused = new Map<string, number>();
  const ask = async (node: TestGateway): Promise<boolean> => {
    const response = await node.post("/v1/chat/completions", BODY);
    const body = await response.json();
    if (response.ok) return true;
    refused.set(body.error.code, (refused.get(body.error.code) ?? 0) + 1);
    return false;
  };
  try {
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => ask(nodes[i % nodes.length])),
    );
    let answered = answers.filter(Boolean).length;
    assertEquals(answered, served);
    assert(answered * COST <= LIMIT, `${answered} were let in`);
    // A process that all of this makes late refuses calls, too; nothing else may be said.
    const others = [...refused.keys()].filter((code) => code !== "service_unavailable");
    for (const code of others) assert(REFUSALS.includes(code), code);

    // Nothing stays set aside: whoever asks alone is let in as long as there is room, wherever that is held.
    let tries = 0;
    await eventually(async () => {
      if (LIMIT - answered * COST < ESTIMATE_BELOW) return true;
      if (await ask(nodes[tries++ % nodes.length])) answered++;
      return false;
    }, { what: () => `all is spent: ${answered} were let in` });
    for (const node of nodes) await node.gateway.accounts.flush();
    const [sum] = (await nodes[0].gateway.accounts.usage({ by: "key" })).data;
    assertEquals([sum.generations, Math.round(Number(sum.cost) * 100)], [answered, answered * COST]);
  } finally {
    for (const node of nodes) await node.close();
    await provider.close();
  }
}

Deno.test("sqlite: a thousand requests at once spend no more than the limit, and all of it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-crowd-" });
  try {
    await crowd([{ url: `sqlite:${folder}/store.db` }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

onCluster((cluster) => {
  Deno.test("postgres: a thousand requests at once on three nodes spend no more than the limit, and all of it", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-crowd-" });
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    await sql`CREATE DATABASE crowd`;
    await sql.end();
    const url = databaseOf(cluster().url, "crowd");
    try {
      await crowd([1, 2, 3].map((n) => ({ url, journal: `${folder}/node${n}` })));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});
