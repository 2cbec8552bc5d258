/** Each field of the calls and results of client tools of the responses format, on its way to a function and back. */
import { assertEquals, assertMatch } from "@std/assert";
import {
  clientCall,
  clientItem,
  clientResult,
  clientTool,
} from "../../../src/formats/responses/client_tools.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The arguments that a model reads of an item with a call. */
const argsOf = (item: Any) => JSON.parse(clientCall({ call_id: "c", ...item })!.arguments);
/** The fields of the item for a call with these arguments. Undefined: they are not valid. */
function itemOf(name: string, args: unknown): Any {
  const made = clientItem(name, "c", JSON.stringify(args));
  if (made === undefined) return undefined;
  const { type, call_id, status, ...fields } = made.item;
  assertEquals([type, call_id, status], [`${name}_call`, "c", "completed"]);
  return fields;
}

const ACTION = {
  command: ["ls", "-l"],
  env: { A: "b" },
  working_directory: "/w",
  timeout_ms: 7,
  user: "ann",
};
const SHELL = { commands: ["pwd"], timeout_ms: 9, max_output_length: 80 };
const CLICK = { type: "click", x: 1, y: 2, button: "right" };
const MOVE = { type: "move", x: 1, y: 2 };
const UPDATE = { type: "update_file", path: "a.ts", diff: "@@\n-a\n+b" };

Deno.test("a call reads the same as a function, and back as an item", () => {
  assertEquals(argsOf({ type: "local_shell_call", action: { type: "exec", ...ACTION } }), ACTION);
  assertEquals(itemOf("local_shell", ACTION), { action: { type: "exec", ...ACTION } });
  assertEquals(itemOf("local_shell", { command: ["ls"] }), {
    action: { type: "exec", command: ["ls"], env: {} },
  });
  assertEquals(argsOf({ type: "shell_call", action: SHELL }), SHELL);
  assertEquals(itemOf("shell", SHELL), { action: SHELL, environment: { type: "local" } });
  assertEquals(argsOf({ type: "apply_patch_call", operation: UPDATE }), UPDATE);
  assertEquals(itemOf("apply_patch", UPDATE), { operation: UPDATE });
  const { diff: _, ...deletion } = { ...UPDATE, type: "delete_file" };
  assertEquals(itemOf("apply_patch", { ...UPDATE, type: "delete_file" }), { operation: deletion });
  assertEquals(argsOf({ type: "computer_call", action: CLICK }), CLICK);
  for (const action of [CLICK, MOVE]) {
    assertEquals(itemOf("computer", action), { action, actions: [action], pending_safety_checks: [] });
  }
});

Deno.test("a computer's call may have a list of actions, as the newer tool has it", () => {
  assertEquals(argsOf({ type: "computer_call", actions: [CLICK] }), CLICK);
  assertEquals(argsOf({ type: "computer_call", actions: [MOVE, CLICK] }), { actions: [MOVE, CLICK] });
});

Deno.test("a model reads no fields that are null, and none of the item", () => {
  const action = { commands: ["id"], timeout_ms: null, max_output_length: null };
  assertEquals(argsOf({ type: "shell_call", id: "sh_1", status: "completed", action }), { commands: ["id"] });
});

Deno.test("arguments that a client could not run make no item of the tool", () => {
  for (
    const [name, args] of [
      ["shell", { commands: ["ls", 1] }],
      ["shell", { commands: [] }],
      ["shell", ["ls"]],
      ["local_shell", { command: "ls" }],
      ["local_shell", { command: [["ls"]] }],
      ["apply_patch", { ...UPDATE, type: "rename_file" }],
      ["apply_patch", { type: "delete_file" }],
      ["apply_patch", { ...UPDATE, path: 1 }],
      ["apply_patch", { ...UPDATE, diff: undefined }],
      ["computer", { x: 1 }],
      ["constructor", {}],
    ] as const
  ) assertEquals(itemOf(name, args), undefined, `${name} ${JSON.stringify(args)}`);
});

Deno.test("ids of items begin as OpenAI's do", () => {
  const prefix = (name: string, args: unknown) => clientItem(name, "c", JSON.stringify(args))?.prefix;
  assertEquals(
    [
      prefix("shell", SHELL),
      prefix("local_shell", ACTION),
      prefix("apply_patch", UPDATE),
      prefix("computer", MOVE),
    ],
    ["sh", "lsh", "apc", "cu"],
  );
});

Deno.test("a model reads a result, and whether the tool failed", () => {
  const read = (item: Any) => {
    const { callId, name, content, isError } = clientResult({ call_id: "c", ...item })!;
    assertEquals(callId, "c");
    return [name, content, isError];
  };
  const text = (text: string) => [{ type: "text", text }];
  const output = [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }];
  assertEquals(read({ type: "shell_call_output", output }), ["shell", text(JSON.stringify(output)), false]);
  assertEquals(read({ type: "local_shell_call_output", output: "ok" }), ["local_shell", text("ok"), false]);
  const patched = (more: Any) => read({ type: "apply_patch_call_output", ...more });
  assertEquals(patched({ status: "completed", output: "Done" }), ["apply_patch", text("Done"), false]);
  assertEquals(patched({ status: "completed" }), ["apply_patch", text("completed"), false]);
  assertEquals(patched({ status: "failed", output: "no line" }), ["apply_patch", text("no line"), true]);
  const seen = (output: Any) => read({ type: "computer_call_output", output });
  const image = (source: Any) => ["computer", [{ type: "image", source }], false];
  assertEquals(
    seen({ image_url: "https://a.test/b.png" }),
    image({ kind: "url", url: "https://a.test/b.png" }),
  );
  assertEquals(
    seen({ image_url: "data:image/png;base64,AAAA" }),
    image({
      kind: "base64",
      mediaType: "image/png",
      data: "AAAA",
    }),
  );
  assertEquals(seen({ file_id: "file-1" }), image({ kind: "file", id: "file-1" }));
  assertEquals(seen({ type: "computer_screenshot" }), [
    "computer",
    text('{"type":"computer_screenshot"}'),
    false,
  ]);
});

Deno.test("only results of local_shell name their call in id, and items without a call's id are others", () => {
  assertEquals(clientResult({ type: "local_shell_call_output", id: "c", output: "" })?.callId, "c");
  assertEquals(clientResult({ type: "shell_call_output", id: "c", output: [] }), undefined);
  assertEquals(clientResult({ type: "apply_patch_call_output", status: "completed" }), undefined);
  assertEquals(clientCall({ type: "shell_call", action: SHELL }), undefined);
  for (const type of ["constructor_call", "function_call", "toString_call", "shell_call_output"]) {
    assertEquals(clientCall({ type, call_id: "c", action: SHELL }), undefined, type);
  }
});

Deno.test("the function of a tool says what the tool was declared with, and which arguments are needed", () => {
  const tool = (type: string, more: Any = {}) => clientTool(type, { type, ...more })!;
  const needed = (type: string) => (tool(type).parameters as Any).required;
  assertEquals([needed("shell"), needed("local_shell"), needed("apply_patch"), needed("computer")], [
    ["commands"],
    ["command"],
    ["type", "path"],
    ["type"],
  ]);
  assertEquals(tool("computer_use_preview").name, "computer");
  const description = (more: Any) => tool("computer", more).description!;
  assertMatch(
    description({ environment: "browser", display_width: 10, display_height: 20 }),
    /\(browser\).*10 by 20/,
  );
  assertMatch(description({}), /^Controls a computer by its screen, mouse/);
  assertEquals(clientTool("constructor", {}), undefined);
});
