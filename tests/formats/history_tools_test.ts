/** Tools that a conversation declares or takes away on its way, to every provider API. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES as MESSAGES_LEAVES } from "../../src/formats/messages/leaves.ts";
import { LEAVES as RESPONSES_LEAVES } from "../../src/formats/responses/leaves.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { convert, decode } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };

/** Names and descriptions of what a provider is told. */
function told(target: FormatName, body: Any): [string, string][] {
  const list: Any[] = target === "gemini"
    ? body.tools?.[0].functionDeclarations
    : target === "converse"
    ? body.toolConfig?.tools.map((t: Any) => t.toolSpec)
    : target === "chat_completions"
    ? body.tools?.map((t: Any) => t.function)
    : body.tools;
  return (list ?? []).map((t) => [t.name, t.description]);
}

function chosen(target: FormatName, body: Any): string | undefined {
  if (target === "gemini") return body.toolConfig.functionCallingConfig.allowedFunctionNames?.[0];
  if (target === "converse") return body.toolConfig.toolChoice.tool.name;
  return target === "chat_completions" ? body.tool_choice.function.name : body.tool_choice.name;
}

const fn = (name: string, description: string, more: Loose = {}) => ({
  type: "function",
  name,
  description,
  parameters: SCHEMA,
  strict: false,
  ...more,
});
const declares = (...tools: Loose[]) => ({ type: "additional_tools", role: "developer", tools });

/** As Codex writes for models that take their tools in the input. */
const IN_THE_INPUT = {
  tools: [],
  tool_choice: { type: "function", name: "shell" },
  input: [
    declares(fn("shell", "S"), {
      type: "namespace",
      name: "mcp",
      description: "M",
      tools: [fn("look", "L")],
    }),
    { role: "user", content: "Hi" },
  ],
};

/** As the AI SDK and pydantic-ai write for tools that were found by a search. */
const ON_THE_WAY = {
  tools: [fn("load", "One"), fn("late", "old", { defer_loading: true }), fn("same", "Same")],
  tool_choice: { type: "function", name: "late" },
  input: [
    { role: "user", content: "Hi" },
    { type: "tool_search_call", call_id: "s1", arguments: { q: "late" }, execution: "client" },
    { type: "tool_search_output", call_id: "s1", execution: "client", tools: [fn("late", "new")] },
    { type: "function_call", call_id: "c2", name: "late", namespace: "late", arguments: "{}" },
    { type: "function_call_output", call_id: "c2", output: "ok" },
    declares(fn("same", "Same", { defer_loading: false })),
  ],
};

const define = (definition: Loose) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition },
});
const refer = (type: string, name: string) => ({ type, tool: { type: "tool_reference", name } });
const native = (name: string, description: string) => ({ name, description, input_schema: SCHEMA });

/** As the tool runner of Anthropic's SDK writes. */
const ADDED = {
  max_tokens: 100,
  tools: [native("gone", "G"), native("back", "B"), native("changed", "old")],
  tool_choice: { type: "tool", name: "query" },
  messages: [
    { role: "user", content: "Hi" },
    {
      role: "system",
      content: [
        define(native("query", "Q")),
        define(native("changed", "new")),
        define(native("short", "S")),
        refer("tool_removal", "gone"),
        refer("tool_removal", "back"),
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "query", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "r" }] },
    { role: "system", content: [refer("tool_addition", "back"), refer("tool_removal", "short")] },
  ],
};

Deno.test("tools in the input of a responses request are those of every other API", () => {
  for (const [target, model] of TARGETS) {
    if (target === "responses") continue;
    const first = convert("responses", IN_THE_INPUT, target, model);
    assertEquals(told(target, first.body), [["shell", "S"], ["mcp__look", "L"]], `${target} ${model}`);
    assertEquals(chosen(target, first.body), "shell");
    assertEquals(first.dropped, ["tools.namespace.description"]);
    checkModelRequest(target, model, first.body);

    const second = convert("responses", ON_THE_WAY, target, model);
    assertEquals(told(target, second.body), [["load", "One"], ["same", "Same"], ["late", "new"]]);
    assertEquals(chosen(target, second.body), "late");
    // The search for tools itself is a provider's own.
    assertEquals(second.dropped, ["input"]);
    assertMatch(JSON.stringify(second.body), /"late"/);
    assertEquals(JSON.stringify(second.body).includes("late__late"), false);
    checkModelRequest(target, model, second.body);
  }
});

Deno.test("a responses provider gets tools of the input in their places, and the choice", () => {
  for (const request of [IN_THE_INPUT, ON_THE_WAY]) {
    const { body, dropped } = convert("responses", request, "responses", "gpt-5-mini");
    assertEquals(body.input, request.input);
    assertEquals(body.tools ?? [], request.tools);
    assertEquals(body.tool_choice, request.tool_choice);
    assertEquals(dropped, []);
  }
});

/** Others of the same format get no system messages, in which such blocks stand. */
const TAKES_SYSTEM = /opus-4-8/;

Deno.test("tools that blocks of messages add and remove are those of every other API at the end", () => {
  for (const [target, model] of [...TARGETS, ["messages", "claude-opus-4-8"]] as typeof TARGETS) {
    const { body, dropped } = convert("messages", ADDED, target, model);
    assertEquals(dropped.filter((name) => name !== "cache_control"), []);
    if (target === "messages" && TAKES_SYSTEM.test(model)) {
      assertEquals([body.tools, body.messages, body.tool_choice], [
        ADDED.tools,
        ADDED.messages,
        ADDED.tool_choice,
      ]);
      continue;
    }
    assertEquals(told(target, body), [["back", "B"], ["query", "Q"], ["changed", "new"]]);
    assertEquals(chosen(target, body), "query");
    checkModelRequest(target, model, body);
  }
});

Deno.test("tools that may not be listed may not be declared on the way either", () => {
  const user = { role: "user", content: "Hi" };
  const refused: [() => unknown, string][] = [
    [() =>
      decode("responses", {
        model: "a/b",
        input: [user, declares(fn("f", "F"), { type: "code_interpreter", container: { type: "auto" } })],
      }), "input[1].tools[1]"],
    [() =>
      decode("responses", {
        model: "a/b",
        input: [user, { type: "tool_search_output", tools: [{ type: "shell", environment: CONTAINER }] }],
      }), "input[1].tools[0]"],
    [() =>
      decode("messages", {
        model: "a/b",
        max_tokens: 1,
        messages: [user, {
          role: "system",
          content: [define({ type: "web_fetch_20260318", name: "web_fetch" })],
        }],
      }), "messages[1].content[0].tool.definition"],
    [() =>
      decode("messages", {
        model: "a/b",
        max_tokens: 1,
        messages: [
          {
            role: "assistant",
            content: [{
              type: "compaction",
              content: "S",
              tool_changes: [define({ type: "code_execution_20260521", name: "code_execution" })],
            }],
          },
          user,
        ],
      }), "messages[0].content[0].tool_changes[0].tool.definition"],
  ];
  for (const [call, param] of refused) {
    const failure = assertThrows(call, Failure);
    assertEquals([failure.code, failure.param], ["feature_not_supported", param]);
  }
});

const CONTAINER = { type: "container_auto" };

Deno.test("a web search that is declared on the way is the gateway's own", () => {
  const search = { type: "web_search", max_uses: 3 };
  const user = { role: "user", content: "Hi" };
  const responses = decode("responses", { model: "a/b", input: [declares(fn("f", "F"), search), user] });
  assertEquals(responses.search, { maxUses: 3 });
  const { body } = convert(
    "responses",
    { input: [declares(fn("f", "F"), search), user] },
    "responses",
    "gpt-5",
  );
  assertEquals(body.input, [declares(fn("f", "F")), user]);
  const alone = convert("responses", { input: [declares(search), user] }, "responses", "gpt-5");
  assertEquals(alone.body.input, [user]);

  const messages = {
    max_tokens: 1,
    messages: [user, {
      role: "system",
      content: [define({ type: "web_search_20260318", name: "web_search" })],
    }],
  };
  assertEquals(decode("messages", { model: "a/b", ...messages }).search, {});
  assertEquals(convert("messages", messages, "messages", "claude-opus-4-7").body.messages, [user]);
});

Deno.test("a choice may name a tool of the turns, and none that is nowhere", () => {
  const wrong = { ...IN_THE_INPUT, tool_choice: { type: "function", name: "nowhere" } };
  const failure = assertThrows(() => convert("responses", wrong, "responses", "gpt-5"), Failure);
  assertEquals([failure.code, failure.param], ["validation_error", "tool_choice"]);
});

Deno.test("the words of tools in the turns are read like those of listed ones, and their names stay", () => {
  const kinds = (body: Loose, shape: typeof MESSAGES_LEAVES) =>
    readLeaves(body, shape).leaves.filter(({ text }) => text === "anna" || text === "About anna")
      .map(({ text, fixed }) => [text, fixed === true]);
  const expected = [["anna", true], ["About anna", false]];
  assertEquals(kinds({ input: [declares(fn("anna", "About anna"))] }, RESPONSES_LEAVES), expected);
  const content = [define(native("anna", "About anna"))];
  assertEquals(kinds({ messages: [{ role: "system", content }] }, MESSAGES_LEAVES), expected);
});
