/** The typed tools of the messages format that the client runs, at providers that do not know them. */
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { checkModelRequest, TARGETS } from "../check_model_request.ts";
import { convert } from "../conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const TYPED: readonly Any[] = [
  { type: "bash_20250124", name: "bash", cache_control: { type: "ephemeral" } },
  { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 9000 },
  { type: "memory_20250818", name: "memory" },
  {
    type: "computer_20251124",
    name: "computer",
    display_width_px: 1024,
    display_height_px: 768,
    enable_zoom: true,
  },
];

const request = (tools: readonly Any[], more: Any = {}) => ({
  max_tokens: 2000,
  tools,
  messages: [
    { role: "user", content: "List the files." },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a.txt" }] },
  ],
  ...more,
});

/** Name and parameters of each function in a provider's request. */
function functionsOf(body: Any): [string, Any][] {
  const tools = body.tools ?? body.toolConfig?.tools;
  const list = tools.flatMap((tool: Any) =>
    tool.functionDeclarations ?? [tool.function ?? tool.toolSpec ?? tool]
  );
  return list.filter((tool: Any) => tool.cachePoint === undefined).map((tool: Any) => [
    tool.name,
    tool.parameters ?? tool.parametersJsonSchema ?? tool.inputSchema?.json ?? tool.input_schema,
  ]);
}

Deno.test("tools that the client runs are functions at providers of other formats", () => {
  for (const [target, model] of TARGETS) {
    const forced = { tool_choice: { type: "tool", name: "bash" } };
    const { body, dropped } = convert("messages", request(TYPED, forced), target, model);
    if (target === "messages") {
      assertEquals(body.tools, TYPED);
      continue;
    }
    checkModelRequest(target, model, body);
    assert(!dropped.includes("tools") && !dropped.includes("tool_choice"), `${target}: ${dropped}`);
    assertEquals(functionsOf(body).map(([name]) => name), TYPED.map(({ name }) => name), target);
    assert(JSON.stringify(body).includes("1024 by 768"), target);
  }
});

const INPUTS: Readonly<Record<string, readonly Any[]>> = {
  bash: [{ command: "ls" }, { restart: true }],
  str_replace_based_edit_tool: [
    { command: "view", path: "/a", view_range: [1, -1] },
    { command: "create", path: "/a", file_text: "x" },
    { command: "str_replace", path: "/a", old_str: "x", new_str: "y" },
    { command: "insert", path: "/a", insert_line: 0, insert_text: "z" },
  ],
  memory: [
    { command: "view", path: "/memories" },
    { command: "rename", old_path: "/memories/a", new_path: "/memories/b" },
    { command: "delete", path: "/memories/b" },
  ],
  computer: [
    { action: "screenshot" },
    { action: "left_click", coordinate: [3, 4] },
    { action: "scroll", coordinate: [3, 4], scroll_direction: "down", scroll_amount: 2 },
    { action: "zoom", region: [0, 0, 9, 9] },
  ],
};

Deno.test("inputs that Claude gives to such tools fit the schema of the function", () => {
  const { body } = convert("messages", request(TYPED), "chat_completions", "gpt-4o");
  const ajv = new Ajv2020({ strict: false });
  for (const [name, schema] of functionsOf(body)) {
    const validate = ajv.compile(schema);
    for (const input of INPUTS[name]) assert(validate(input), `${name}: ${JSON.stringify(input)}`);
    assert(!validate({ command: "fly", action: "fly" }) || name === "bash", name);
  }
});

Deno.test("older versions of the text editor and the computer have the commands of their version", () => {
  const older = [
    { type: "text_editor_20250124", name: "str_replace_editor" },
    { type: "computer_20241022", name: "computer", display_width_px: 9, display_height_px: 9 },
  ];
  const { body } = convert("messages", request(older), "chat_completions", "gpt-4o");
  const [[, editor], [, computer]] = functionsOf(body);
  assert(editor.properties.command.enum.includes("undo_edit"));
  assertEquals(editor.properties.insert_text, undefined);
  assert(!computer.properties.action.enum.includes("scroll"));
});

Deno.test("settings of such a tool that a function does not have are listed, and other typed tools are left out", () => {
  const tools = [{ ...TYPED[0], defer_loading: true }, {
    type: "tool_search_tool_bm25",
    name: "tool_search_tool_bm25",
  }];
  const { body, dropped } = convert("messages", request(tools), "responses", "gpt-5-mini");
  assertEquals(functionsOf(body).map(([name]) => name), ["bash"]);
  assertEquals(dropped.filter((field) => field.startsWith("tools")).sort(), ["tools", "tools.defer_loading"]);
});
