/** Calls a minute of one session, asked on three nodes and on two workers at once: as many as its bound says, no more, no fewer. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { databaseOf, onCluster } from "../support/cluster.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const BOUND = 25;
const CALLS = 120;
const MINUTE = 60_000;
const KEY = { name: "agent", secret: SECRET, session_limit: { requests_per_minute: BOUND } };
const SAID = { text: "Done." };
const MODEL = { pricing: { prompt: "0.00001", completion: "0.00001" } };

type Ask = (nth: number, request: RequestInit) => Promise<Response>;

/** How many of a crowd's calls were let in, all of them in one minute of the store. */
async function letIn(session: string, ask: Ask): Promise<number> {
  for (;;) {
    const began = Date.now();
    const all = await Promise.all(Array.from({ length: CALLS }, async (_, i) => {
      const response = await ask(i, {
        method: "POST",
        headers: {
          authorization: `Bearer ${SECRET}`,
          "content-type": "application/json",
          "x-svc-session": session,
        },
        body: JSON.stringify({ model: "p/model", messages: [{ role: "user", content: "again" }] }),
      });
      const text = await response.text();
      if (response.status === 200) return true;
      const { error } = JSON.parse(text);
      assertEquals([response.status, error.code], [429, "provider_rate_limited"], text);
      assert(error.message.includes(session) || error.message.includes("session"), error.message);
      return false;
    }));
    // A crowd that a minute's end came between is asked again, as another session.
    if (Math.floor(began / MINUTE) === Math.floor(Date.now() / MINUTE)) return all.filter(Boolean).length;
    session += "x";
  }
}

onCluster((cluster) => {
  Deno.test("postgres: a session on three nodes has as many calls a minute as it may", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-rate-" });
    const sql = postgres(cluster().url, { max: 1, onnotice() {} });
    await sql`CREATE DATABASE session_rate`;
    await sql.end();
    const url = databaseOf(cluster().url, "session_rate");
    const served = scriptedProvider("openai-chat", Array(20 * CALLS).fill(SAID));
    const nodes: TestGateway[] = [];
    try {
      for (const n of [1, 2, 3]) {
        nodes.push(
          await testGateway({ p: { api: "openai-chat", url: served.url, model: MODEL } }, {
            keys: [KEY],
            store: { url, journal: `${folder}/node${n}` },
          }),
        );
      }
      const ask: Ask = (nth, request) => fetch(`${nodes[nth % 3].url}/v1/chat/completions`, request);
      for (const session of ["one", "two"]) assertEquals(await letIn(session, ask), BOUND, session);
    } finally {
      for (const node of nodes) await node.close();
      await served.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
});

Deno.test({
  name: "sqlite: a session on two workers has as many calls a minute as it may",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-rate-" });
    const served = loopbackProvider(() =>
      Response.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
      })
    );
    await Deno.writeTextFile(
      `${cwd}/sluice.jsonc`,
      JSON.stringify({
        keys: [KEY],
        store: { url: "sqlite:./s.db" },
        providers: { p: { api: "openai-chat", base_url: served.url } },
        models: [{ id: "p/model", routes: [{ provider: "p", model: "model" }], ...MODEL }],
      }),
    );
    const program = await serveProgram(["--config", "sluice.jsonc", "--workers", "2"], { cwd });
    // Each worker takes some of the connections.
    const clients = Array.from({ length: 16 }, () => Deno.createHttpClient({ poolMaxIdlePerHost: 1 }));
    try {
      const ask: Ask = (nth, request) =>
        fetch(`${program.url}/v1/chat/completions`, { ...request, client: clients[nth % 16] });
      for (const session of ["one", "two"]) assertEquals(await letIn(session, ask), BOUND, session);
      program.kill("SIGTERM");
      await program.ended;
    } finally {
      for (const client of clients) client.close();
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
