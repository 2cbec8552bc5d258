/** Small print of requests that used to get lost between two formats. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { searchTool } from "../../src/pipeline/search/prompts.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { convert, decode, encode } from "./conversions.ts";

const ASK = { role: "user", content: "Hi" };
const chat = (more: Loose) => ({ messages: [ASK], ...more });
const messages = (more: Loose) => ({ max_tokens: 4000, messages: [ASK], ...more });
const responses = (more: Loose) => ({ input: "Hi", ...more });
// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("reasoning items in a row all go back to a provider of responses", () => {
  const item = (n: number) => ({ type: "reasoning", id: `rs_${n}`, summary: [], encrypted_content: `E${n}` });
  const input = [
    ASK,
    item(1),
    item(2),
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "1" },
    item(3),
    item(4),
  ];
  const { body } = convert("responses", { input }, "responses", "gpt-5-mini");
  // What follows nothing belongs to nothing.
  assertEquals((body.input as Loose[]).map((i) => i.encrypted_content ?? i.type ?? i.role), [
    "user",
    "E1",
    "E2",
    "function_call",
    "function_call_output",
  ]);
});

/** Recorded at OpenAI: with an id and a message without one behind it 400, eight times 200 without the id. */
Deno.test("reasoning goes back without its id where other words follow than those that came with it", () => {
  const reasoning = (n: number) => ({
    type: "reasoning",
    id: `rs_${n}`,
    summary: [],
    encrypted_content: "E",
  });
  const message = (more: Loose) => ({
    ...more,
    role: "assistant",
    content: [{ type: "output_text", text: "Ok", annotations: [] }],
  });
  const call = (more: Loose) => [
    { type: "function_call", call_id: "c", name: "f", arguments: "{}", ...more },
    { type: "function_call_output", call_id: "c", output: "1" },
  ];
  const search = { type: "svc:web_search", id: "ws_1", status: "completed", action: { type: "search" } };
  const ids = (...between: Loose[]) => {
    const { body } = convert("responses", { input: [ASK, ...between, ASK] }, "responses", "gpt-5-mini");
    return (body.input as Loose[]).filter((i) => i.type === "reasoning").map((i) => i.id ?? null);
  };
  assertEquals(ids(reasoning(1), message({})), [null]);
  assertEquals(ids(reasoning(1), message({ id: "msg_1", type: "message", status: "completed" })), ["rs_1"]);
  // As recorded, twice.
  assertEquals(ids(reasoning(1), ...call({})), ["rs_1"]);
  assertEquals(ids(reasoning(1), ...call({ id: "fc_1" })), ["rs_1"]);
  // What came behind the first was a search of the gateway's, which no history holds.
  assertEquals(ids(reasoning(1), search, reasoning(2), message({ id: "msg_1", type: "message" })), [
    null,
    "rs_2",
  ]);
});

Deno.test("pictures on their way, which no answer here has, are not asked for, and named", () => {
  const tool = { type: "image_generation", size: "1024x1024" };
  const asked = (more: Loose) =>
    convert(
      "responses",
      responses({ stream: true, tools: [{ ...tool, ...more }] }),
      "responses",
      "gpt-5-mini",
    );
  const { body, dropped } = asked({ partial_images: 2 });
  assertEquals([body.tools, dropped], [[tool], ["tools.partial_images"]]);
  assertEquals(asked({ partial_images: 0 }).dropped, []);
});

Deno.test("the output of a function may come without its call", () => {
  for (const call_id of [undefined, null]) {
    const output = {
      type: "function_call_output",
      name: "clock",
      output: "It is noon",
      ...(call_id === null && { call_id }),
    };
    const input = [ASK, output, ASK];
    const own = convert("responses", { input }, "responses", "gpt-5-mini").body as Any;
    assertEquals(own.input[1], { type: "function_call_output", name: "clock", output: "It is noon" });
    for (
      const [target, model] of [
        ["chat_completions", "gpt-4o"],
        ["messages", "claude-haiku-4-5"],
        ["gemini", "gemini-2.5-pro"],
        ["converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
      ] as const
    ) {
      const written = JSON.stringify(convert("responses", { input }, target, model).body);
      assertStringIncludes(written, "It is noon");
      assertStringIncludes(written, "clock");
    }
  }
  const custom = { type: "custom_tool_call_output", output: "x" };
  assertThrows(() => decode("responses", { model: "acme/one", input: [ASK, custom] }), Failure, "call_id");
});

const CUSTOM = {
  tools: [{
    type: "custom",
    custom: {
      name: "patch",
      format: { type: "grammar", grammar: { syntax: "lark", definition: "start: /[a-z]+/" } },
    },
  }],
  messages: [
    ASK,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: "abc" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "done" },
  ],
};

Deno.test("the result of a custom tool's call is a custom result to responses", () => {
  const { body } = convert("chat_completions", CUSTOM, "responses", "gpt-5-mini");
  assertEquals((body.input as Loose[]).map((i) => i.type ?? i.role), [
    "user",
    "custom_tool_call",
    "custom_tool_call_output",
  ]);
  // A client that answers with the wrong kind is put right.
  const input = [
    ASK,
    { type: "custom_tool_call", call_id: "c", name: "patch", input: "abc" },
    { type: "function_call_output", call_id: "c", output: "done" },
  ];
  const own = convert("responses", { input }, "responses", "gpt-5-mini").body.input as Loose[];
  assertEquals(own.at(-1)!.type, "custom_tool_call_output");
});

Deno.test("a custom tool's grammar is told to providers that have functions only", () => {
  for (const [target, model] of [["messages", "claude-sonnet-4-6"], ["gemini", "gemini-3-pro"]] as const) {
    const nested = JSON.stringify(convert("chat_completions", CUSTOM, target, model).body.tools);
    assertStringIncludes(nested, "lark");
    assertStringIncludes(nested, "start: /[a-z]+/");
    const flat = {
      type: "custom",
      name: "patch",
      format: { ...CUSTOM.tools[0].custom.format.grammar, type: "grammar" },
    };
    const own = JSON.stringify(convert("responses", responses({ tools: [flat] }), target, model).body.tools);
    assertStringIncludes(own, "start: /[a-z]+/");
  }
});

Deno.test("a failed tool without words is said to have failed in every format", () => {
  for (const content of [undefined, "", [], [{ type: "text", text: " " }]]) {
    const body = messages({
      messages: [
        ASK,
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", is_error: true, content }] },
      ],
    });
    const toChat = convert("messages", body, "chat_completions", "gpt-5-mini").body as Any;
    assertStringIncludes(toChat.messages.at(-1).content, "failed");
    const toResponses = convert("messages", body, "responses", "gpt-5-mini").body as Any;
    assertStringIncludes(toResponses.input.at(-1).output, "failed");
    const toGemini = convert("messages", body, "gemini", "gemini-2.5-pro").body as Any;
    assertStringIncludes(toGemini.contents.at(-1).parts[0].functionResponse.response.error, "failed");
    const own = convert("messages", body, "messages", "claude-sonnet-4-6").body as Any;
    assertEquals(own.messages.at(-1).content[0].is_error, true);
  }
});

Deno.test("reasoning options that ask for nothing do not switch thinking on at Gemini", () => {
  for (const model of ["gemini-2.5-flash-lite", "gemini-3-flash"]) {
    for (const reasoning of [{}, { effort: null }, { context: "auto" }, { summary: null }]) {
      const { body } = convert("responses", responses({ reasoning }), "gemini", model);
      assertEquals(body.generationConfig, undefined);
    }
    for (const reasoning of [{}, { exclude: true }]) {
      const { body } = convert("chat_completions", chat({ reasoning }), "gemini", model);
      assertEquals(body.generationConfig, undefined);
    }
    const shown = convert("responses", responses({ reasoning: { summary: "auto" } }), "gemini", model)
      .body as Any;
    assertEquals(shown.generationConfig.thinkingConfig, { includeThoughts: true });
    const adaptive = convert("messages", messages({ thinking: { type: "adaptive" } }), "gemini", model)
      .body as Any;
    assert(adaptive.generationConfig.thinkingConfig.includeThoughts);
  }
});

Deno.test("the search tool of the gateway says whether it is strict, a caller's own as it was sent", () => {
  const tools = [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }];
  const { body } = convert("responses", responses({ tools }), "responses", "gpt-5-mini");
  assertEquals(body.tools, tools);
  const prompt = decode("responses", { model: "acme/one", ...responses({}) });
  const searching = encode({ ...prompt, tools: [searchTool([])] }, "responses", "gpt-5-mini");
  assertEquals((searching.body.tools as Loose[])[0].strict, false);
});

Deno.test("an empty reasoning text goes back to the chat provider that it came from", () => {
  for (const field of ["reasoning_content", "reasoning"]) {
    const said = {
      role: "assistant",
      content: null,
      [field]: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const body = { messages: [ASK, said, { role: "tool", tool_call_id: "c1", content: "1" }] };
    const sent = convert("chat_completions", body, "chat_completions", "deepseek-chat").body as Any;
    assertEquals(sent.messages[1], said);
    const foreign = convert("chat_completions", body, "messages", "claude-sonnet-4-6").body as Any;
    assertEquals(foreign.messages[1].content.map((b: Loose) => b.type), ["tool_use"]);
  }
});

Deno.test("references to stored items are passed over, and listed", () => {
  const input = [ASK, { type: "item_reference", id: "rs_1" }, { id: "msg_2" }];
  for (const [target, model] of [["responses", "gpt-5"], ["messages", "claude-haiku-4-5"]] as const) {
    assertEquals(convert("responses", { input }, target, model).dropped, ["item_reference"]);
  }
});

Deno.test("hints that a provider has no place for are listed, and mapped where it has", () => {
  const asked = {
    messages: [ASK],
    safety_identifier: "s",
    prompt_cache_retention: "24h",
    prompt_cache_key: "k",
  };
  const toResponses = convert("chat_completions", asked, "responses", "gpt-5");
  assertEquals(toResponses.dropped, []);
  assertEquals(toResponses.body.safety_identifier, "s");
  assertEquals(toResponses.body.prompt_cache_retention, "24h");
  assertEquals(toResponses.body.prompt_cache_key, "k");
  const toMessages = convert("chat_completions", asked, "messages", "claude-haiku-4-5");
  assertEquals(toMessages.dropped.toSorted(), [
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
  ]);
  const both = convert(
    "responses",
    responses({ user: "u", safety_identifier: "s" }),
    "messages",
    "claude-haiku-4-5",
  );
  assertEquals([both.body.metadata, both.dropped], [{ user_id: "u" }, ["safety_identifier"]]);
  const alone = convert("responses", responses({ safety_identifier: "s" }), "gemini", "gemini-2.5-pro");
  assertEquals(alone.dropped, ["safety_identifier"]);
  const tagged = messages({ metadata: { user_id: "u", team: "t" } });
  assertEquals(convert("messages", tagged, "chat_completions", "gpt-4o").dropped, ["metadata"]);
});

Deno.test("more alternatives of a token than Gemini tells are cut to its limit", () => {
  const asked = chat({ logprobs: true, top_logprobs: 30 });
  const { body } = convert("chat_completions", asked, "gemini", "gemini-2.5-pro") as Any;
  assertEquals(body.generationConfig.logprobs, 20);
});

Deno.test("output shapes that only some chat-completions servers have reach them, and are named as lost elsewhere", () => {
  const shapes = [
    { type: "grammar", grammar: 'root ::= "yes" | "no"' },
    { type: "regex", regex: { regex: "yes|no" } },
    { type: "structural_tag", structures: [], triggers: ["<f>"] },
    { type: "python" },
  ];
  for (const response_format of shapes) {
    const request = { messages: [{ role: "user", content: "Is it so?" }], response_format };
    for (const [target, model] of TARGETS) {
      for (const features of [null, new Set<string>()]) {
        const { body, dropped } = convert("chat_completions", request, target, model, { features });
        if (target === "chat_completions") {
          assertEquals([body.response_format, dropped], [response_format, []]);
        } else {
          assertEquals(dropped, ["response_format"], `${target} ${response_format.type}`);
          checkModelRequest(target, model, body);
        }
      }
    }
  }
});

Deno.test("the model's own level of reasoning is sent as it is named, and is no setting elsewhere", () => {
  const request = { messages: [{ role: "user", content: "Hi" }], reasoning_effort: "default" };
  for (const [target, model] of TARGETS) {
    const { body, dropped } = convert("chat_completions", request, target, model);
    const plain = convert("chat_completions", { messages: request.messages }, target, model);
    assertEquals(dropped, []);
    assertEquals(body, {
      ...plain.body,
      ...(target === "chat_completions" && { reasoning_effort: "default" }),
    });
  }
});
