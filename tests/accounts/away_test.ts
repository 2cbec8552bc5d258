/** The database goes away under a gateway that serves: who is let in, what the others are told, and what is recorded. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { onCluster } from "../support/cluster.ts";
import { loopbackProvider } from "../support/provider.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";

const BODIES = {
  "/v1/chat/completions": { model: "p/model", messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { model: "p/model", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { model: "p/model", input: "hi" },
};

onCluster((cluster) => {
  Deno.test("postgres: without its database a gateway serves whom it knows, and sends nobody away for good", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-away-" });
    const provider = loopbackProvider(() =>
      Response.json({
        id: "c",
        choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      })
    );
    const gateway = await testGateway(
      {
        p: {
          api: "openai-chat",
          url: provider.url,
          model: { pricing: { prompt: "0.01", completion: "0.01" } },
        },
      },
      {
        store: { url: cluster().url, journal: `${folder}/node` },
        accounts: [{ name: "default", credits: "10000" }],
      },
    );
    const { accounts } = gateway.gateway;
    const ask = (path: string, body: unknown, secret?: string) =>
      gateway.post(
        path,
        body,
        secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } },
      );
    try {
      const { secret } = await accounts.createKey({ name: "made" });
      // One call, so that this node holds some of the account's credits.
      await (await ask("/v1/responses", BODIES["/v1/responses"])).body?.cancel();
      await accounts.flush();
      await cluster().stop();
      await eventually(() => !accounts.storeUp());
      const ids = new Set<string>();
      for (const [path, body] of Object.entries(BODIES)) {
        for (const known of [undefined, secret]) {
          const response = await ask(path, body, known);
          assertEquals(response.status, 200, await response.text());
          ids.add(response.headers.get("x-request-id")!);
        }
        const unknown = await ask(path, body, "sk_live_" + "u".repeat(43));
        assertEquals(unknown.status, 503);
        assertMatch(unknown.headers.get("retry-after") ?? "", /^\d+$/);
        assert((await unknown.text()).includes("service_unavailable"));
      }
      assertEquals(accounts.pendingCount(), 6);
      await cluster().start();
      await eventually(() => accounts.storeUp());
      await accounts.flush();
      assertEquals(accounts.pendingCount(), 0);
      const { data } = await accounts.generations({});
      assertEquals(data.length, 7);
      assertEquals(data.filter((g) => ids.has(g.id)).length, 6);
      assertEquals((await accounts.credits("default")).spent, "0.84");
    } finally {
      await cluster().start();
      await gateway.close();
      await provider.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
});
