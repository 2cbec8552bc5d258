/** Two tools of one name, and choices of tools that are not there, in every format. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { type Caller, CALLERS, convert, decode } from "./conversions.ts";

const OPEN = { type: "object", properties: {} };
const OTHER = { type: "object", properties: { x: { type: "string" } } };

function tool(caller: Caller, name: string, schema: Loose = OPEN): Loose {
  switch (caller) {
    case "chat_completions":
      return { type: "function", function: { name, parameters: schema } };
    case "messages":
      return { name, input_schema: schema };
    case "responses":
      return { type: "function", name, parameters: schema };
  }
}

function request(caller: Caller, fields: Loose): Loose {
  const said = [{ role: "user", content: "Hi" }];
  return caller === "responses"
    ? { input: said, ...fields }
    : { messages: said, ...(caller === "messages" && { max_tokens: 9 }), ...fields };
}

/** The choices that a format has, of one name. */
function choices(caller: Caller, name: string): Loose[] {
  switch (caller) {
    case "chat_completions":
      return [
        { type: "function", function: { name } },
        { type: "custom", custom: { name } },
        {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name } }] },
        },
      ];
    case "messages":
      return [{ type: "tool", name }, { type: "tool", name, disable_parallel_tool_use: true }];
    case "responses":
      return [
        { type: "function", name },
        { type: "custom", name },
        { type: "allowed_tools", mode: "required", tools: [{ type: "function", name }] },
      ];
  }
}

function refusal(caller: Caller, fields: Loose): Failure {
  return assertThrows(() => decode(caller, { model: "a/b", ...request(caller, fields) }), Failure);
}

for (const caller of CALLERS) {
  Deno.test(`${caller}: two different tools of one name are refused, two equal ones are one`, () => {
    const failure = refusal(caller, {
      tools: [tool(caller, "a"), tool(caller, "b"), tool(caller, "a", OTHER)],
    });
    assertEquals([failure.code, failure.param], ["validation_error", "tools"]);
    assertEquals(
      failure.message,
      'Cannot read tools: expected names that differ, got two different tools named "a"',
    );
    const twice = request(caller, { tools: [tool(caller, "a"), tool(caller, "a")] });
    for (const [target, model] of TARGETS) {
      const { body } = convert(caller, twice, target, model);
      if (target !== caller) checkModelRequest(target, model, body);
      assertEquals(JSON.stringify(body).split(`"name":"a"`).length, 2, target);
    }
  });

  Deno.test(`${caller}: a choice of a tool that is not there is refused`, () => {
    for (const tools of [[tool(caller, "a")], []]) {
      for (const tool_choice of choices(caller, "zz")) {
        const failure = refusal(caller, { tools, tool_choice });
        assertEquals([failure.code, failure.param], ["validation_error", "tool_choice"]);
        assertEquals(failure.message.includes('"zz"'), true, failure.message);
      }
    }
  });

  Deno.test(`${caller}: a choice of what is there reaches every model`, () => {
    for (const tool_choice of choices(caller, "1st.tool")) {
      const body = request(caller, { tools: [tool(caller, "1st.tool"), tool(caller, "b")], tool_choice });
      for (const [target, model] of TARGETS) {
        const { body: sent } = convert(caller, body, target, model);
        if (target !== caller) checkModelRequest(target, model, sent);
      }
    }
  });

  Deno.test(`${caller}: a forced choice without tools is said to be dropped`, () => {
    const forced = caller === "messages" ? { type: "any" } : "required";
    for (const [target, model] of TARGETS) {
      if (target === caller) continue;
      const { body, dropped } = convert(caller, request(caller, { tool_choice: forced }), target, model);
      checkModelRequest(target, model, body);
      assertEquals(dropped, ["tool_choice"], target);
    }
  });
}

// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("a choice may name a provider's own tool, the search, and a tool in a namespace", () => {
  const bash = { type: "bash_20250124", name: "bash" };
  decode("messages", {
    model: "a/b",
    ...request("messages", { tools: [bash], tool_choice: { type: "tool", name: "bash" } }),
  });
  decode("messages", {
    model: "a/b",
    ...request("messages", {
      tools: [{ type: "web_search_20250305", name: "web_search" }],
      tool_choice: { type: "tool", name: "web_search" },
    }),
  });
  const search = { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] };
  decode("responses", {
    model: "a/b",
    ...request("responses", { tools: [{ type: "web_search" }], tool_choice: search }),
  });
  const spaces = ["one", "two"].map((name) => ({
    type: "namespace",
    name,
    tools: [tool("responses", "look"), tool("responses", name)],
  }));
  for (const [target, model] of TARGETS) {
    if (target === "responses") continue;
    const body = request("responses", { tools: spaces, tool_choice: { type: "function", name: "two" } });
    const { body: sent } = convert("responses", body, target, model);
    checkModelRequest(target, model, sent);
    assertEquals(JSON.stringify(sent).split("two__two").length, 3, target);
  }
});

Deno.test("a tool that the provider runs keeps its name in the history for that provider, and for no other", () => {
  const name = "$web_search";
  const call = { id: "t1", type: "builtin_function", function: { name, arguments: "{}" } };
  const body = {
    tools: [{ type: "builtin_function", function: { name } }],
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: "t1", name, content: "{}" },
    ],
  };
  const kept = convert("chat_completions", body, "chat_completions", "kimi-k2").body as Any;
  assertEquals(kept.tools, body.tools);
  assertEquals(kept.messages[1].tool_calls[0].function.name, name);
  const other = convert("chat_completions", body, "messages", "claude-haiku-4-5").body as Any;
  assertEquals(other.messages[1].content[0].name, "_web_search");
});
