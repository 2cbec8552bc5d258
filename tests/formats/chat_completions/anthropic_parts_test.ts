/** Tools, calls, results and images in Anthropic's format, as Cursor sends them over chat-completions to models named `claude`. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../../support/gateway.ts";
import { loopbackProvider } from "../../support/provider.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { convert } from "../conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const parameters = { type: "object", properties: { path: { type: "string" } } };
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const CURSOR = {
  tools: [{ name: "read", description: "Reads", input_schema: parameters }],
  tool_choice: { type: "auto" },
  messages: [
    { role: "user", content: [IMAGE, { type: "text", text: "Read a" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I read." },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
        { type: "tool_use", id: "toolu_2", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "one" }] },
        { type: "tool_result", tool_use_id: "toolu_2", content: "no such file", is_error: true },
        { type: "text", text: "Go on" },
      ],
    },
  ],
};

const to = (
  target: "messages" | "chat_completions" | "responses" | "gemini" | "converse",
  body: Any = CURSOR,
) => convert("chat_completions", body, target, "m");

Deno.test("Anthropic's tools, calls and results in chat-completions reach Claude as they are", () => {
  const { body, dropped } = to("messages");
  const { messages, tools, tool_choice } = body as Any;
  assertEquals(tools, CURSOR.tools);
  assertEquals(tool_choice, { type: "auto" });
  assertEquals(messages[0].content, CURSOR.messages[0].content);
  assertEquals(messages[1].content, CURSOR.messages[1].content);
  assertEquals(messages[2].content, [
    { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "one" }] },
    { type: "tool_result", tool_use_id: "toolu_2", content: "no such file", is_error: true },
    { type: "text", text: "Go on" },
  ]);
  assertEquals(dropped, []);
});

Deno.test("Anthropic's tools, calls and results reach chat-completions servers in this format", () => {
  const { messages, tools, tool_choice } = to("chat_completions").body as Any;
  assertEquals(tools, [{ type: "function", function: { name: "read", description: "Reads", parameters } }]);
  assertEquals(tool_choice, "auto");
  assertEquals(messages[0].content[0], {
    type: "image_url",
    image_url: { url: "data:image/png;base64,iVBORw0KGgo=" },
  });
  assertEquals(
    messages[1].tool_calls.map(({ id, function: { name, arguments: args } }: Any) => [id, name, args]),
    [["toolu_1", "read", '{"path":"a"}'], ["toolu_2", "read", "{}"]],
  );
  assertEquals(messages.slice(2).map(({ role, tool_call_id }: Any) => [role, tool_call_id]), [
    ["tool", "toolu_1"],
    ["tool", "toolu_2"],
    ["user", undefined],
  ]);
});

Deno.test("Anthropic's calls and results reach every other API, each result with its call", () => {
  for (const target of ["responses", "gemini", "converse"] as const) {
    const text = JSON.stringify(to(target).body);
    for (const said of ["one", "no such file", "Go on", "toolu_1", "toolu_2", "iVBORw0KGgo="]) {
      assertEquals(text.includes(said), true, `${target}: ${said}`);
    }
  }
});

Deno.test("a block that belongs to the other role, or is incomplete, is no call and no result", () => {
  for (
    const [role, block] of [
      ["user", { type: "tool_use", id: "a", name: "f", input: {} }],
      ["assistant", { type: "tool_result", tool_use_id: "a", content: "r" }],
      ["user", { type: "tool_result", content: "r" }],
      ["user", { type: "image", source: { type: "file", file_id: "x" } }],
    ] as const
  ) {
    const messages = [{ role: "user", content: "Hi" }, { role, content: [block] }];
    const { body } = to("chat_completions", { messages });
    assertEquals((body as Any).messages[1], messages[1]);
  }
});

Deno.test("forms of tool_choice of other APIs reach OpenAI in its own form, and its own as they were", () => {
  const choose = (tool_choice: unknown) =>
    (to("chat_completions", { ...CURSOR, tool_choice }).body as Any).tool_choice;
  const named = { type: "function", function: { name: "read" } };
  for (
    const [given, sent] of [
      [{ type: "any" }, "required"],
      // Mistral's own.
      ["any", "any"],
      [{ type: "none" }, "none"],
      [{ type: "tool", name: "read" }, named],
      [{ type: "function", name: "read" }, named],
      [named, named],
      ["required", "required"],
    ]
  ) assertEquals(choose(given), sent);
});

Deno.test("results in Anthropic's format are screened as other text", async () => {
  await using provider = loopbackProvider(() =>
    Response.json({
      id: "c",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    })
  );
  await using gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const [ask, call, { content: [result] }] = CURSOR.messages as Any[];
  const answer = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    tools: CURSOR.tools,
    messages: [ask, call, {
      role: "user",
      content: [{ ...result, content: [{ type: "text", text: "Mail to ann.example@mail.example.com" }] }],
    }],
    plugins: { dlp: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
  });
  assertEquals(answer.status, 200, await answer.text());
  assertEquals(provider.seen[0].text.includes("ann.example"), false);
});

Deno.test("a call that is in the content and in tool_calls is one call", () => {
  const call = { id: "t1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
  const body = {
    model: "a/b",
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "t1", name: "f", input: { a: 1 } },
          { type: "tool_use", id: "t2", name: "f", input: { a: 2 } },
        ],
        tool_calls: [call, { ...call, id: "t3" }],
      },
      { role: "tool", tool_call_id: "t1", content: "one" },
    ],
  };
  const { turns } = CALLER_FORMATS.chat_completions.decodeRequest(body, {
    unseal: () => null,
    headers: () => ({}),
  });
  assertEquals(turns[1].content.map((c) => c.type === "call" ? c.id : c.type), ["text", "t1", "t2", "t3"]);
});
