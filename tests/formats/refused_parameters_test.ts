/** What models refuse by name is left out of requests of other formats, and said to be; callers of the same format are obeyed. */
import { assert, assertEquals } from "@std/assert";
import type { Parameters } from "../../src/exchange/parameters.ts";
import type { Loose } from "../../src/exchange/json.ts";
import {
  claudeGeneration,
  openaiReasoning,
  takes,
} from "../../src/formats/restrictions/refused_parameters.ts";
import { convert } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const ASK = { role: "user", content: "Hi" };
const SAMPLING = { temperature: 0.5, top_p: 0.9, top_k: 5 };

Deno.test("claudeGeneration() reads the number in a model's name", () => {
  const names: [string, number | null][] = [
    ["claude-opus-4-7", 4.7],
    ["anthropic/claude-opus-4.7", 4.7],
    ["claude-4.7-opus", 4.7],
    ["us.anthropic.claude-opus-4-8-v1:0", 4.8],
    ["claude-opus-4-7@20260416", 4.7],
    ["claude-sonnet-5", 5],
    ["claude-sonnet-4-20250514", 4],
    ["claude-opus-4-1-20250805", 4.1],
    ["claude-3-5-haiku-latest", 3.5],
    ["claude-opus-latest", Infinity],
    ["gpt-5", null],
  ];
  for (const [name, generation] of names) {
    assertEquals(claudeGeneration(name), generation, name);
    // Deployments have names that people gave them.
    assertEquals(claudeGeneration(name.toUpperCase()), generation, name);
  }
});

Deno.test("openaiReasoning() knows which models of OpenAI reason", () => {
  for (
    const name of [
      "o1",
      "o3-mini",
      "openai/o4-mini",
      "gpt-5",
      "gpt-5.2-mini",
      "my-gpt-5",
      "codex-mini-latest",
    ]
  ) {
    assert(openaiReasoning(name) !== null, name);
  }
  for (
    const name of ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "gpt-oss-120b", "claude-opus-4-7", "foo-o1x"]
  ) {
    assertEquals(openaiReasoning(name), null, name);
  }
});

Deno.test("Claude from 4.7 on gets no sampling from other formats", () => {
  for (const model of ["claude-opus-4-7", "claude-sonnet-5", "claude-opus-4-8@default"]) {
    const { body, dropped } = convert(
      "chat_completions",
      { messages: [ASK], ...SAMPLING },
      "messages",
      model,
    );
    assertEquals([body.temperature, body.top_p, body.top_k], [undefined, undefined, undefined]);
    assertEquals(dropped.toSorted(), ["temperature", "top_k", "top_p"]);
    // Its default is refused as well.
    const usual = convert("responses", { input: "Hi", temperature: 1, top_p: 1 }, "messages", model);
    assertEquals([usual.body.temperature, usual.body.top_p], [undefined, undefined]);
    assertEquals(usual.dropped.toSorted(), ["temperature", "top_p"]);
    const own = convert("messages", { max_tokens: 9, messages: [ASK], ...SAMPLING }, "messages", model);
    assertEquals([own.body.temperature, own.body.top_p, own.body.top_k], [0.5, 0.9, 5]);
    assertEquals(own.dropped, []);
  }
  const older = convert(
    "chat_completions",
    { messages: [ASK], temperature: 0.5 },
    "messages",
    "claude-sonnet-4-6",
  );
  assertEquals([older.body.temperature, older.dropped], [0.5, []]);
});

Deno.test("a version of the API without sampling counts for every model", () => {
  const asked = { messages: [ASK], ...SAMPLING };
  const more = { apiVersion: "2026-10-21" };
  const { body, dropped } = convert("chat_completions", asked, "messages", "claude-haiku-4-5", more);
  assertEquals([body.temperature, body.top_p, body.top_k], [undefined, undefined, undefined]);
  assertEquals(dropped.toSorted(), ["temperature", "top_k", "top_p"]);
});

Deno.test("OpenAI's reasoning models get from other formats what they take", () => {
  const asked = { max_tokens: 99, messages: [ASK], temperature: 0.5, top_p: 0.9, stop_sequences: ["END"] };
  for (const target of ["chat_completions", "responses"] as const) {
    for (const model of ["gpt-5-mini", "o3"]) {
      const { body, dropped } = convert("messages", asked, target, model);
      assertEquals([body.temperature, body.top_p, body.stop, body.max_tokens], Array(4).fill(undefined));
      assertEquals(dropped.toSorted(), ["stop_sequences", "temperature", "top_p"]);
    }
    const other = convert("messages", asked, target, "gpt-4o");
    assertEquals([other.body.temperature, other.body.top_p], [0.5, 0.9]);
    const off = { ...asked, thinking: { type: "disabled" } };
    const quiet = convert("messages", off, target, "gpt-5.2", { efforts: ["none", "low", "high"] });
    assertEquals([quiet.body.temperature, quiet.body.top_p], [0.5, 0.9]);
  }
  const own = { messages: [ASK], temperature: 0.5, stop: ["a", "b", "c", "d", "e"], max_tokens: 9 };
  const sent = convert("chat_completions", own, "chat_completions", "gpt-5-mini");
  assertEquals([sent.body.temperature, sent.body.stop], [0.5, own.stop]);
  assertEquals([sent.body.max_tokens, sent.body.max_completion_tokens], [undefined, 9]);
});

Deno.test("what the catalog says of a model counts more than its name", () => {
  const context = (model: string, parameters: Parameters) => ({
    model,
    parameters,
    stream: false,
    maxOutput: null,
    features: null,
    efforts: null,
  });
  assertEquals(takes("temperature", context("house-model", { temperature: false })), false);
  assertEquals(takes("top_p", context("house-model", { temperature: false })), false);
  assertEquals(takes("top_p", context("house-model", { temperature: false, top_p: true })), true);
  assertEquals(takes("stop", context("gpt-5", { stop: true })), true);
  assertEquals(takes("temperature", context("claude-opus-4-7", { temperature: true })), true);
  const asked = {
    messages: [ASK],
    temperature: 0.5,
    stop: "x",
    seed: 4,
    presence_penalty: 1,
    logprobs: true,
  };
  const parameters = {
    temperature: false,
    stop: false,
    seed: false,
    presence_penalty: false,
    logprobs: false,
  };
  for (const [target, model] of [["gemini", "gemini-3-pro"], ["messages", "claude-haiku-4-5"]] as const) {
    const { body, dropped } = convert("chat_completions", asked, target, model, { parameters });
    assertEquals(body.generationConfig, undefined);
    assertEquals(body.stop_sequences, undefined);
    assertEquals(dropped.toSorted(), ["logprobs", "presence_penalty", "seed", "stop", "temperature"]);
  }
});

Deno.test("more stop sequences than OpenAI takes are cut, and said to be", () => {
  const asked = { max_tokens: 9, messages: [ASK], stop_sequences: ["a", "b", "c", "d", "e"] };
  const { body, dropped } = convert("messages", asked, "chat_completions", "gpt-4o");
  assertEquals([body.stop, dropped], [["a", "b", "c", "d"], ["stop_sequences"]]);
});

Deno.test("a last turn of the assistant is followed by the user where a model cannot go on with it", () => {
  const list = [ASK, { role: "assistant", content: "The answer is" }];
  const last = (body: Loose) => (body.messages as Loose[]).at(-1)!.role;
  const to = (model: string, more: Loose = {}) =>
    convert("chat_completions", { messages: list, ...more }, "messages", model).body;
  assertEquals(last(to("claude-haiku-4-5")), "assistant");
  assertEquals(last(to("claude-sonnet-4-6")), "user");
  const thinking = to("claude-haiku-4-5", { reasoning_effort: "high", max_tokens: 9000 });
  assertEquals([last(thinking), (thinking.thinking as Loose).type], ["user", "enabled"]);
  const own = convert("messages", { max_tokens: 9, messages: list }, "messages", "claude-sonnet-4-6").body;
  assertEquals(last(own), "assistant");
});

Deno.test("Gemini's stand-in for a signature goes by the catalog, and by the name where it is silent", () => {
  const list = [
    ASK,
    {
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "1" },
  ];
  const signed = (model: string, parameters?: Parameters) => {
    const { body } = convert("chat_completions", { messages: list }, "gemini", model, { parameters });
    const [part] = (body.contents as { parts: Loose[] }[])[1].parts;
    return part.thoughtSignature !== undefined;
  };
  assertEquals(signed("gemini-3-pro"), true);
  assertEquals(signed("gemini-2.5-pro"), false);
  assertEquals(signed("endpoints/123", { thought_signatures: true }), true);
  assertEquals(signed("gemini-3-pro", { thought_signatures: false }), false);
});

Deno.test("OpenAI's older models get no verbosity, and its o-series no setting of parallel calls", () => {
  const asked = {
    messages: [{ role: "user", content: "Hi" }],
    verbosity: "low",
    parallel_tool_calls: false,
    tools: [{ type: "function", function: { name: "f" } }],
  };
  const cases: [string, boolean, boolean][] = [
    ["gpt-4o-mini", false, true],
    ["chatgpt-4o-latest", false, true],
    ["gpt-4.1", false, true],
    ["gpt-3.5-turbo", false, true],
    ["o1", false, false],
    ["o3-mini", false, false],
    ["o4-mini-2025-04-16", false, false],
    ["gpt-5", true, true],
    ["gpt-5.4-mini", true, true],
    ["gpt-40", true, true],
    ["llama-4", true, true],
  ];
  for (const [model, verbosity, parallel] of cases) {
    const { body, dropped } = convert("chat_completions", asked, "responses", model) as Any;
    assertEquals(body.text?.verbosity, verbosity ? "low" : undefined, model);
    assertEquals(body.parallel_tool_calls, parallel ? false : undefined, model);
    assertEquals([dropped.includes("verbosity"), dropped.includes("parallel_tool_calls")], [
      !verbosity,
      !parallel,
    ]);
    const input = {
      ...asked,
      input: "Hi",
      messages: undefined,
      text: { verbosity: "low" },
      verbosity: undefined,
    };
    const tools = [{ type: "function", name: "f", parameters: {} }];
    const chat = convert("responses", { ...input, tools }, "chat_completions", model) as Any;
    assertEquals(chat.body.verbosity, verbosity ? "low" : undefined, model);
    assertEquals(chat.body.parallel_tool_calls, parallel ? false : undefined, model);
    assertEquals(chat.dropped.includes("text"), !verbosity, model);
    assertEquals(chat.dropped.includes("parallel_tool_calls"), !parallel, model);
    // A caller of the same format is not corrected, and the defaults are no loss.
    const own = convert("chat_completions", asked, "chat_completions", model) as Any;
    assertEquals([own.body.verbosity, own.body.parallel_tool_calls], ["low", false], model);
    const usual = convert(
      "chat_completions",
      { ...asked, verbosity: "medium", parallel_tool_calls: true },
      "responses",
      model,
    );
    assertEquals(usual.dropped, [], model);
  }
  const told = { features: null, parameters: { verbosity: true, parallel_tool_calls: false } };
  const { body } = convert("chat_completions", asked, "responses", "gpt-4o", told) as Any;
  assertEquals([body.text, body.parallel_tool_calls], [{ verbosity: "low" }, undefined]);
});

Deno.test("models of OpenAI that do not reason are not asked for encrypted reasoning", () => {
  const include = (model: string, features: Set<string> | null) =>
    convert("responses", { input: "Hi" }, "responses", model, { features }).body.include;
  assertEquals(include("gpt-4o", null), undefined);
  assertEquals(include("gpt-4o", new Set(["reasoning"])), ["reasoning.encrypted_content"]);
  assertEquals(include("gpt-5", null), ["reasoning.encrypted_content"]);
  assertEquals(include("some-model", null), ["reasoning.encrypted_content"]);
});

Deno.test("penalties go to no Gemini model after 2.0, which refuse them", () => {
  const asked = {
    model: "p/m",
    messages: [{ role: "user", content: "Hi" }],
    presence_penalty: 0.5,
    frequency_penalty: 0.5,
  };
  for (
    const model of ["gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3.1-pro-preview", "gemini-10-pro"]
  ) {
    const { body, dropped } = convert("chat_completions", asked, "gemini", model);
    assertEquals(body.generationConfig, undefined, model);
    assertEquals(dropped.toSorted(), ["frequency_penalty", "presence_penalty"], model);
  }
  const { body, dropped } = convert("chat_completions", asked, "gemini", "gemini-2.0-flash");
  assertEquals(body.generationConfig, { presencePenalty: 0.5, frequencyPenalty: 0.5 });
  assertEquals(dropped, []);
});

Deno.test("Grok models without levels of reasoning get none, and the setting is listed", () => {
  for (const target of ["responses", "chat_completions"] as const) {
    for (
      const [model, levels] of [
        ["grok-4-1-fast-reasoning", false],
        ["grok-4.20-0309-reasoning", false],
        ["x-ai/grok-code-fast-1", false],
        ["grok-4.3", true],
        ["grok-4.20-multi-agent-0309", true],
        ["grok-3-mini", true],
      ] as const
    ) {
      const request = {
        max_tokens: 9000,
        messages: [{ role: "user", content: "Hi" }],
        thinking: { type: "enabled", budget_tokens: 5000 },
      };
      const { body, dropped } = convert("messages", request, target, model);
      const sent = target === "responses" ? (body.reasoning as Loose)?.effort : body.reasoning_effort;
      assertEquals(sent !== undefined, levels, `${target} ${model}`);
      assertEquals(dropped.includes("thinking"), !levels, `${target} ${model}`);
      const known = convert("messages", request, target, model, { efforts: ["low", "high"] });
      assert(JSON.stringify(known.body).includes("effort"), model);
    }
  }
});
