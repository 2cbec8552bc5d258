import { assertEquals } from "@std/assert";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { decodeUsage, encodeUsage } from "../../../src/formats/messages/usage.ts";

Deno.test("decodeUsage() adds the cache to the uncached input", () => {
  const usage = decodeUsage({
    input_tokens: 10,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 15 },
  });
  assertEquals(
    usage,
    normalizeUsage({ input: 160, cached: 100, cacheWrite: 50, cacheWrite1h: 30, output: 40, reasoning: 15 }),
  );
});

Deno.test("decodeUsage() believes the total of cache writes over a breakdown that is behind it", () => {
  const behind = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
  const usage = decodeUsage({ input_tokens: 1, cache_creation_input_tokens: 50, cache_creation: behind });
  assertEquals([usage?.input, usage?.cacheWrite], [51, 50]);
  const alone = decodeUsage({ input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 7 } });
  assertEquals([alone?.input, alone?.cacheWrite, alone?.cacheWrite1h], [8, 7, 7]);
});

Deno.test("decodeUsage() tells no report from a report of nothing", () => {
  assertEquals(decodeUsage({}), null);
  assertEquals(decodeUsage({ input_tokens: null, output_tokens: null }), null);
  assertEquals(decodeUsage({ input_tokens: 0, output_tokens: 0 }), normalizeUsage({}));
});

Deno.test("encodeUsage() undoes decodeUsage()", () => {
  const usage = normalizeUsage({
    input: 160,
    cached: 100,
    cacheWrite: 50,
    cacheWrite1h: 30,
    output: 40,
    reasoning: 15,
  });
  assertEquals(decodeUsage(encodeUsage(usage, undefined)), usage);
  assertEquals(encodeUsage(usage, 0).server_tool_use, null);
  assertEquals(encodeUsage(null, 1).server_tool_use, { web_search_requests: 1, web_fetch_requests: 0 });
});
