/** Token counts of the responses format. */
import { assertEquals } from "@std/assert";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { decodeUsage, encodeUsage } from "../../../src/formats/responses/usage.ts";

Deno.test("decodeUsage() reads totals with their parts", () => {
  assertEquals(
    decodeUsage({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens: 8,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 18,
    }),
    { ...NO_USAGE, input: 10, cached: 4, cacheWrite: 2, output: 8, reasoning: 5 },
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
