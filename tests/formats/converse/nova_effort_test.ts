import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { convert } from "../conversions.ts";

/** AWS: the highest effort of Nova 2 excludes `maxTokens`, `temperature`, `topP` and `topK`. */
Deno.test("converse: Nova 2 gets nothing beside its highest effort that it excludes", () => {
  const sent = (options: Loose) => {
    const { body, dropped } = convert(
      "chat_completions",
      { messages: [{ role: "user", content: "Hi" }], ...options },
      "converse",
      "us.amazon.nova-2-lite-v1:0",
    );
    const { inferenceConfig, additionalModelRequestFields: fields } = body;
    return { inferenceConfig, fields, dropped };
  };
  const effort = (maxReasoningEffort: string) => ({
    reasoningConfig: { type: "enabled", maxReasoningEffort },
  });
  const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5 };
  const topK = { inferenceConfig: { topK: 5 } };
  assertEquals(sent({ reasoning_effort: "high", stop: ["x"], ...sampling }), {
    inferenceConfig: { stopSequences: ["x"] },
    fields: effort("high"),
    dropped: ["temperature", "top_p", "top_k"],
  });
  // The limit is the caller's bound on the cost.
  assertEquals(sent({ reasoning_effort: "xhigh", max_tokens: 900, ...sampling }), {
    inferenceConfig: { maxTokens: 900, temperature: 0.5, topP: 0.9 },
    fields: { ...topK, ...effort("medium") },
    dropped: ["reasoning_effort"],
  });
  assertEquals(sent({ reasoning_effort: "medium", max_tokens: 900, ...sampling }), {
    inferenceConfig: { maxTokens: 900, temperature: 0.5, topP: 0.9 },
    fields: { ...topK, ...effort("medium") },
    dropped: [],
  });
});
