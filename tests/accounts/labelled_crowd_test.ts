/** Two hundred calls at once of sessions and a team, on three nodes and on two workers, of a provider that bills all it may. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { highestUsageAnswer, MOST_OUTPUT, PRICES } from "../support/highest_usage_provider.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const TEAM_LIMIT = 4;
const SESSION_LIMIT = 1;
const CALLS = 200;
const SECRETS = [SECRET, "sk_live_testkeytestkeytestkeytestkey02"];
const MODEL = { pricing: PRICES, max_completion_tokens: MOST_OUTPUT };
const BUDGETS = {
  teams: [{ name: "t", spend_limit: { amount: `${TEAM_LIMIT}`, period: "total" } }],
  keys: SECRETS.map((secret, i) => ({
    name: `key${i}`,
    secret,
    team: "t",
    session_limit: { amount: `${SESSION_LIMIT}`, requests_per_minute: 10_000 },
    tag_limits: [{ tag: "customer", amount: "2", period: "day" }],
  })),
};

/** Whose calls go where: the first sessions make most of them. */
const SESSIONS = ["a", "a", "a", "b", "b", "c", "d"];

async function crowd(ask: (request: RequestInit, nth: number) => Promise<Response>): Promise<void> {
  const codes = await Promise.all(Array.from({ length: CALLS }, async (_, i) => {
    // A busy machine refuses for a moment; then it is asked again.
    const [response, text] = (await eventually(() => answerOf(i)))!;
    return response.ok ? "" : JSON.parse(text).error.code as string;
  }));
  const known = ["", "api_key_limit_exceeded", "provider_rate_limited"];
  assertEquals(codes.filter((code) => !known.includes(code)), []);
  assert(codes.includes(""), "none was let in");

  async function answerOf(i: number): Promise<[Response, string] | null> {
    const response = await ask({
      method: "POST",
      headers: {
        authorization: `Bearer ${SECRETS[i % SECRETS.length]}`,
        "content-type": "application/json",
        "x-svc-session": SESSIONS[i % SESSIONS.length],
        "x-svc-tags": `customer=c${i % 3}`,
      },
      body: JSON.stringify({
        model: "p/model",
        max_tokens: 300,
        stream: i % 2 === 0,
        messages: [{ role: "user", content: "word ".repeat(i) }],
      }),
    }, i);
    const text = await response.text();
    return text.includes('"service_unavailable"') ? null : [response, text];
  }
}

interface Row {
  cost: string;
  [label: string]: unknown;
}

async function check(usage: (by: string) => Promise<Row[]>): Promise<void> {
  for (const row of await usage("session,key")) {
    assert(Number(row.cost) <= SESSION_LIMIT, `session ${row.session} of ${row.key}: ${row.cost}`);
  }
  for (const row of await usage("tag:customer,key")) {
    assert(Number(row.cost) <= 2, `customer ${row["tag:customer"]} of ${row.key}: ${row.cost}`);
  }
  const [team] = await usage("team");
  assert(Number(team.cost) <= TEAM_LIMIT, `team: ${team.cost}`);
  assert(Number(team.cost) > TEAM_LIMIT / 4, `only ${team.cost}`);
}

onCluster((cluster) => {
  Deno.test("postgres: sessions, tags and a team on three nodes spend no more than their limits", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-crowd-" });
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    await sql`CREATE DATABASE crowd`;
    await sql.end();
    const url = databaseOf(cluster().url, "crowd");
    const served = loopbackProvider((seen) => highestUsageAnswer(seen, { searches: false }));
    const nodes: TestGateway[] = [];
    try {
      for (const n of [1, 2, 3]) {
        nodes.push(
          await testGateway({ p: { api: "openai-chat", url: served.url, model: MODEL } }, {
            ...BUDGETS,
            store: { url, journal: `${folder}/node${n}` },
          }),
        );
      }
      for (let round = 0; round < 2; round++) {
        await crowd((request, nth) => fetch(`${nodes[nth % 3].url}/v1/chat/completions`, request));
      }
      for (const node of nodes) await node.gateway.accounts.flush();
      await check(async (by) => (await nodes[0].gateway.accounts.usage({ by })).data as unknown as Row[]);
    } finally {
      for (const node of nodes) await node.close();
      await served.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
});

Deno.test({
  name: "sqlite: sessions, tags and a team on two workers spend no more than their limits",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-crowd-" });
    const served = loopbackProvider((seen) => highestUsageAnswer(seen, { searches: false }));
    await Deno.writeTextFile(
      `${cwd}/sluice.jsonc`,
      JSON.stringify({
        ...BUDGETS,
        store: { url: "sqlite:./s.db" },
        providers: { p: { api: "openai-chat", base_url: served.url } },
        models: [{ id: "p/model", routes: [{ provider: "p", model: "model" }], ...MODEL }],
      }),
    );
    const program = await serveProgram(["--config", "sluice.jsonc", "--workers", "2"], { cwd });
    try {
      for (let round = 0; round < 2; round++) {
        await crowd((request) => fetch(`${program.url}/v1/chat/completions`, request));
      }
      program.kill("SIGTERM");
      await program.ended;
      await check(async (by) => {
        const { out } = await runProgram(["usage", "--by", by, "--json", "--config", "sluice.jsonc"], {
          cwd,
        });
        return JSON.parse(out);
      });
    } finally {
      try {
        program.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await program.ended;
      await served.close();
      await Deno.remove(cwd, { recursive: true });
    }
  },
});
