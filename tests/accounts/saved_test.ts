/** What reading from caches saved, wherever usage is told. */
import { assertEquals, assertMatch } from "@std/assert";
import { runCommand } from "../../src/commands/accounts.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("what caching saved stands in usage by any dimension, as JSON, CSV and text, and in a key's own page", async () => {
  const provider = loopbackProvider(() =>
    Response.json({
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 1,
        total_tokens: 1001,
        prompt_tokens_details: { cached_tokens: 900 },
      },
    })
  );
  const pricing = { prompt: "0.00001", completion: "0", input_cache_read: "0.000001" };
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: { pricing } },
  }, { admin_key: "the-admin-key" });
  const read = async (path: string, authorization: string, accept = "application/json") =>
    await (await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${authorization}`, accept },
    })).text();
  try {
    const messages = [{ role: "user", content: "hi" }];
    for (const session of [undefined, "s", "s"]) {
      const answer = await gateway.post("/v1/chat/completions", { model: "p/model", messages }, {
        headers: session === undefined ? {} : { "x-svc-session": session },
      });
      assertEquals(answer.status, 200);
      await answer.body?.cancel();
    }
    const usage = async (query: string) =>
      JSON.parse(await read(`/admin/usage?${query}`, "the-admin-key")).data;
    for (const by of ["key", "model", "day", "account", "provider", "format", "key,day", "team"]) {
      const [row, ...others] = await usage(`by=${by}`);
      assertEquals([row.cost, row.cache_saved, others.length], ["0.0057", "0.0243", 0], by);
    }
    // deno-lint-ignore no-explicit-any
    const sessions = (await usage("by=session")).map((row: any) => [row.session, row.cache_saved]);
    assertEquals(sessions, [["s", "0.0162"], ["", "0.0081"]]);
    const [head, row] = (await read("/admin/usage?by=model", "the-admin-key", "text/csv")).split("\r\n")
      .map((line) => line.split(","));
    assertEquals(row[head.indexOf("cache_saved")], "0.0243");
    assertEquals(JSON.parse(await read("/v1/key", SECRET)).cache_saved, "0.0243");
    const { accounts } = gateway.gateway;
    const command = { command: "usage", by: "model", json: false } as const;
    assertMatch(
      await runCommand(command as Parameters<typeof runCommand>[0], accounts),
      /cache_saved\s+.*0\.0243/s,
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
});
