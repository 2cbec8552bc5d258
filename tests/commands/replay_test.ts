/** `sluice replay` against servers that answer oddly. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type KeptPayload, replay } from "../../src/commands/replay.ts";
import type { Config } from "../../src/config/schema.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { leastAnswer } from "../support/answers.ts";
import { loopbackProvider } from "../support/provider.ts";

const PAYLOAD: KeptPayload = {
  id: "gen_1",
  format: "chat_completions",
  model: "a/m",
  latency_ms: 5,
  status: "completed",
  error: null,
  request: { model: "a/m", messages: [], stream: true, stream_options: { include_usage: true } },
  answer: null,
};
const ENDS = { server: { hostname: "0.0.0.0", port: 1, tls: null } } as Config;

function replayed(url: string | undefined, config = ENDS) {
  const command = { command: "replay", id: "gen_1", url, secret: "sk_live_canary", json: true } as const;
  return replay({ ...command, config: undefined, model: undefined }, PAYLOAD, config, {
    accounts: { generation: () => Promise.reject(new Failure("not_found", "none")) },
    env: () => undefined,
  });
}

Deno.test("an answer is shown, though its record cannot be read", async () => {
  const records = [
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    () => Response.redirect("http://127.0.0.1:1/"),
    () => new Response("no", { status: 404 }),
  ];
  for (const record of records) {
    await using server = loopbackProvider((seen) =>
      seen.path === "/v1/chat/completions" ? leastAnswer(seen) : record()
    );
    const { text, failed } = await replayed(`${server.url}/`);
    const { after } = JSON.parse(text);
    assertEquals([failed, after.text, after.cost, after.model, after.error], [
      false,
      "hi",
      null,
      "a/m",
      null,
    ]);
    assertEquals(server.seen[0].body, { model: "a/m", messages: [], stream: false });
  }
});

Deno.test("what is no answer is a failure that says so", async () => {
  await using server = loopbackProvider(() => new Response("<html>Bad gateway", { status: 502 }));
  const error = await assertRejects(() => replayed(server.url), Failure);
  assertEquals(
    error.message,
    `Cannot replay: ${server.url} answers with status 502 and a body that is no JSON`,
  );
  // An address to listen on that cannot be called.
  const none = await assertRejects(() => replayed(undefined), Failure);
  assertStringIncludes(none.message, "Cannot replay: http://127.0.0.1:1 does not answer: ");
});
