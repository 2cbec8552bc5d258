/** Servers of chat-completions that refuse, or do not hear, what OpenAI takes. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { PRESETS } from "../../../src/providers/presets.ts";
import { type Caller, CALLERS } from "../../formats/conversions.ts";
import { REQUESTS } from "../../formats/random_requests.ts";
import { testGateway } from "../../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../../support/provider.ts";
import { REQUESTS_OF } from "./chat_servers.ts";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CHAT = apiNamed("openai-chat");

for (const preset of Object.keys(REQUESTS_OF)) {
  for (const caller of CALLERS) {
    Deno.test(`${preset} takes whatever ${caller} callers send by chance`, () => {
      const wrong = new Set<string>();
      let sent = 0;
      for (const body of fc.sample(REQUESTS[caller], { numRuns: 300, seed: 17 })) {
        // What nobody but the caller knows is the caller's to send.
        const { vendor_field: _, top_k: __, ...known } = body as Any;
        let request;
        try {
          request = sentRequest(preset, caller, known);
        } catch (thrown) {
          assert(thrown instanceof Failure, String(thrown));
          continue;
        }
        sent++;
        const { error } = REQUESTS_OF[preset].safeParse(request.body);
        if (error) {
          wrong.add(`${error.issues[0].path.join(".").replace(/\d+/g, "N")}: ${error.issues[0].message}`);
        }
      }
      assertEquals([...wrong], []);
      assert(sent > 150, `${sent}`);
    });
  }
}

const CALL = { type: "function", function: { name: "look", arguments: "{}" } };
const HISTORY = [
  { role: "developer", content: [{ type: "text", text: "Be brief." }] },
  {
    role: "user",
    name: "Ann",
    content: [{ type: "text", text: "Look", cache_control: { type: "ephemeral" } }],
  },
  {
    role: "assistant",
    content: null,
    refusal: null,
    annotations: [],
    reasoning_content: "I look.",
    tool_calls: [
      { index: 0, id: "call_0fypS1hVXKq", ...CALL },
      { id: "D681PevKs", ...CALL },
      { id: "call_0fypS1hVXKr", ...CALL },
    ],
  },
  { role: "tool", tool_call_id: "call_0fypS1hVXKq", content: [{ type: "text", text: "one" }] },
  { role: "tool", tool_call_id: "D681PevKs", content: "two" },
  { role: "tool", tool_call_id: "call_0fypS1hVXKr", content: "three" },
];
const WISHES = {
  stream: true,
  stream_options: { include_usage: true },
  max_completion_tokens: 50,
  seed: 7,
  user: "ann",
  store: false,
  logit_bias: { "1": 1 },
  service_tier: "default",
  messages: HISTORY,
};

Deno.test("a chat caller's history from elsewhere, and OpenAI's own fields, are what each server takes", () => {
  for (const preset of Object.keys(REQUESTS_OF)) {
    const { body } = sentRequest(preset, "chat_completions", WISHES);
    assertEquals(REQUESTS_OF[preset].safeParse(body).error?.issues ?? [], [], preset);
  }
});

Deno.test("Mistral: fields have its names, and calls and results the same ids", () => {
  const { body, dropped } = sentRequest("mistral", "chat_completions", WISHES);
  const { messages, ...fields } = body;
  assertEquals(fields, { model: "m", stream: true, max_tokens: 50, random_seed: 7 });
  assertEquals(dropped.sort(), ["logit_bias", "messages.name", "service_tier", "store", "user"]);
  assertEquals(messages.map(({ role }: Any) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
    "tool",
  ]);
  const ids = messages[2].tool_calls.map(({ id }: Any) => id);
  assertEquals(ids[1], "D681PevKs");
  assertEquals(new Set(ids).size, 3);
  assertEquals(messages.slice(3).map((m: Any) => m.tool_call_id), ids);
  // The same in the next request, or its cache would not know the prompt again.
  assertEquals(sentRequest("mistral", "chat_completions", WISHES).body.messages, messages);
});

Deno.test("Mistral: files are documents, and a caller of messages is told what was left out by its own names", () => {
  const { body, dropped } = sentRequest("mistral", "messages", {
    max_tokens: 9,
    metadata: { user_id: "ann" },
    messages: [{
      role: "user",
      content: [
        {
          type: "document",
          title: "a.pdf",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
        },
        { type: "text", text: "What is it?" },
      ],
    }],
  });
  assertEquals(body.messages[0].content[0], {
    type: "document_url",
    document_url: "data:application/pdf;base64,JVBERg==",
    document_name: "a.pdf",
  });
  assertEquals(dropped, ["metadata"]);
});

Deno.test("servers that do not hear max_completion_tokens, or refuse developer, are told the older words", () => {
  for (const preset of ["deepseek", "mistral", "ollama", "together", "zai", "nvidia", "alibaba"]) {
    const { body } = sentRequest(preset, "chat_completions", WISHES);
    assertEquals([body.max_tokens, body.max_completion_tokens], [50, undefined], preset);
    assertEquals(body.messages[0].role, "system", preset);
    // A caller of another format names a cap, and the model reasons.
    const other = sentRequest(preset, "messages", {
      max_tokens: 60,
      messages: [{ role: "user", content: "Hi" }],
    });
    assertEquals([other.body.max_tokens, other.body.max_completion_tokens], [60, undefined], preset);
  }
});

Deno.test("DeepSeek: lists of texts are one string", () => {
  const { body } = sentRequest("deepseek", "chat_completions", {
    messages: [
      ...HISTORY,
      { role: "assistant", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
      { role: "user", content: [{ type: "text", text: "c" }, { type: "text", text: "d" }] },
    ],
  });
  assertEquals(body.messages.map(({ content }: Any) => content), [
    "Be brief.",
    "Look",
    null,
    "one",
    "two",
    "three",
    "ab",
    "c\n\nd",
  ]);
});

/** What each server said to these, and to which it does not object. */
const FORCED = [
  ["moonshot", "kimi-k2.6", "thinking", { type: "disabled" }],
  ["moonshot", "kimi-k2.5", "thinking", { type: "disabled" }],
  ["deepseek", "deepseek-v4-flash", "thinking", { type: "disabled" }],
  ["alibaba", "qwen3.5-plus", "enable_thinking", false],
] as const;

const TOOLS = ["look", "ask"].map((name) => ({ type: "function", function: { name } }));
const LOOK = { type: "function", function: { name: "look" } };

Deno.test("models that would think are told not to where a call is demanded", () => {
  const ask = [{ role: "user", content: "Hi" }];
  for (const [preset, model, field, off] of FORCED) {
    const send = (more: Any, caller: Caller = "chat_completions") =>
      sentRequest(preset, caller, { messages: ask, tools: TOOLS, ...more }, model);
    for (const tool_choice of ["required", LOOK]) {
      const { body, dropped } = send({ tool_choice });
      assertEquals([body.tool_choice, body[field], dropped], [tool_choice, off, []]);
      const wished = send({ tool_choice, reasoning_effort: "high" });
      assertEquals([wished.body[field], wished.body.reasoning_effort, wished.dropped], [
        off,
        undefined,
        ["reasoning_effort"],
      ]);
    }
    for (const tool_choice of ["auto", "none", undefined]) {
      assertEquals(field in send({ tool_choice }).body, false);
    }
    const own = field === "thinking" ? { type: "enabled" } : true;
    assertEquals(send({ tool_choice: "required", [field]: own }).body[field], own);
    const other = send({
      max_tokens: 4000,
      tools: [{ name: "look", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
      thinking: { type: "enabled", budget_tokens: 2000 },
    }, "messages");
    assertEquals([other.body.tool_choice, other.body[field], other.dropped], ["required", off, ["thinking"]]);
  }
  for (const [preset, model] of [["moonshot", "kimi-k2-0905-preview"], ["deepseek", "deepseek-chat"]]) {
    const { body } = sentRequest(preset, "chat_completions", {
      messages: ask,
      tools: TOOLS,
      tool_choice: "required",
    }, model);
    assertEquals([body.tool_choice, "thinking" in body], ["required", false], model);
  }
});

Deno.test("Moonshot: what always thinks is asked in words, and Kimi K3 takes one tool by having no other", () => {
  const ask = [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }];
  for (const model of ["kimi-k2.7-code", "kimi-k2-thinking-turbo"]) {
    const { body, dropped } = sentRequest("moonshot", "chat_completions", {
      messages: ask,
      tools: TOOLS,
      tool_choice: LOOK,
    }, model);
    assertEquals([body.tool_choice, body.tools.length, dropped], ["auto", 2, ["tool_choice"]]);
    assertEquals(
      body.messages[0].content,
      "Be brief.\n\nCall the tool look now: do not answer in words alone.",
    );
  }
  const named = sentRequest(
    "moonshot",
    "chat_completions",
    { messages: ask, tools: TOOLS, tool_choice: LOOK },
    "kimi-k3",
  );
  assertEquals([named.body.tool_choice, named.body.tools.map((t: Any) => t.function.name)], ["required", [
    "look",
  ]]);
  const any = sentRequest(
    "moonshot",
    "chat_completions",
    { messages: ask, tools: TOOLS, tool_choice: "required" },
    "kimi-k3",
  );
  assertEquals([any.body.tool_choice, any.body.tools.length, any.body.messages.length], ["required", 2, 2]);
});

Deno.test("an address tells who it is where no preset does; other servers get what was sent", () => {
  const at = (url: string, preset: string | null = null) => inDialect(CHAT, preset, url);
  assertEquals(at("https://api.mistral.ai/v1"), at("https://proxy.example", "mistral"));
  assertEquals(at("http://localhost:11434/v1"), at("https://proxy.example", "ollama"));
  assertEquals(at("https://mistral.ai.example/v1"), CHAT);
  assertEquals(at("https://api.mistral.ai/v1", "github"), CHAT);
  assertEquals(at("", null), CHAT);
  const responses = apiNamed("openai-responses");
  assertEquals(inDialect(responses, "mistral", ""), responses);
  const named = new Set(PRESETS.map(({ name }) => name));
  for (const { baseUrl, name } of PRESETS) {
    if (baseUrl.includes("$") || baseUrl === "") continue;
    // The vendor's own address means the same as its name. Ports of small servers are anybody's.
    if (!["llamacpp", "vllm"].includes(name)) assertEquals(at(baseUrl), at("https://x.example", name), name);
  }
  assert(named.has("mistral"));
});

Deno.test("a server that refuses fields and gives one answer serves all callers, and several answers", async () => {
  const server = loopbackProvider(({ body }) => {
    const { error } = REQUESTS_OF.groq.safeParse(body);
    if (error) return Response.json({ error: { message: error.issues[0].message } }, { status: 400 });
    const choice = (more: Any) => ({ id: "c", model: "m", choices: [{ index: 0, ...more }] });
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!body.stream) {
      return Response.json({
        ...choice({ message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }),
        object: "chat.completion",
        usage,
      });
    }
    const chunks = [choice({ delta: { content: "Hi" }, finish_reason: "stop" }), { choices: [], usage }];
    return sseResponse([...chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`), "data: [DONE]\n\n"]);
  });
  const { post, close } = await testGateway({
    up: { api: "openai-chat", url: `${server.url}/v1`, more: { preset: "groq" } },
    route: {
      api: "openai-responses",
      url: `${server.url}/v1`,
      more: { preset: "groq" },
      model: {
        routes: [{ provider: "route", model: "m", api: "openai-chat" }],
      },
    },
  });
  const messages = [{ role: "user", name: "Ann", content: "Hi" }];
  try {
    for (const model of ["up/model", "route/model"]) {
      for (const stream of [false, true]) {
        const chat = await post("/v1/chat/completions", { model, messages, stream, n: 2, verbosity: "low" });
        assertEquals(chat.status, 200, await chat.clone().text());
        const text = await chat.text();
        assert(text.includes('"index":1'), text);
        const said = [{ role: "user", content: "Hi" }];
        const other = await post("/v1/messages", { model, messages: said, stream, max_tokens: 9 });
        assert((await other.text()).includes("Hi"));
        const third = await post("/v1/responses", { model, input: "Hi", stream, top_logprobs: 2 });
        assert((await third.text()).includes("Hi"));
      }
    }
  } finally {
    await close();
    await server.close();
  }
});

Deno.test("Mistral gets the parameters of each function, and a prediction as one string", () => {
  const { body } = sentRequest("mistral", "chat_completions", {
    messages: [{ role: "user", content: "a" }],
    tools: [{ type: "function", function: { name: "f" } }],
    prediction: { type: "content", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
  });
  assertEquals(body.tools, [{
    type: "function",
    function: { name: "f", parameters: { type: "object", properties: {} } },
  }]);
  assertEquals(body.prediction, { type: "content", content: "ab" });
});

Deno.test("values that only OpenAI knows do not reach Groq, Cerebras and Together", () => {
  const content = [
    { type: "text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } },
    { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "original" } },
  ];
  const messages = [{ role: "user", content }];
  const sent = (preset: string, effort: string) =>
    sentRequest(preset, "chat_completions", { messages, reasoning_effort: effort, service_tier: "scale" });
  for (const preset of ["groq", "cerebras", "together"]) {
    for (const [effort, expected] of [["minimal", "low"], ["xhigh", "high"], ["none", "none"]]) {
      assertEquals(sent(preset, effort).body.reasoning_effort, expected, preset);
    }
  }
  const { body, dropped } = sent("groq", "low");
  assertEquals(body.messages[0].content, [
    { type: "text", text: "a" },
    { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "high" } },
  ]);
  assertEquals(body.service_tier, undefined);
  assertEquals(dropped, ["service_tier"]);
  assertEquals(sent("cerebras", "low").body.service_tier, undefined);
});

Deno.test("Perplexity gets one message of each side by turns, the user's first and last", () => {
  const sent = (messages: Any[]) =>
    sentRequest("perplexity", "chat_completions", { messages }, "sonar").body.messages.map((
      { role, content }: Any,
    ) => [role, content]);
  const m = (role: string, content: unknown) => ({ role, content });
  assertEquals(sent([m("system", "s"), m("user", "a"), m("user", "b")]), [["system", "s"], [
    "user",
    "a\n\nb",
  ]]);
  assertEquals(sent([m("assistant", "a"), m("assistant", "b"), m("system", "s")]), [
    ["user", "(The conversation begins earlier.)"],
    ["assistant", "a\n\nb"],
    ["user", "<system>\ns\n</system>"],
  ]);
  assertEquals(sent([m("user", "a"), m("assistant", "b")]), [
    ["user", "a"],
    ["assistant", "b"],
    ["user", "Continue."],
  ]);
  assertEquals(sent([m("system", "s")]), [["user", "s"]]);
});

Deno.test("Qwen models that reason only in streams do not reason in whole answers", () => {
  const sent = (model: string, more: Any = {}) =>
    sentRequest(
      "alibaba",
      "chat_completions",
      { messages: [{ role: "user", content: "a" }], ...more },
      model,
    );
  assertEquals(sent("qwen3-32b").body.enable_thinking, false);
  assertEquals(sent("qwen3-235b-a22b", { reasoning_effort: "high" }).dropped, ["reasoning_effort"]);
  assertEquals(sent("qwen3-32b", { stream: true }).body.enable_thinking, undefined);
  assertEquals(sent("qwen3-32b", { enable_thinking: true }).body.enable_thinking, true);
  for (const model of ["qwen-plus", "qwen3-max", "qwen3-30b-a3b-instruct-2507", "qwen3.5-plus"]) {
    assertEquals(sent(model).body.enable_thinking, undefined, model);
  }
});
