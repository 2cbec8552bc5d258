/** Typed tools of the responses format that the client runs, at providers that do not know them. */
import { assert, assertEquals } from "@std/assert";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../../src/formats/mod.ts";
import { flattenTools } from "../../../src/exchange/tools.ts";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { testGateway } from "../../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../../support/provider.ts";
import { checkModelRequest, TARGETS } from "../check_model_request.ts";
import { convert, encode } from "../conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PIXEL = "iVBORw0KGgo=";
const TOOLS = [
  { type: "local_shell" },
  {
    type: "shell",
    environment: { type: "local", skills: [{ name: "pdf", description: "Reads PDF", path: "/s/pdf" }] },
  },
  { type: "apply_patch" },
  { type: "computer_use_preview", display_width: 1024, display_height: 768, environment: "browser" },
];
const LOCAL = {
  type: "exec",
  command: ["ls", "-l"],
  env: { A: "b" },
  timeout_ms: null,
  working_directory: "/w",
};
const HISTORY = [
  { role: "user", content: "Go" },
  { type: "local_shell_call", id: "lsh_1", call_id: "c1", action: LOCAL, status: "completed" },
  { type: "local_shell_call_output", id: "c1", output: "total 0", status: "completed" },
  {
    type: "shell_call",
    id: "sh_1",
    call_id: "c2",
    action: { commands: ["pwd", "id"], timeout_ms: 5000, max_output_length: null },
    status: "completed",
  },
  {
    type: "shell_call_output",
    call_id: "c2",
    output: [{ stdout: "/work", stderr: "a warning", outcome: { type: "exit", exit_code: 3 } }],
  },
  {
    type: "apply_patch_call",
    id: "apc_1",
    call_id: "c3",
    operation: { type: "update_file", path: "a.ts", diff: "@@\n-old line\n+new line" },
    status: "completed",
  },
  { type: "apply_patch_call_output", call_id: "c3", status: "failed", output: "no such line" },
  {
    type: "computer_call",
    id: "cu_1",
    call_id: "c4",
    action: { type: "click", x: 10, y: 20, button: "right" },
    pending_safety_checks: [],
    status: "completed",
  },
  {
    type: "computer_call_output",
    call_id: "c4",
    output: { type: "computer_screenshot", image_url: `data:image/png;base64,${PIXEL}` },
  },
];
/** What a model must read of the history. */
const SAID = [
  "ls",
  "/w",
  "total 0",
  "pwd",
  "5000",
  "a warning",
  "exit_code",
  "update_file",
  "new line",
  "no such line",
  "right",
  PIXEL,
];

Deno.test("client tools, their calls and results are functions for every other API", () => {
  for (const [target, model] of TARGETS) {
    const { body, dropped } = convert("responses", { tools: TOOLS, input: HISTORY }, target, model);
    const sent: Any = body;
    if (target === "responses") {
      assertEquals([sent.tools, sent.input], [TOOLS, HISTORY]);
      continue;
    }
    assertEquals(dropped, [], model);
    checkModelRequest(target, model, body);
    const text = JSON.stringify(body);
    for (const said of SAID) assert(text.includes(said), `${model}: ${said}`);
    const tools = target === "chat_completions"
      ? sent.tools.map((tool: Any) => tool.function)
      : target === "messages"
      ? sent.tools
      : target === "gemini"
      ? sent.tools[0].functionDeclarations
      : sent.toolConfig.tools.map((tool: Any) => tool.toolSpec);
    assertEquals(
      tools.map(({ name }: Any) => name),
      ["local_shell", "shell", "apply_patch", "computer"],
      model,
    );
    assert(tools[1].description.includes("pdf: Reads PDF (/s/pdf)"));
    assert(tools[3].description.includes("1024 by 768"));
  }
});

Deno.test("a function of the caller with the name of a client tool keeps it, and both have their own calls", () => {
  const own = { type: "function", name: "shell", parameters: { type: "object", properties: {} } };
  const body = {
    tools: [{ type: "shell" }, own],
    tool_choice: { type: "shell" },
    input: [
      ...HISTORY.slice(3, 5),
      { type: "function_call", call_id: "c9", name: "shell", arguments: '{"own":1}' },
      { type: "function_call_output", call_id: "c9", output: "of the caller's" },
      { role: "user", content: "Go on" },
    ],
  };
  const sent: Any = convert("responses", body, "chat_completions", "gpt-4o").body;
  const [typed, called] = sent.tools.map((tool: Any) => tool.function.name);
  assertEquals(called, "shell");
  assert(typed !== "shell");
  assertEquals(sent.tool_choice, { type: "function", function: { name: typed } });
  assertEquals(
    sent.messages.flatMap((m: Any) => m.tool_calls ?? []).map((c: Any) => c.function.name),
    [typed, "shell"],
  );
  const kept: Any = convert("responses", body, "responses", "gpt-5-mini").body;
  assertEquals([kept.tools, kept.tool_choice], [body.tools, { type: "shell" }]);
});

Deno.test("one client tool may be the only allowed one", () => {
  const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "apply_patch" }] };
  const body = { tools: TOOLS, input: "Go", tool_choice };
  const sent: Any = convert("responses", body, "messages", "claude-sonnet-4-6").body;
  assertEquals([sent.tools.map(({ name }: Any) => name), sent.tool_choice], [["apply_patch"], {
    type: "any",
  }]);
  assertEquals(convert("responses", body, "responses", "gpt-5-mini").body.tool_choice, tool_choice);
});

Deno.test("xAI gets its shell as it is, and the other client tools as functions", () => {
  const api = inDialect(apiNamed("openai-responses"), "xai", "https://api.x.ai/v1");
  const tool_choice = { type: "shell" };
  const prompt = CALLER_FORMATS.responses.decodeRequest(
    { model: "xai/grok-4", tools: TOOLS, input: HISTORY, tool_choice },
    { unseal: () => null, headers: () => ({}) },
  );
  const { prompt: flat } = flattenTools(prompt, api.toolForms("responses"));
  assertEquals(flat.tools.map((t) => t.kind === "opaque" ? t.value.type : t.name), [
    "local_shell",
    "shell",
    "apply_patch",
    "computer",
  ]);
  assertEquals(flat.tools.map(({ kind }) => kind), ["function", "opaque", "function", "function"]);
  const context = { model: "grok-4", stream: false, maxOutput: null, features: null, efforts: null };
  const { body } = PROVIDER_FORMATS.responses.encodeRequest(flat, context);
  assertEquals(body.tool_choice, tool_choice);
  const kinds = flat.turns.flatMap(({ content }) => content.map(({ type }) => type));
  assertEquals(kinds, ["text", "call", "result", "opaque", "opaque", "call", "result", "call", "result"]);
});

Deno.test("a call of a client tool has the proof that its model gave with it", () => {
  const input = [
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
    ...HISTORY.slice(3, 5),
  ];
  const prompt = CALLER_FORMATS.responses.decodeRequest({ model: "google/g", tools: TOOLS, input }, {
    unseal: () => ({ api: "gemini", kind: "signature", data: "SIG", call: "c2" }),
    headers: () => ({}),
  });
  const { body } = encode(prompt, "gemini", "gemini-3-pro-preview");
  const parts = (body.contents as Any[]).flatMap(({ parts }) => parts);
  assertEquals(parts.find(({ functionCall }) => functionCall)?.thoughtSignature, "SIG");
});

const CALLS: [string, unknown, Any][] = [
  ["local_shell", { command: ["ls"], working_directory: "/w" }, {
    type: "local_shell_call",
    action: { type: "exec", command: ["ls"], env: {}, working_directory: "/w" },
  }],
  ["shell", { commands: ["pwd"], timeout_ms: 9 }, {
    type: "shell_call",
    action: { commands: ["pwd"], timeout_ms: 9, max_output_length: null },
    environment: { type: "local" },
  }],
  ["apply_patch", { type: "delete_file", path: "a.ts" }, {
    type: "apply_patch_call",
    operation: { type: "delete_file", path: "a.ts" },
  }],
  ["computer", { type: "click", x: 1, y: 2 }, {
    type: "computer_call",
    action: { type: "click", x: 1, y: 2, button: "left" },
    actions: [{ type: "click", x: 1, y: 2, button: "left" }],
    pending_safety_checks: [],
  }],
];

/** A chat-completions provider that calls these functions. */
function calling(calls: readonly (readonly [string, string])[]) {
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: args },
  }));
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  return ({ body }: Seen) => {
    const head = { id: "c", model: "m", created: 1, usage };
    const choice = { index: 0, finish_reason: "tool_calls" };
    if (body.stream !== true) {
      const message = { role: "assistant", content: null, tool_calls };
      return Response.json({ ...head, object: "chat.completion", choices: [{ ...choice, message }] });
    }
    const chunk = {
      ...head,
      object: "chat.completion.chunk",
      choices: [{ ...choice, delta: { tool_calls } }],
    };
    return sseResponse([`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"]);
  };
}

async function answered(
  calls: readonly (readonly [string, string])[],
): Promise<{ whole: Any[]; streamed: Any[]; done: Any[] }> {
  await using provider = loopbackProvider(calling(calls));
  await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const ask = { model: "p/model", tools: TOOLS, input: "Go" };
  const whole = await (await gateway.post("/v1/responses", ask)).json();
  const stream = await (await gateway.post("/v1/responses", { ...ask, stream: true })).text();
  const events = stream.split("\n\n").flatMap((frame) => {
    const data = /^data: (\{.*)$/m.exec(frame)?.[1];
    return data === undefined ? [] : [JSON.parse(data)];
  });
  const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
  return { whole: whole.output, streamed: events.at(-1).response.output, done };
}

Deno.test("calls of client tools return as items of these tools, streamed or not", async () => {
  const { whole, streamed, done } = await answered(CALLS.map(([name, args]) => [name, JSON.stringify(args)]));
  const expected = CALLS.map(([, , item], i) => ({ ...item, call_id: `call_${i}`, status: "completed" }));
  for (const output of [whole, streamed, done]) {
    assertEquals(output.map(({ id: _, ...item }) => item), expected);
    assertEquals(new Set(output.map(({ id }) => typeof id === "string" && id)).size, CALLS.length);
  }
});

Deno.test("a call whose arguments do not fit the tool is one of a function: nothing is run", async () => {
  const wrong: [string, string][] = [
    ["shell", '{"commands":"rm -rf /"}'],
    ["local_shell", '{"command":[]}'],
    ["apply_patch", '{"type":"update_file","path":"a.ts"}'],
    ["computer", '{"type":"explode"}'],
    ["shell", '{"commands":["ls"'],
  ];
  const { whole, streamed, done } = await answered(wrong);
  for (const output of [whole, streamed, done]) {
    assertEquals(
      output.map(({ type, name, arguments: args }) => [type, name, args]),
      wrong.map(([name, args]) => ["function_call", name, args]),
    );
  }
});
