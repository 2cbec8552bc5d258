/** What stays whole on its way through clouds: proofs, usage of a caller who leaves, and large numbers. */
import { assert, assertEquals } from "@std/assert";
import { binaryOf } from "../../support/event_stream.ts";
import { SECRET } from "../../support/gateway.ts";
import { CALLERS, read } from "../../support/scenarios.ts";
import { cloud } from "../credentials/cloud.ts";
import { answerOf, bedrock, models, rig } from "./impostors.ts";
import { next, PATHS, PROOF, question } from "./two_turns.ts";

Deno.test("Claude's proof passes between the clouds that have Anthropic's API, and never to Converse", async () => {
  await using aws = bedrock({ AKID: "s3cret" }, (seen) => answerOf(seen, "full"));
  await using gateway = await rig({
    providers: {
      bedrock: { region: "eu-central-1", base_url: aws.origin },
      azure: { resource: "r", base_url: aws.origin, api_key: "k" },
    },
    models: models([
      { provider: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0", api: "anthropic-messages" },
      { provider: "bedrock", model: "anthropic.claude-opus-4-7", api: "anthropic-messages" },
      { provider: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0" },
    ]),
  }, { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "s3cret" });
  for (const caller of CALLERS) {
    for (
      const [from, to, carried] of [["m/0", "m/1", true], ["m/1", "m/0", true], ["m/0", "m/2", false], [
        "m/2",
        "m/0",
        false,
      ]] as const
    ) {
      const asked = question(caller, from, false);
      const { text } = await gateway.ask(PATHS[caller], asked);
      const { status, text: said } = await gateway.ask(
        PATHS[caller],
        next(caller, { ...asked, model: to }, JSON.parse(text)),
      );
      assertEquals(status, 200, said);
      assertEquals(aws.seen.at(-1)!.body.includes(PROOF), carried, `${caller} ${from} ${to}`);
    }
  }
});

Deno.test("a caller who leaves in the middle of a binary stream pays for all of it", async () => {
  const all = binaryOf(read("full", "converse.sse")!);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  await using upstream = cloud(() =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(all.slice(0, 500));
          await left;
          controller.enqueue(all.slice(500));
          controller.close();
        },
      }),
      { headers: { "content-type": "application/vnd.amazon.eventstream" } },
    )
  );
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: upstream.origin, api_key: "k" } },
    models: models([{ provider: "bedrock", model: "m" }]),
  }, {});
  const response = await gateway.gateway.handle(
    new Request("http://gateway/v1/messages", {
      method: "POST",
      headers: { "x-api-key": SECRET },
      body: JSON.stringify({ ...question("messages", "m/0", true) }),
    }) as never,
  );
  const reader = response.body!.getReader();
  assert((await reader.read()).value!.length > 0);
  const over = reader.cancel();
  leave();
  await over;
  await gateway.gateway.idle();
  const { data: [record] } = await gateway.gateway.accounts.generations({});
  assertEquals([record.status, record.usage?.input_tokens, record.cost], ["completed", 30, "0.00007"]);
});

Deno.test("numbers beyond 2^53 in arguments pass through Converse in both directions", async () => {
  const digits = "123456789012345678901234567890";
  await using aws = cloud(() =>
    new Response(
      `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{"n":${digits}}}}]}},` +
        `"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
      { headers: { "content-type": "application/json" } },
    )
  );
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: aws.origin, api_key: "k" } },
    models: models([{ provider: "bedrock", model: "m" }]),
  }, {});
  const call = { id: "c", type: "function", function: { name: "f", arguments: `{"n":${digits}}` } };
  const { text } = await gateway.ask(PATHS.chat_completions, {
    model: "m/0",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "R" },
    ],
  });
  assertEquals(JSON.parse(text).choices[0].message.tool_calls[0].function.arguments, `{"n":${digits}}`);
  assert(aws.seen[0].body.includes(`"input":{"n":${digits}}`), aws.seen[0].body);
});
