import { assertEquals, assertStringIncludes } from "@std/assert";
import type { FunctionTool, Prompt, ToolChoice } from "../../../src/exchange/prompt.ts";
import type { EncodeRequest } from "../../../src/formats/format.ts";
import { dropped, encode, prompt, user } from "./prompts.ts";

const ask = (more: Partial<Prompt>, ctx: Partial<EncodeRequest> = {}) =>
  encode(prompt([user("hi")], more), ctx);
const config = (more: Partial<Prompt>, ctx: Partial<EncodeRequest> = {}) => ask(more, ctx).generationConfig;

const tool = (name: string, more: Partial<FunctionTool> = {}): FunctionTool => ({
  kind: "function",
  name,
  description: "d",
  parameters: { type: "object", properties: {} },
  ...more,
});

Deno.test("encodeRequest() sends nothing that was not asked", () => {
  assertEquals(ask({}), { contents: [{ role: "user", parts: [{ text: "hi" }] }] });
});

Deno.test("encodeRequest() carries every sampling parameter", () => {
  assertEquals(
    config({
      maxOutput: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ["a", "", "b"],
      seed: 42,
      presencePenalty: 0.1,
      frequencyPenalty: -0.2,
      n: 3,
      logprobs: true,
      topLogprobs: 5,
    }, { model: "gemini-2.0-flash" }),
    {
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stopSequences: ["a", "b"],
      seed: 42,
      presencePenalty: 0.1,
      frequencyPenalty: -0.2,
      candidateCount: 3,
      responseLogprobs: true,
      logprobs: 5,
    },
  );
});

Deno.test("encodeRequest() keeps within what the API takes", () => {
  assertEquals(config({ maxOutput: 100_000 }, { maxOutput: 65_536 }), { maxOutputTokens: 65_536 });
  assertEquals(config({}, { maxOutput: 65_536 }), undefined);
  assertEquals(config({ presencePenalty: 0, frequencyPenalty: 0, stop: [""] }), undefined);
  assertEquals(config({ seed: 2 ** 40 + 7 }), { seed: 7 });
  assertEquals(config({ n: 2 }, { stream: true }), undefined);
  assertEquals(config({ logprobs: true, topLogprobs: 0 }), { responseLogprobs: true });
  const stop = ["1", "2", "3", "4", "5", "6"];
  assertEquals(config({ stop })?.stopSequences, stop.slice(0, 5));
  assertEquals(dropped(prompt([user("hi")], { stop })), ["stop_sequences"]);
});

Deno.test("encodeRequest() declares functions with their JSON Schema as it is", () => {
  const schema = { $schema: "x", type: "object", properties: { a: { enum: [1] } }, $defs: {} };
  const body = ask({
    tools: [tool("f", { parameters: schema, strict: true }), { kind: "function", name: "bare" }],
  });
  assertEquals(body.tools, [{
    functionDeclarations: [{ name: "f", description: "d", parametersJsonSchema: schema }, { name: "bare" }],
  }]);
  assertEquals(body.toolConfig, undefined);
});

Deno.test("encodeRequest() says which function may be called", async (t) => {
  const cases: [ToolChoice, unknown, string[]][] = [
    [{ type: "auto" }, { mode: "AUTO" }, ["f", "g"]],
    [{ type: "none" }, { mode: "NONE" }, ["f", "g"]],
    [{ type: "required" }, { mode: "ANY" }, ["f", "g"]],
    [{ type: "tool", name: "g", kind: "function" }, { mode: "ANY", allowedFunctionNames: ["g"] }, ["f", "g"]],
    [{ type: "tool", name: "gone", kind: "function" }, { mode: "ANY" }, ["f", "g"]],
    [
      { type: "allowed", required: true, names: ["f", "gone"] },
      { mode: "ANY", allowedFunctionNames: ["f"] },
      ["f", "g"],
    ],
    [{ type: "allowed", required: false, names: ["f", "gone"] }, { mode: "AUTO" }, ["f"]],
  ];
  for (const [toolChoice, expected, names] of cases) {
    await t.step(JSON.stringify(toolChoice), () => {
      const body = ask({ tools: [tool("f"), tool("g")], toolChoice });
      assertEquals<unknown>(body.toolConfig?.functionCallingConfig, expected);
      assertEquals(body.tools?.[0].functionDeclarations.map((d) => d.name), names);
    });
  }
  await t.step("without functions there is no choice", () => {
    assertEquals(ask({ toolChoice: { type: "auto" } }).toolConfig, undefined);
    assertEquals(
      ask({ tools: [tool("f")], toolChoice: { type: "allowed", required: false, names: [] } }).tools,
      undefined,
    );
  });
});

Deno.test("encodeRequest() asks for JSON as firmly as the model can", async (t) => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const json = { responseMimeType: "application/json" };
  const native = { ...json, responseJsonSchema: schema };
  const tools = [tool("f")];
  const features = (...names: string[]) => ({ features: new Set(names) });
  const cases: [string, Partial<Prompt>, Partial<EncodeRequest>, unknown, boolean][] = [
    ["schema", { output: { type: "schema", schema } }, {}, native, false],
    [
      "schema, JSON mode only",
      { output: { type: "schema", schema } },
      features("response_format"),
      json,
      true,
    ],
    ["schema, neither", { output: { type: "schema", schema } }, features(), undefined, true],
    ["json", { output: { type: "json" } }, {}, json, false],
    ["json, JSON mode only", { output: { type: "json" } }, features("response_format"), json, false],
    ["json, schemas only", { output: { type: "json" } }, features("structured_outputs"), json, false],
    ["json, neither", { output: { type: "json" } }, features(), undefined, true],
    ["schema beside tools", { output: { type: "schema", schema }, tools }, {}, native, false],
    [
      "schema beside tools before Gemini 3",
      { output: { type: "schema", schema }, tools },
      { model: "gemini-2.5-pro" },
      undefined,
      true,
    ],
    ["text", { output: { type: "text" } }, {}, undefined, false],
  ];
  for (const [name, more, ctx, expected, told] of cases) {
    await t.step(name, () => {
      const body = ask(more, ctx);
      assertEquals<unknown>(body.generationConfig, expected);
      assertEquals(body.systemInstruction !== undefined, told);
      if (told) assertStringIncludes(body.systemInstruction!.parts[0].text, "JSON");
      if (told && more.output?.type === "schema") {
        assertStringIncludes(body.systemInstruction!.parts[0].text, JSON.stringify(schema));
      }
    });
  }
});

Deno.test("encodeRequest() asks for images and sound", () => {
  assertEquals(config({ modalities: ["text", "image"] }), { responseModalities: ["TEXT", "IMAGE"] });
  assertEquals(config({ modalities: ["text"] }), undefined);
  const spoken = { modalities: ["text", "audio"], audio: { voice: "Kore", format: "pcm16" } };
  assertEquals(config(spoken), {
    responseModalities: ["AUDIO"],
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
  });
  const foreign = { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } };
  assertEquals(config(foreign), { responseModalities: ["AUDIO"] });
  assertEquals(dropped(prompt([user("hi")], { ...foreign, format: "chat_completions" })), ["audio"]);
});

Deno.test("encodeRequest() asks for the tier of service that the caller wants, of models that have tiers", () => {
  const asked = (serviceTier: string, model: string) => {
    const given = prompt([user("hi")], { serviceTier });
    return [encode(given, { model }).serviceTier, dropped(given, { model })];
  };
  for (const model of ["gemini-3-pro", "gemini-2.5-flash", "gemini-flash-latest"]) {
    for (const tier of ["flex", "priority"]) assertEquals(asked(tier, model), [tier, []], model);
    for (const tier of ["auto", "default", "standard_only"]) {
      assertEquals(asked(tier, model), [undefined, []]);
    }
    assertEquals(asked("scale", model), [undefined, ["service_tier"]]);
  }
  for (const model of ["gemini-2.0-flash", "gemma-3-27b-it"]) {
    assertEquals(asked("flex", model), [undefined, ["service_tier"]]);
    assertEquals(asked("auto", model), [undefined, []]);
  }
});

Deno.test("encodeRequest() names what it drops as the caller wrote it", () => {
  const more: Partial<Prompt> = {
    unknown: { safety_settings: [], custom: 1 },
    tools: [tool("f"), { kind: "opaque", format: "messages", value: {} }],
    parallelCalls: false,
    logitBias: { "1": 2 },
    verbosity: "low",
    serviceTier: "flex",
    reasoning: { effort: "high" },
    user: "u",
    metadata: { a: "b" },
    cacheKey: "k",
  };
  const names = (format: Prompt["format"]) =>
    dropped(prompt([user("hi")], { ...more, format }), { model: "gemini-2.0-flash" });
  assertEquals(names("chat_completions"), [
    "safety_settings",
    "custom",
    "tools",
    "reasoning_effort",
    "parallel_tool_calls",
    "logit_bias",
    "verbosity",
    "service_tier",
    "user",
    "metadata",
    "prompt_cache_key",
  ]);
  assertEquals(names("messages").slice(3, 5), ["thinking", "tool_choice"]);
  assertEquals(names("responses")[3], "reasoning");
  assertEquals(
    dropped(prompt([user("hi")], { verbosity: "medium", logitBias: {} })),
    [],
  );
});
