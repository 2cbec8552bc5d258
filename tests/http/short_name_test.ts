/** How an answer to a short name is named. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";
import { eventsOf } from "../schemas/check.ts";

Deno.test("Claude Code gets the short name that it asked for, other clients the catalog id, and all of them the header", async () => {
  const id = "anthropic/claude-sonnet-4-5";
  const provider = scriptedProvider("anthropic-messages", Array(8).fill({ text: "Hi." }));
  const gateway = await testGateway({
    p: {
      api: "anthropic-messages",
      url: provider.url,
      model: { id, routes: [{ provider: "p", model: "m" }], short_names: ["claude-sonnet-*"] },
    },
  });
  for (
    const [agent, asked, named] of [
      ["claude-cli/2.1.197 (external, cli)", "claude-sonnet-4-5", "claude-sonnet-4-5"],
      ["claude-cli/2.1.197 (external, cli)", id, id],
      ["anthropic/JS 1.12.0", "claude-sonnet-4-5", id],
      ["not claude-cli/1", "claude-sonnet-4-5", id],
    ]
  ) {
    for (const stream of [false, true]) {
      const body = { model: asked, max_tokens: 9, stream, messages: [{ role: "user", content: "Hi" }] };
      const response = await gateway.post("/v1/messages", body, { headers: { "user-agent": agent } });
      const text = await response.text();
      // deno-lint-ignore no-explicit-any
      const answer: any = stream ? eventsOf(text)[0].data.message : JSON.parse(text);
      assertEquals([answer.model, response.headers.get("x-svc-model")], [named, asked === id ? null : id]);
    }
  }
  const { data } = await gateway.gateway.accounts.generations({ limit: 20 });
  assertEquals(new Set(data.map(({ model }) => model)), new Set([id]));
  await gateway.close();
  await provider.close();
});
