/** The program without a configuration on a machine that has a provider's key, and its commands over the catalog. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runProgram, serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";

let listed: string[] = [];

/** OpenAI, as far as is needed: a list of models, and an answer. */
const vendor = () =>
  loopbackProvider(({ path, body }) => {
    if (path.endsWith("/models")) {
      return Response.json({ object: "list", data: listed.map((id) => ({ id })) });
    }
    const output = [{
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Good day", annotations: [] }],
    }];
    const response = {
      id: "r",
      object: "response",
      created_at: 1,
      status: "completed",
      model: body.model,
      output,
    };
    const usage = {
      input_tokens: 100_000,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 100_000,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 200_000,
    };
    if (body.stream !== true) return Response.json({ ...response, usage });
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...output[0], content: [] } },
      {
        type: "response.output_text.delta",
        item_id: "m",
        output_index: 0,
        content_index: 0,
        delta: "Good day",
      },
      { type: "response.output_item.done", output_index: 0, item: output[0] },
      { type: "response.completed", response: { ...response, usage } },
    ];
    return new Response(events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  });

Deno.test("a machine with one vendor's key serves its models at their price, with the demo model beside", async () => {
  const cwd = await Deno.makeTempDir();
  const provider = vendor();
  listed = ["gpt-4o", "gpt-4o-mini", "text-embedding-3-small"];
  const env = { OPENAI_API_KEY: "sk-of-openai", OPENAI_BASE_URL: `${provider.url}/v1`, HOME: cwd };
  const gateway = await serveProgram([], { cwd, env });
  await gateway.said("/v1/responses");
  const secret = /sk_live_\w{20,}/.exec(gateway.out())![0];
  assertMatch(gateway.out(), /^openai +openai\/gpt-4o +2\.5 +10 +128000$/m);
  assert(!gateway.out().includes("sk-of-openai"));
  const [line] = gateway.out().split("\n").filter((l) => l.startsWith("curl "));
  // The cheapest of those found.
  assertStringIncludes(line, '"model":"openai/gpt-4o-mini"');
  const headers = { authorization: `Bearer ${secret}` };
  const { data } = await (await fetch(`${gateway.url}/v1/models`, { headers })).json();
  const ids = data.map(({ id }: { id: string }) => id);
  assertEquals(ids.filter((id: string) => id.startsWith("openai/")), ["openai/gpt-4o", "openai/gpt-4o-mini"]);
  assert(ids.includes("demo/small"));
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }),
  });
  assertEquals((await answer.json()).choices[0].message.content, "Good day");

  const run = (...args: string[]) => runProgram(args, { cwd, env });
  const models = JSON.parse((await run("models", "--json")).out);
  const mini = models.find(({ id }: { id: string }) => id === "openai/gpt-4o-mini");
  assertEquals([mini.pricing.prompt, mini.routes], ["0.00000015", ["openai:gpt-4o-mini"]]);
  assertEquals((await run("models", "--diff")).out, "Nothing has changed.\n");
  listed = ["gpt-4o"];
  assertStringIncludes((await run("models", "--diff")).out, "removed  openai/gpt-4o-mini  0.15 in, 0.6 out");

  const tried = await run("try", "Hello?", "--json", "--models", "openai/*,demo/small");
  const rows = JSON.parse(tried.out) as {
    model: string;
    error: string | null;
    answer: string;
    cost: string;
  }[];
  assertEquals(rows.map(({ model, error }) => [model, error]), [["demo/small", null], [
    "openai/gpt-4o",
    null,
  ]]);
  assertEquals([rows[1].answer, rows[1].cost], ["Good day", "1.25"]);
  const connected = await run("connect", "openai");
  assertMatch(
    connected.out,
    /^export OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:8787\/v1\nexport OPENAI_API_KEY=sk_live_\w+\n$/,
  );
  gateway.kill("SIGTERM");
  assertEquals(await gateway.ended, 0);

  const { code, err } = await runProgram(["--hostname", "0.0.0.0", "--port", "0"], { cwd, env });
  assertEquals(code, 2);
  assertStringIncludes(err, "expected a loopback address");
  const demo = await serveProgram(["--demo"], { cwd, env });
  await demo.said("/v1/responses");
  assertStringIncludes(demo.out(), "Demo mode.");
  assert(!demo.out().includes("openai"));
  demo.kill("SIGTERM");
  await demo.ended;
  await provider.close();
  await Deno.remove(cwd, { recursive: true });
});
