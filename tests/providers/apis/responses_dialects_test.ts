/** Servers of the responses API that reject the tools of Codex: freeform ones, namespaces, tool search. */
import { assert, assertEquals } from "@std/assert";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { testGateway } from "../../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const parameters = { type: "object", properties: {} };
const F = (name: string, more = {}) => ({ type: "function", name, parameters, strict: false, ...more });
const CODEX = {
  tools: [
    F("exec_command"),
    {
      type: "custom",
      name: "apply_patch",
      format: { type: "grammar", syntax: "lark", definition: "start: X" },
    },
    { type: "namespace", name: "mcp__git", description: "Git", tools: [F("log")] },
    { type: "namespace", name: "mcp__empty", description: "", tools: [] },
    { type: "tool_search" },
    { type: "local_shell" },
  ],
  input: [
    { type: "additional_tools", role: "developer", tools: [F("spawn"), { type: "custom", name: "note" }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Do it" }] },
    {
      type: "tool_search_call",
      call_id: "s",
      execution: "client",
      status: "completed",
      arguments: { query: "q" },
    },
    {
      type: "tool_search_output",
      call_id: "s",
      execution: "client",
      status: "completed",
      tools: [F("found", { defer_loading: true })],
    },
    { type: "function_call", name: "log", namespace: "mcp__git", arguments: "{}", call_id: "a" },
    { type: "function_call_output", call_id: "a", output: "r" },
    { type: "custom_tool_call", call_id: "b", name: "apply_patch", input: "*** Begin" },
    { type: "custom_tool_call_output", call_id: "b", output: "ok" },
    {
      type: "local_shell_call",
      call_id: "c",
      status: "completed",
      action: { type: "exec", command: ["ls"], env: {} },
    },
    { type: "local_shell_call_output", call_id: "c", output: "files" },
  ],
};
const CALLS = [
  {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: "d",
    name: "apply_patch",
    arguments: '{"input":"*** End"}',
  },
  {
    id: "fc_2",
    type: "function_call",
    status: "completed",
    call_id: "e",
    name: "mcp__git__log",
    arguments: "{}",
  },
];
const WHOLE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "grok",
  output: CALLS,
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};

function streamed(): Response {
  const events: Any[] = [{
    type: "response.created",
    response: { ...WHOLE, status: "in_progress", output: [] },
  }];
  CALLS.forEach((item, output_index) => {
    events.push({ type: "response.output_item.added", output_index, item: { ...item, arguments: "" } });
    events.push({ type: "response.function_call_arguments.delta", output_index, delta: item.arguments });
    events.push({ type: "response.output_item.done", output_index, item });
  });
  events.push({ type: "response.completed", response: WHOLE });
  return sseResponse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
}

/** The calls in an answer of the gateway. */
async function callsOf(answer: Response, stream: boolean): Promise<Any[]> {
  const text = await answer.text();
  assertEquals(answer.status, 200, text);
  const body = stream
    ? JSON.parse(/^data: (\{"type":"response\.completed".*)$/m.exec(text)![1]).response
    : JSON.parse(text);
  return body.output;
}

for (const preset of ["xai", "vllm", "lmstudio", "llamacpp", "ollama"]) {
  Deno.test(`${preset}: the tools and the history of Codex are functions, and calls go back as they were declared`, async () => {
    for (const stream of [false, true]) {
      await using provider = loopbackProvider(() => stream ? streamed() : Response.json(WHOLE));
      await using gateway = await testGateway({
        p: { api: "openai-responses", url: provider.url, more: { preset } },
      });
      const answer = await gateway.post("/v1/responses", { model: "p/model", stream, ...CODEX });
      const dropped = answer.headers.get("x-svc-dropped")!.split(", ");
      const [custom, called] = await callsOf(answer, stream);
      assertEquals([custom.type, custom.name, custom.input], ["custom_tool_call", "apply_patch", "*** End"]);
      assertEquals([called.type, called.namespace, called.name], ["function_call", "mcp__git", "log"]);
      const { tools, input } = provider.seen[0].body as Any;
      assertEquals(
        tools.map(({ type, name }: Any) => `${type} ${name}`),
        ["exec_command", "apply_patch", "mcp__git__log", "local_shell", "spawn", "note", "found"].map((n) =>
          `function ${n}`
        ),
      );
      assertEquals(tools.some((tool: Any) => "defer_loading" in tool), false);
      assertEquals(input.map((item: Any) => `${item.type} ${item.name ?? item.call_id ?? ""}`.trim()), [
        "message",
        "function_call mcp__git__log",
        "function_call_output a",
        "function_call apply_patch",
        "function_call_output b",
        "function_call local_shell",
        "function_call_output c",
      ]);
      for (const field of ["tools", "tools.namespace.description", "tools.defer_loading", "input"]) {
        assert(dropped.includes(field), String(dropped));
      }
    }
  });
}

Deno.test("xAI gets its own tools, and no settings for tools where there are none", async () => {
  await using provider = loopbackProvider(() => Response.json({ ...WHOLE, output: [] }));
  await using gateway = await testGateway({
    p: { api: "openai-responses", url: provider.url, more: { preset: "xai" } },
  });
  const body = { model: "p/model", input: "Hi", tool_choice: "auto", parallel_tool_calls: true };
  await (await gateway.post("/v1/responses", { ...body, tools: [{ type: "tool_search" }] })).text();
  const alone = provider.seen[0].body;
  assertEquals([alone.tools, alone.tool_choice, alone.parallel_tool_calls], [
    undefined,
    undefined,
    undefined,
  ]);
  const own = [{ type: "x_search" }, F("f")];
  await (await gateway.post("/v1/responses", { ...body, tools: own })).text();
  assertEquals([provider.seen[1].body.tools, provider.seen[1].body.tool_choice], [own, "auto"]);
});

Deno.test("servers of the responses API are known by preset or address, and others get what was sent", () => {
  const api = apiNamed("openai-responses");
  const differs = (preset: string | null, url: string) => inDialect(api, preset, url) !== api;
  assertEquals(differs(null, "https://api.x.ai/v1"), true);
  assertEquals(differs(null, "https://api.openai.com/v1"), false);
  assertEquals(differs("openai", "https://api.x.ai/v1"), false);
  assertEquals(differs(null, "no url"), false);
});
