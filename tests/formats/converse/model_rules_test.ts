/** Fields of Bedrock's API that only some models take. */
import { assert, assertEquals } from "@std/assert";
import { checkConverseRequest } from "../../corpus/check_converse_request.ts";
import { convert } from "../conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const TOOLS = ["f", "g"].map((name) => ({ type: "function", function: { name } }));

function sent(model: string, more: Any = {}): { body: Any; dropped: string[] } {
  const request = { messages: [{ role: "user", content: "Hi" }], tools: TOOLS, ...more };
  const { body, dropped } = convert("chat_completions", request, "converse", model);
  checkConverseRequest(body, model);
  return { body, dropped };
}

const NAMED = { tool_choice: { type: "function", function: { name: "g" } } };

Deno.test("a forced call reaches models of Bedrock in the form that they accept", () => {
  for (const model of ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-pro-v1:0"]) {
    assertEquals(sent(model, NAMED).body.toolConfig.toolChoice, { tool: { name: "g" } });
  }
  for (const model of ["mistral.mistral-large-2407-v1:0", "deepseek.v3-v1:0"]) {
    const { tools, toolChoice } = sent(model, NAMED).body.toolConfig;
    assertEquals([tools.map((tool: Any) => tool.toolSpec.name), toolChoice], [["g"], { any: {} }], model);
    assertEquals(sent(model, { tool_choice: "required" }).body.toolConfig.tools.length, 2);
  }
  for (const model of ["us.meta.llama4-maverick-17b-instruct-v1:0", "cohere.command-r-plus-v1:0"]) {
    for (const choice of [NAMED, { tool_choice: "required" }]) {
      const { body, dropped } = sent(model, choice);
      assertEquals(body.toolConfig.toolChoice, { auto: {} }, model);
      assert(JSON.stringify(body.system).includes("Call "), model);
      assertEquals(dropped, ["tool_choice"]);
    }
    assertEquals(sent(model, { tool_choice: "auto" }).body.toolConfig.toolChoice, { auto: {} });
  }
});

Deno.test("stop sequences are not sent to models of Bedrock that refuse them", () => {
  for (const model of ["qwen.qwen3-235b-a22b-2507-v1:0", "deepseek.v3-v1:0"]) {
    const { body, dropped } = sent(model, { stop: ["X"], max_tokens: 9 });
    assertEquals([body.inferenceConfig, dropped], [{ maxTokens: 9 }, ["stop"]], model);
  }
  assertEquals(sent("us.deepseek.r1-v1:0", { stop: ["X"] }).body.inferenceConfig, { stopSequences: ["X"] });
});
