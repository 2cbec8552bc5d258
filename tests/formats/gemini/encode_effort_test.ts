import { assertEquals } from "@std/assert";
import type { ReasoningOptions } from "../../../src/exchange/prompt.ts";
import type { EncodeRequest } from "../../../src/formats/format.ts";
import { encodeEffort } from "../../../src/formats/gemini/encode_effort.ts";
import { context } from "./prompts.ts";

const think = (wish: ReasoningOptions | undefined, model: string, more: Partial<EncodeRequest> = {}) =>
  encodeEffort(wish, context({ model, ...more }));
const shown = { includeThoughts: true };

Deno.test("encodeEffort() gives budgets to Gemini 2.5, within the model's range", () => {
  const cases: [ReasoningOptions, string, unknown][] = [
    [{ effort: "high" }, "gemini-2.5-flash", { ...shown, thinkingBudget: 24576 }],
    [{ effort: "low" }, "gemini-2.5-flash", { ...shown, thinkingBudget: 4096 }],
    [{ mode: "on", budget: 1500 }, "gemini-2.5-flash", { ...shown, thinkingBudget: 1500 }],
    [{ mode: "on", budget: 60000 }, "gemini-2.5-flash", { ...shown, thinkingBudget: 24576 }],
    [{ effort: "max" }, "gemini-2.5-pro", { ...shown, thinkingBudget: 32768 }],
    [{ mode: "on", budget: 1 }, "models/gemini-2.5-pro-preview", { ...shown, thinkingBudget: 128 }],
    [{ mode: "on", budget: 100 }, "gemini-2.5-flash-lite", { ...shown, thinkingBudget: 512 }],
    [{ mode: "adaptive" }, "gemini-2.5-flash", { ...shown, thinkingBudget: -1 }],
    [{ mode: "on" }, "gemini-2.5-flash", { ...shown, thinkingBudget: -1 }],
    [{ mode: "off" }, "gemini-2.5-flash", { thinkingBudget: 0 }],
    [{ effort: "none" }, "gemini-2.5-flash-lite", { thinkingBudget: 0 }],
    [{ mode: "off" }, "gemini-2.5-pro", { thinkingBudget: 128 }],
    [{ effort: "low", summary: "omitted" }, "gemini-2.5-pro", { thinkingBudget: 4096 }],
  ];
  for (const [wish, model, expected] of cases) assertEquals<unknown>(think(wish, model), expected, model);
});

Deno.test("encodeEffort() gives levels to Gemini 3 and later, those the model has", () => {
  const cases: [ReasoningOptions, string, unknown][] = [
    [{ effort: "minimal" }, "gemini-3-flash-preview", { ...shown, thinkingLevel: "minimal" }],
    [{ effort: "minimal" }, "gemini-3-pro-preview", { ...shown, thinkingLevel: "low" }],
    [{ effort: "medium" }, "gemini-3-pro-preview", { ...shown, thinkingLevel: "low" }],
    [{ effort: "medium" }, "gemini-3.1-pro-preview", { ...shown, thinkingLevel: "medium" }],
    [{ effort: "minimal" }, "gemini-3.7-flash", { ...shown, thinkingLevel: "low" }],
    [{ effort: "xhigh" }, "gemini-3-flash", { ...shown, thinkingLevel: "high" }],
    [{ effort: "max" }, "gemini-flash-latest", { ...shown, thinkingLevel: "high" }],
    [{ mode: "on", budget: 2000 }, "gemini-3-flash", { ...shown, thinkingLevel: "low" }],
    [{ mode: "on" }, "gemini-3-flash", shown],
    [{ mode: "adaptive" }, "gemini-3-flash", shown],
    [{ mode: "adaptive", effort: "high" }, "gemini-3-flash", { ...shown, thinkingLevel: "high" }],
    [{ mode: "off" }, "gemini-3-flash", { thinkingLevel: "minimal" }],
    [{ effort: "none" }, "gemini-3-pro", { thinkingLevel: "low" }],
    [{ summary: "auto" }, "gemini-3-pro", shown],
  ];
  for (const [wish, model, expected] of cases) assertEquals<unknown>(think(wish, model), expected, model);
  assertEquals(think({ effort: "minimal" }, "gemini-3-flash", { efforts: ["none", "low", "xhigh"] }), {
    ...shown,
    thinkingLevel: "low",
  });
});

Deno.test("encodeEffort() leaves models alone that do not think", () => {
  assertEquals(think(undefined, "gemini-2.5-pro"), undefined);
  assertEquals(think({ effort: "high" }, "gemini-2.0-flash"), null);
  assertEquals(think({ mode: "off" }, "gemini-1.5-pro"), undefined);
  assertEquals(think({ effort: "high" }, "gemini-2.5-flash", { features: new Set(["tools"]) }), null);
  assertEquals(think({ effort: "high" }, "tuned", { features: new Set(["reasoning"]) }), {
    ...shown,
    thinkingBudget: 24576,
  });
});
