/** Token counts of the responses format. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { decodeUsage, encodeUsage } from "../../../src/formats/responses/usage.ts";
import { answering, answerOf, eventsOf, streamText } from "./support.ts";

Deno.test("decodeUsage() reads totals with their parts", () => {
  assertEquals(
    decodeUsage({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2, audio_tokens: 1, image_tokens: 3 },
      output_tokens: 8,
      output_tokens_details: { reasoning_tokens: 5, audio_tokens: 1, image_tokens: 2 },
      total_tokens: 18,
    }),
    {
      ...NO_USAGE,
      input: 10,
      cached: 4,
      cacheWrite: 2,
      audioInput: 1,
      imageInput: 3,
      output: 8,
      reasoning: 5,
      audioOutput: 1,
      imageOutput: 2,
    },
  );
  assertEquals(decodeUsage(null), null);
});

Deno.test("decodeUsage() adds reasoning that the total counts and the output does not", () => {
  const wire = { input_tokens: 10, output_tokens: 2, output_tokens_details: { reasoning_tokens: 25 } };
  assertEquals(decodeUsage({ ...wire, total_tokens: 37 })?.output, 27);
  assertEquals(decodeUsage({ ...wire, total_tokens: 12 })?.output, 2);
});

Deno.test("encodeUsage() is read back as it was, and tells searches only when there were any", () => {
  const usage = { ...NO_USAGE, input: 10, cached: 4, cacheWrite: 2, output: 8, reasoning: 5 };
  assertEquals(decodeUsage(encodeUsage(usage, undefined)), usage);
  assertEquals(encodeUsage(usage, 0).server_tool_use, undefined);
  assertEquals(encodeUsage(usage, 2).server_tool_use, { web_search_requests: 2, web_fetch_requests: 0 });
});

Deno.test("a response names the tier of service that another API gave, not the one that was asked for", () => {
  const usage = { ...NO_USAGE, input: 1, output: 1 };
  const cases = [["standard", "default"], ["priority", "priority"], ["offpeak", "default"], [
    undefined,
    "flex",
  ]];
  for (const [service, told] of cases) {
    const parts: Part[] = [
      { type: "start" },
      { type: "usage", usage, ...(service && { service }) },
      { type: "finish", choice: 0, reason: "stop" },
    ];
    const context = answering({ service_tier: "flex" });
    const [streamed] = eventsOf(streamText(parts, context)).slice(-1);
    assertEquals((streamed.data.response as Loose).service_tier, told);
    assertEquals(responses.encodeAnswer(answerOf(parts), context).service_tier, told);
  }
});
