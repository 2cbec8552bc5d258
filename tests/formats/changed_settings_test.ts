/** Settings that a conversation changes on its way, and what else stood in turns and went without a word. */
import { assertEquals, assertMatch } from "@std/assert";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { convert } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What a provider is told of how much to reason. */
function effort(target: FormatName, body: Any): unknown {
  switch (target) {
    case "chat_completions":
      return body.reasoning_effort;
    case "responses":
      return body.reasoning?.effort;
    case "messages":
      return body.output_config?.effort ?? body.thinking?.budget_tokens;
    case "gemini":
      return body.generationConfig.thinkingConfig.thinkingLevel ??
        body.generationConfig.thinkingConfig.thinkingBudget;
    case "converse": {
      const fields = body.additionalModelRequestFields;
      return fields.reasoningConfig?.maxReasoningEffort ?? body.outputConfig?.effort ??
        fields.thinking.budget_tokens;
    }
  }
}

/** Whether it is the highest level, or the tokens that stand for it. Nova has none beside a maximum output. */
function isHigh(target: FormatName, model: string, body: Any): boolean {
  const said = effort(target, body);
  return /nova/.test(model) ? said === "medium" : said === "high" || said === 24576;
}

const SCHEMA = { type: "object", properties: {}, required: [], additionalProperties: false };
const format = { type: "json_schema", name: "shape", strict: true, schema: SCHEMA };
const UPDATED = {
  max_output_tokens: 40_000,
  reasoning: { effort: "low" },
  input: [
    { role: "user", content: "Say JSON" },
    { type: "configuration_update", reasoning: { effort: "medium" } },
    { role: "assistant", content: "{}" },
    { type: "configuration_update", reasoning: { effort: "high" }, text: { format } },
    { role: "user", content: "Again" },
  ],
};

const RAISED = {
  max_tokens: 40_000,
  thinking: { type: "adaptive" },
  output_config: { effort: "low" },
  messages: [
    { role: "user", content: "Hi" },
    { role: "system", content: [], output_config: { effort: "high" } },
  ],
};

Deno.test("a configuration_update counts for providers of other formats, the last one of each setting", () => {
  for (const [target, model] of TARGETS) {
    const { body, dropped } = convert("responses", UPDATED, target, model);
    if (target === "responses") {
      assertEquals([body.input, body.reasoning, body.text], [UPDATED.input, UPDATED.reasoning, undefined]);
      continue;
    }
    assertEquals(isHigh(target, model, body), true, `${target} ${model}: ${effort(target, body)}`);
    assertMatch(JSON.stringify(body), /additionalProperties/);
    assertEquals(dropped.includes("input"), false);
    checkModelRequest(target, model, body);
  }
});

Deno.test("a configuration_update that says more is still listed as lost", () => {
  const input = [{ role: "user", content: "Hi" }, { type: "configuration_update", speed: "fast" }];
  assertEquals(convert("responses", { input }, "messages", "claude-opus-4-7").dropped, ["input"]);
});

Deno.test("the effort of a system message counts for providers of other formats", () => {
  for (const [target, model] of TARGETS) {
    const { body } = convert("messages", RAISED, target, model);
    if (target === "messages") {
      // These Claudes have no system messages.
      assertEquals([body.messages, body.output_config], [RAISED.messages.slice(0, 1), { effort: "high" }]);
    } else assertEquals(isHigh(target, model, body), true, `${target} ${model}`);
  }
});

Deno.test("settings of system messages reach a Claude that has such messages, and count for one that has not", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "system", content: "Be short.", clear_at: "never", output_config: { effort: "high" } },
    { role: "assistant", content: "Hello" },
    { role: "system", output_config: { effort: "low" } },
    { role: "user", content: "Again" },
  ];
  const sent = (model: string) => convert("messages", { max_tokens: 9, messages }, "messages", model);
  const [first, second, third, , last] = messages;
  const newest = sent("claude-opus-4-8");
  assertEquals(newest.body.messages, [first, second, third, { ...messages[3], content: [] }, last]);
  assertEquals([newest.body.output_config, newest.dropped], [undefined, []]);
  for (
    const [model, config, dropped] of [
      ["claude-opus-4-7", { effort: "low" }, ["messages.clear_at"]],
      ["claude-haiku-4-5", undefined, ["messages.clear_at", "messages.output_config"]],
    ] as const
  ) {
    const { body, dropped: lost } = sent(model);
    const [, text, ...others] = body.messages as Loose[];
    assertEquals([text.role, JSON.stringify(text).includes("Be short."), Object.keys(text).length], [
      "user",
      true,
      2,
    ]);
    assertEquals(others, [third, last]);
    assertEquals([body.output_config, lost], [config, dropped]);
  }
});

Deno.test("what another format has no word for is listed", () => {
  const cases: [Loose, "chat_completions" | "messages", string][] = [
    [
      {
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: null, audio: { id: "audio_1" } },
          { role: "user", content: "And?" },
        ],
      },
      "chat_completions",
      "messages",
    ],
    [
      { max_tokens: 10, thinking: { type: "between_tools" }, messages: [{ role: "user", content: "Hi" }] },
      "messages",
      "thinking",
    ],
  ];
  for (const [request, caller, name] of cases) {
    for (const [target, model] of TARGETS) {
      const { dropped } = convert(caller, request, target, model);
      assertEquals(dropped, target === caller ? [] : [name], `${caller} to ${target}`);
    }
  }
});
