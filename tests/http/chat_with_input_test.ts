/** Cursor's requests: a body of the responses format at /v1/chat/completions, answered as chat-completions. */
import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PATCH = { type: "custom", name: "ApplyPatch", description: "Edits", format: { type: "text" } };
const READ = {
  type: "function",
  name: "Read",
  description: "Reads",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
const BODY = {
  stream: true,
  stream_options: { include_usage: true },
  user: "ann",
  store: false,
  max_tokens: 500,
  reasoning: { effort: "medium", summary: "auto" },
  include: ["reasoning.encrypted_content"],
  text: { verbosity: "low" },
  tools: [READ, PATCH, { type: "function", function: { name: "List", parameters: { type: "object" } } }],
  tool_choice: { type: "function", function: { name: "List" } },
  input: [
    { role: "system", content: "You are an agent." },
    { role: "user", content: [{ type: "input_text", text: "Fix it" }] },
    { type: "function_call", call_id: "call_1", name: "Read", arguments: '{"path":"a.ts"}' },
    { type: "function_call_output", call_id: "call_1", output: "const a = 1;" },
    { type: "custom_tool_call", call_id: "call_2", name: "ApplyPatch", input: "*** Begin Patch" },
    { type: "custom_tool_call_output", call_id: "call_2", output: "Done" },
    { role: "assistant", content: [{ type: "output_text", text: "Fixed." }] },
    { role: "user", content: "Again" },
  ],
};
const APIS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const;

async function rig(answer: (seen: Seen) => Response = leastAnswer) {
  const provider = loopbackProvider(answer);
  const gateway = await testGateway(
    Object.fromEntries(
      APIS.map((
        api,
      ) => [api, { api, url: api === "gemini" ? provider.url : `${provider.url}/v1` }]),
    ),
  );
  const close = async () => {
    await gateway.close();
    await provider.close();
  };
  return { provider, gateway, close };
}

Deno.test("a request of the responses format at /v1/chat/completions is answered as chat-completions", async () => {
  const { provider, gateway, close } = await rig();
  const client = new OpenAI({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  for (const api of APIS) {
    const stream: Any = await client.chat.completions.create({ ...BODY, model: `${api}/model` } as Any);
    let text = "";
    let finish: unknown;
    let usage: Any;
    for await (const chunk of stream) {
      assertEquals(chunk.object, "chat.completion.chunk", api);
      text += chunk.choices[0]?.delta.content ?? "";
      finish ??= chunk.choices[0]?.finish_reason;
      usage = chunk.usage ?? usage;
    }
    assertEquals([text, finish, usage.prompt_tokens], ["hi", "stop", 3], api);
    const whole: Any = await client.chat.completions.create(
      { ...BODY, stream: false, model: `${api}/model` } as Any,
    );
    assertEquals([whole.object, whole.choices[0].message.content], ["chat.completion", "hi"], api);
    for (const { text } of provider.seen.splice(0)) {
      for (
        const said of ["You are an agent.", "Fix it", "const a = 1;", "*** Begin Patch", "Fixed.", "Again"]
      ) {
        assert(text.includes(said), `${api}: ${said}`);
      }
      for (const name of ["Read", "ApplyPatch", "List"]) {
        assert(text.includes(`"${name}"`), `${api}: ${name}`);
      }
    }
  }
  await close();
});

Deno.test("a provider of the responses format gets such a request as its own, without the fields of chat", async () => {
  const { provider, gateway, close } = await rig();
  const response = await gateway.post("/v1/chat/completions", {
    ...BODY,
    model: "openai-responses/model",
    reasoning: undefined,
    reasoning_effort: "low",
    text: undefined,
    verbosity: "high",
    response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
  });
  assertEquals([response.status, response.headers.get("x-svc-dropped")], [200, null]);
  await response.text();
  const { body } = provider.seen[0] as Any;
  assertEquals(body.input, BODY.input);
  assertEquals(body.tools.map((tool: Any) => [tool.type, tool.name]), [
    ["function", "Read"],
    ["custom", "ApplyPatch"],
    ["function", "List"],
  ]);
  assertEquals(
    [body.tool_choice, body.max_output_tokens, body.reasoning, body.text],
    [
      { type: "function", name: "List" },
      500,
      { effort: "low" },
      { format: { name: "n", schema: { type: "object" }, type: "json_schema" }, verbosity: "high" },
    ],
  );
  const unknown = [
    "messages",
    "stream_options",
    "max_tokens",
    "reasoning_effort",
    "response_format",
    "verbosity",
  ];
  assertEquals(unknown.filter((field) => field in body), []);
  await close();
});

Deno.test("of two fields that say the same, the one of the responses format counts, then the newer one", async () => {
  const { provider, gateway, close } = await rig();
  const { max_tokens: _, reasoning: _reasoning, text: _text, tool_choice: _choice, ...body } = BODY;
  const sent = async (more: Any) => {
    const response = await gateway.post("/v1/chat/completions", {
      ...body,
      stream: false,
      messages: null,
      model: "openai-responses/model",
      ...more,
    });
    assertEquals(
      [response.status, response.headers.get("x-svc-dropped")],
      [200, null],
      await response.text(),
    );
    const { max_output_tokens, reasoning, text, tool_choice } = provider.seen.at(-1)!.body as Any;
    assert(!("messages" in provider.seen.at(-1)!.body));
    return { max_output_tokens, reasoning, text, tool_choice };
  };
  const nothing = {
    max_output_tokens: undefined,
    reasoning: undefined,
    text: undefined,
    tool_choice: undefined,
  };
  assertEquals(await sent({ reasoning_effort: null, verbosity: null, max_tokens: null }), nothing);
  assertEquals((await sent({ max_tokens: 5, max_completion_tokens: 6 })).max_output_tokens, 6);
  assertEquals((await sent({ max_completion_tokens: 6, max_output_tokens: 7 })).max_output_tokens, 7);
  assertEquals((await sent({ reasoning: { effort: "high" }, reasoning_effort: "low" })).reasoning, {
    effort: "high",
  });
  assertEquals((await sent({ reasoning: { summary: "auto" }, reasoning_effort: "low" })).reasoning, {
    effort: "low",
    summary: "auto",
  });
  assertEquals((await sent({ text: { verbosity: "low" }, verbosity: "high" })).text, { verbosity: "low" });
  const format = { type: "json_object" };
  assertEquals((await sent({ text: { verbosity: "low" }, response_format: format })).text, {
    format,
    verbosity: "low",
  });
  const custom = { type: "custom", name: "ApplyPatch" };
  assertEquals((await sent({ tool_choice: "required" })).tool_choice, "required");
  for (const choice of [custom, { type: "custom", custom: { name: "ApplyPatch" } }]) {
    assertEquals((await sent({ tool_choice: choice })).tool_choice, custom);
  }
  const tools = [{ type: "function", function: { name: "Read" } }, {
    type: "custom",
    custom: { name: "ApplyPatch" },
  }];
  assertEquals(
    (await sent({ tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools } } }))
      .tool_choice,
    { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "Read" }, custom] },
  );
  await close();
});

Deno.test("screening leaves ids and proofs of such a request as they are, and reads its summaries", async () => {
  const { provider, gateway, close } = await rig();
  const stop_words = [{ value: "bluebird" }];
  const call_id = "call_bluebird";
  const compacted = await gateway.post("/v1/responses/compact", {
    model: "openai-chat/model",
    input: [{ role: "user", content: "Hi" }],
  });
  const { output: [, summary] } = await compacted.json();
  assertEquals(summary.type, "compaction");
  const post = (model: string, input: Any[], mode: string, words: Any[]) =>
    gateway.post("/v1/chat/completions", {
      model: `${model}/model`,
      input,
      plugins: { dlp: { mode, stop_words: words } },
    });
  const input = [
    { role: "user", content: "Read bluebird" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "bluebird" },
    { type: "function_call", id: "fc_1", call_id, name: "Read", arguments: '{"path":"bluebird"}' },
    { type: "function_call_output", call_id, output: "bluebird" },
  ];
  const masked = await post("openai-responses", input, "mask", stop_words);
  assertEquals(masked.status, 200, await masked.text());
  const [user, reasoning, call, output] = (provider.seen.at(-1)!.body as Any).input;
  assertEquals([reasoning.encrypted_content, call.call_id, output.call_id], ["bluebird", call_id, call_id]);
  for (const text of [JSON.stringify(user), call.arguments, output.output]) {
    assert(!text.includes("bluebird"));
  }
  // The provider's summary is "hi".
  const blocked = await post("openai-chat", [summary, { role: "user", content: "Go on" }], "block", [
    { value: "hi" },
  ]);
  assertEquals(blocked.status, 403, await blocked.text());
  await close();
});

Deno.test("calls for such a request are calls of chat-completions, freeform ones too", async () => {
  const call = (name: string, args: string, i: number) => ({
    index: i,
    id: `call_${i}`,
    type: "function",
    function: { name, arguments: args },
  });
  const { gateway, close } = await rig(() =>
    sseResponse([
      `data: ${
        JSON.stringify({
          id: "c",
          model: "m",
          choices: [{
            index: 0,
            delta: {
              tool_calls: [call("Read", '{"path":"b.ts"}', 0), call("ApplyPatch", '{"input":"*** End"}', 1)],
            },
            finish_reason: "tool_calls",
          }],
        })
      }\n\n`,
      "data: [DONE]\n\n",
    ])
  );
  const response = await gateway.post("/v1/chat/completions", { ...BODY, model: "openai-chat/model" });
  const chunks = (await response.text()).split("\n\n").filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice(6)));
  const deltas = chunks.flatMap((chunk: Any) => chunk.choices[0]?.delta.tool_calls ?? []);
  const joined = (index: number) => {
    const own = deltas.filter((delta: Any) => delta.index === index);
    const text = own.map((d: Any) => d.function?.arguments ?? d.custom?.input ?? "").join("");
    return [own[0].type, (own[0].function ?? own[0].custom).name, text];
  };
  assertEquals([joined(0), joined(1)], [
    ["function", "Read", '{"path":"b.ts"}'],
    ["custom", "ApplyPatch", "*** End"],
  ]);
  assertEquals(
    chunks.findLast((c: Any) => c.choices[0]?.finish_reason)?.choices[0].finish_reason,
    "tool_calls",
  );
  await close();
});

Deno.test("such a request is screened, and its mistakes are named as chat-completions' are", async () => {
  const { provider, gateway, close } = await rig();
  const post = (body: Any) => gateway.post("/v1/chat/completions", { model: "openai-chat/model", ...body });
  const input = [{ role: "user", content: "The project is Bluebird." }];
  const stop_words = [{ value: "Bluebird" }];
  const masked = await post({ input, plugins: { dlp: { mode: "mask", stop_words } } });
  assertEquals(masked.status, 200);
  await masked.body?.cancel();
  assertEquals([provider.seen.length, provider.seen[0].text.includes("Bluebird")], [1, false]);
  const blocked = await post({ input, plugins: { dlp: { mode: "block", stop_words } } });
  const { error } = await blocked.json();
  assertEquals([blocked.status, error.code, error.extra.dlp.length], [403, "dlp_violation", 1]);
  const wrong = await post({ input: [{ role: "nobody", content: "x" }] });
  const body = await wrong.json();
  assertEquals([wrong.status, body.error.code, body.error.extra.errors[0].loc], [
    422,
    "validation_error",
    ["input", 0, "role"],
  ]);
  for (const missing of [{}, { input: "Hi" }, { messages: null }]) {
    const { status } = await post(missing);
    assertEquals(status, 422);
  }
  const both = await post({ messages: [{ role: "user", content: "of the messages" }], input });
  assertEquals(both.status, 200);
  await both.body?.cancel();
  assert(provider.seen.at(-1)!.text.includes("of the messages"));
  await close();
});
