/** What only OpenAI's own servers know of chat-completions: older functions, refusals of earlier answers, some fields. */
import { assertEquals } from "@std/assert";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { PRESETS } from "../../../src/providers/presets.ts";
import { REQUESTS_OF } from "./chat_servers.ts";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const SERVERS = PRESETS.filter(({ api, cloud }) => api === "openai-chat" && cloud === undefined)
  .map(({ name }) => name);
const LOOK = { name: "look", description: "Looks", parameters: { type: "object", properties: {} } };
const OLDER = {
  functions: [LOOK, { name: "find" }],
  function_call: { name: "look" },
  messages: [
    { role: "user", content: "Look" },
    { role: "assistant", content: null, function_call: { name: "look", arguments: '{"a":1}' } },
    { role: "function", name: "look", content: "first" },
    { role: "assistant", content: "Again", function_call: { name: "look", arguments: "{}" } },
    { role: "function", name: "look", content: "second" },
    { role: "function", name: "find", content: "of an earlier conversation" },
  ],
};

Deno.test("functions of the older form are tools for every server but OpenAI's", () => {
  for (const preset of [...SERVERS, "unlisted"]) {
    const { body } = sentRequest(preset, "chat_completions", OLDER);
    assertEquals([body.functions, body.function_call], [undefined, undefined], preset);
    const names = body.tools.map((tool: Any) => tool.function.name);
    const forced = preset === "perplexity" ? "required" : { type: "function", function: { name: "look" } };
    assertEquals(names, preset === "perplexity" ? ["look"] : ["look", "find"]);
    assertEquals([body.tools[0], body.tool_choice, body.parallel_tool_calls], [
      { type: "function", function: LOOK },
      forced,
      false,
    ], preset);
    const calls = body.messages.flatMap((m: Any) => m.tool_calls ?? []);
    const results = body.messages.filter((m: Any) => m.role === "tool");
    assertEquals(calls.map((c: Any) => c.function.arguments), ['{"a":1}', "{}"], preset);
    assertEquals(results.map((m: Any) => m.tool_call_id), calls.map((c: Any) => c.id), preset);
    assertEquals(results.map((m: Any) => m.content), ["first", "second"]);
    assertEquals(new Set(calls.map((c: Any) => c.id)).size, 2);
    assertEquals(body.messages.some((m: Any) => m.role === "function" || m.function_call), false, preset);
    assertEquals(JSON.stringify(body.messages).includes("of an earlier conversation"), true, preset);
    const { error } = REQUESTS_OF[preset]?.safeParse(body) ?? {};
    assertEquals(error?.issues ?? [], [], preset);
  }
});

Deno.test("OpenAI gets functions of the older form unchanged", () => {
  const { body } = sentRequest("openai", "chat_completions", OLDER);
  assertEquals(
    [body.functions, body.function_call, body.messages, body.tools],
    [OLDER.functions, OLDER.function_call, OLDER.messages, undefined],
  );
});

Deno.test("an earlier refusal is text for every server but OpenAI's", () => {
  const messages = [
    { role: "user", content: "Do it" },
    { role: "assistant", content: null, refusal: "I will not." },
    { role: "user", content: "Please" },
    {
      role: "assistant",
      content: [{ type: "text", text: "No. " }, { type: "refusal", refusal: "I still will not." }],
    },
    { role: "user", content: "Why?" },
  ];
  const CHAT = apiNamed("openai-chat");
  for (const preset of SERVERS) {
    // Others get it as it is.
    if (inDialect(CHAT, preset, "https://x.test") === CHAT) continue;
    const { body, dropped } = sentRequest(preset, "chat_completions", { messages });
    const said = body.messages.filter((m: Any) => m.role === "assistant").map(({ content }: Any) => content);
    assertEquals(said[0], "I will not.", preset);
    const parts = [{ type: "text", text: "No. " }, { type: "text", text: "I still will not." }];
    assertEquals(said[1], preset === "deepseek" ? "No. I still will not." : parts, preset);
    assertEquals([JSON.stringify(body).includes("refusal"), dropped], [false, []], preset);
  }
});

Deno.test("Mistral: a stored file is named beside the type of its part", () => {
  const content = [{ type: "file", file: { file_id: "00edaf84-95b0-45db-8f83-f71138491f23" } }];
  const { body } = sentRequest("mistral", "chat_completions", { messages: [{ role: "user", content }] });
  assertEquals(body.messages[0].content, [{
    type: "file",
    file_id: "00edaf84-95b0-45db-8f83-f71138491f23",
  }]);
});

Deno.test("Perplexity gets no JSON mode without a schema, and only its own levels of reasoning", () => {
  const messages = [{ role: "user", content: "Ann is 7. As JSON" }];
  const sent = (caller: Any, more: Any) => sentRequest("perplexity", caller, more, "sonar-reasoning-pro");
  for (
    const { body, dropped } of [
      sent("chat_completions", { messages, response_format: { type: "json_object" } }),
      sent("responses", { input: "Ann is 7.", text: { format: { type: "json_object" } } }),
    ]
  ) {
    assertEquals([body.response_format, dropped], [undefined, []]);
    assertEquals([body.messages.length, body.messages[0]], [2, {
      role: "system",
      content: "Answer with one valid JSON object and nothing else.",
    }]);
  }
  const format = {
    type: "json_schema",
    json_schema: { name: "n", schema: { type: "object", properties: {} } },
  };
  assertEquals(sent("chat_completions", { messages, response_format: format }).body.response_format, format);
  for (
    const [effort, level, lost] of [
      ["minimal", "minimal", []],
      ["xhigh", "high", []],
      ["none", undefined, ["reasoning_effort"]],
    ]
  ) {
    const { body, dropped } = sent("chat_completions", { messages, reasoning_effort: effort });
    assertEquals([body.reasoning_effort, dropped], [level, lost]);
  }
});

Deno.test("Fireworks gets none of the fields that it refuses, and only its own values", () => {
  const known = {
    messages: [{ role: "user", content: "Hi" }],
    user: "ann",
    metadata: { a: "b" },
    prompt_cache_key: "k",
    logprobs: true,
    top_logprobs: 2,
    seed: 7,
    logit_bias: { "1": 1 },
    prediction: { type: "content", content: "a" },
    service_tier: "priority",
    parallel_tool_calls: false,
    max_completion_tokens: 9,
  };
  const unknown = {
    store: true,
    safety_identifier: "ann",
    verbosity: "low",
    prompt_cache_options: { mode: "explicit" },
    prompt_cache_retention: "24h",
    moderation: { model: "m" },
    modalities: ["text"],
    audio: { voice: "alloy", format: "wav" },
    cache_control: { type: "ephemeral" },
  };
  const { body, dropped } = sentRequest("fireworks", "chat_completions", { ...known, ...unknown });
  assertEquals(body, { model: "m", ...known });
  assertEquals(dropped.toSorted(), Object.keys(unknown).toSorted());
  const effort = (reasoning_effort: string) =>
    sentRequest("fireworks", "chat_completions", { messages: known.messages, reasoning_effort }).body;
  assertEquals(["none", "minimal", "medium", "xhigh"].map((level) => effort(level).reasoning_effort), [
    "none",
    "low",
    "medium",
    "high",
  ]);
  const tier = sentRequest("fireworks", "responses", { input: "Hi", service_tier: "scale" });
  assertEquals([tier.body.service_tier, tier.dropped], [undefined, ["service_tier"]]);
});

Deno.test("OpenRouter gets freeform tools as functions, only the allowed tools, and its own tools unchanged", () => {
  const search = { type: "openrouter:datetime", parameters: { timezone: "UTC" } };
  const tools = [
    { type: "custom", custom: { name: "patch", format: { type: "text" } } },
    { type: "function", function: LOOK },
    search,
  ];
  const call = { id: "c1", type: "custom", custom: { name: "patch", input: "*** Begin" } };
  const messages = [
    { role: "user", content: "Go" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "Done" },
  ];
  const { body } = sentRequest("openrouter", "chat_completions", { messages, tools });
  assertEquals(body.tools.map(({ type, function: called }: Any) => [type, called?.name]), [
    ["function", "patch"],
    ["function", "look"],
    [search.type, undefined],
  ]);
  assertEquals(body.tools[2], search);
  assertEquals(body.messages[1].tool_calls, [{
    id: "c1",
    type: "function",
    function: { name: "patch", arguments: '{"input":"*** Begin"}' },
  }]);
  const allowed = { mode: "required", tools: [{ type: "function", function: { name: "look" } }] };
  const chosen = sentRequest("openrouter", "chat_completions", {
    messages: messages.slice(0, 1),
    tools: tools.slice(0, 2),
    tool_choice: { type: "allowed_tools", allowed_tools: allowed },
  }).body;
  assertEquals([chosen.tools, chosen.tool_choice], [[tools[1]], "required"]);
});

Deno.test("servers that give one answer only are asked once for each", () => {
  const ONE = ["cohere", "deepseek", "groq", "llamacpp", "lmstudio", "ollama", "perplexity", "zai"];
  const CHAT = apiNamed("openai-chat");
  const asked = SERVERS.filter((preset) =>
    !inDialect(CHAT, preset, "https://x.test").severalAnswers(false, 2)
  );
  assertEquals(asked.toSorted(), ONE);
});

Deno.test("each server gets the name of the output limit, and the roles, that it knows", () => {
  const messages = [
    { role: "developer", content: "a" },
    { role: "user", content: "b" },
    { role: "assistant", content: "c" },
    { role: "system", content: "d" },
    { role: "user", content: "e" },
  ];
  const bodies = Object.fromEntries(SERVERS.map((preset) => [
    preset,
    sentRequest(preset, "chat_completions", { messages, max_completion_tokens: 9 }).body,
  ]));
  const those = (is: (body: Any) => boolean) => SERVERS.filter((preset) => is(bodies[preset])).toSorted();
  const OLDER_CAP =
    "alibaba cohere deepinfra deepseek huggingface llamacpp lmstudio mistral nvidia ollama perplexity together zai";
  assertEquals(
    those((body) => body.max_tokens === 9 && !("max_completion_tokens" in body)).join(" "),
    OLDER_CAP,
  );
  const rest = "fireworks moonshot nebius vllm".split(" ");
  assertEquals(
    those(({ messages }) => messages[0].role === "system"),
    [...OLDER_CAP.split(" "), ...rest].toSorted(),
  );
  assertEquals(
    those(({ messages }) =>
      messages.filter(({ role }: Any) => role === "system").length <= 1 && messages.length === 4
    ).join(" "),
    "alibaba fireworks llamacpp lmstudio perplexity vllm",
  );
});
