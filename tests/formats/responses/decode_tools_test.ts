/** Tools, searches and tool choices that callers of this format send. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { decode, failure } from "./support.ts";

const ask = (more: Loose = {}): Loose => ({ model: "a/b", input: "Hello", ...more });
const tools = (...list: unknown[]) => decode(ask({ tools: list }));

Deno.test("responses.decodeRequest() takes search in all of its spellings and never as a tool", () => {
  for (
    const type of [
      "web_search",
      "web_search_preview",
      "web_search_2025_08_26",
      "web_search_preview_2025_03_11",
    ]
  ) {
    const prompt = tools({
      type,
      max_uses: 3,
      filters: { allowed_domains: ["a.org"] },
      search_context_size: "low",
    });
    assertEquals(prompt.tools, []);
    assertEquals(prompt.search, { maxUses: 3, allowedDomains: ["a.org"], contextSize: "low" });
  }
  const own = tools({ type: "function", name: "web_search", parameters: { type: "object" } });
  assertEquals(own.search, undefined);
  assertEquals(own.tools.length, 1);
});

Deno.test("responses.decodeRequest() flattens a namespace and remembers it", () => {
  const prompt = tools(
    {
      type: "custom",
      name: "apply_patch",
      format: { type: "grammar", syntax: "lark", definition: "start: x" },
    },
    {
      type: "namespace",
      name: "mcp__git",
      description: "Git",
      tools: [
        { type: "function", name: "log", description: "d", parameters: { type: "object" }, strict: false },
        { type: "custom", name: "commit" },
      ],
    },
    { type: "web_search", external_web_access: false },
  );
  assertEquals(prompt.tools.map((t) => t.kind !== "opaque" && [t.kind, t.namespace, t.name]), [
    ["custom", undefined, "apply_patch"],
    ["function", "mcp__git", "log"],
    ["custom", "mcp__git", "commit"],
  ]);
  assertEquals(prompt.search, { unread: ["tools.external_web_access"] });
});

Deno.test("responses.decodeRequest() refuses tools that fetch pages or run code at the provider, and no other", () => {
  for (
    const tool of [
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "web_fetch" },
      { type: "code_execution_20250825" },
      { type: "shell", environment: { type: "container_auto" } },
    ]
  ) {
    const { code, param } = failure(ask({ tools: [tool] }));
    assertEquals([code, param], ["feature_not_supported", "tools[0]"]);
  }
  for (const type of ["file_search", "mcp", "image_generation", "tool_search", "new"]) {
    assertEquals(tools({ type }).tools, [{ kind: "opaque", format: "responses", value: { type } }]);
  }
  for (const type of ["computer_use_preview", "local_shell"]) {
    const [tool] = tools({ type }).tools;
    assertEquals([tool.kind, tool.kind === "opaque" && tool.value], ["opaque", { type }]);
  }
});

Deno.test("responses.decodeRequest() reads every form of tool_choice", () => {
  const tools = [{ type: "function", name: "f" }, { type: "custom", name: "g" }];
  const choice = (tool_choice: unknown) => decode(ask({ tool_choice, tools })).toolChoice;
  assertEquals(choice("none"), { type: "none" });
  assertEquals(choice({ type: "function", name: "f" }), { type: "tool", name: "f", kind: "function" });
  assertEquals(choice({ type: "custom", name: "g" }), { type: "tool", name: "g", kind: "custom" });
  assertEquals(
    choice({
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "function", name: "f" }, { type: "web_search" }],
    }),
    { type: "allowed", required: true, names: ["f"] },
  );
  const searching = decode(ask({ tool_choice: { type: "web_search" }, tools: [{ type: "web_search" }] }));
  assertEquals([searching.toolChoice, searching.search], [undefined, { first: true }]);
  assertEquals(choice({ type: "mcp", server_label: "x" }), undefined);
  assertEquals(failure(ask({ tool_choice: "sometimes" })).code, "validation_error");
});

Deno.test("responses.decodeRequest() counts tools", () => {
  const list = (n: number) => Array.from({ length: n }, (_, i) => ({ type: "function", name: `f${i}` }));
  assertEquals(decode(ask({ tools: list(256) })).tools.length, 256);
  assertEquals(decode(ask({ tools: [{ type: "web_search" }, ...list(256)] })).tools.length, 256);
  assertEquals(
    failure(ask({ tools: list(300) })).message,
    "Cannot read tools: expected at most 256, got 300",
  );
});
