import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { decodeService, decodeUsage, encodeUsage, mergeUsage } from "../../../src/formats/messages/usage.ts";

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

Deno.test("mergeUsage() keeps the input of the start where the end says that there was none", () => {
  const start = {
    input_tokens: 100,
    cache_read_input_tokens: 50,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 30 },
    output_tokens: 1,
  };
  const merged = (end: Loose) => {
    const usage: Loose = { ...start };
    mergeUsage(usage, end);
    return decodeUsage(usage);
  };
  const kept = normalizeUsage({ input: 180, cached: 50, cacheWrite: 30, cacheWrite1h: 30, output: 7 });
  const nothing = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
  const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  assertEquals(merged({ output_tokens: 7 }), kept);
  assertEquals(merged({ input_tokens: 0, output_tokens: 7 }), kept);
  assertEquals(merged({ ...zeros, cache_creation: nothing, output_tokens: 7 }), kept);
  // A prompt that is cached as a whole has no other input.
  const cached = merged({
    ...zeros,
    cache_read_input_tokens: 180,
    cache_creation: nothing,
    output_tokens: 7,
  });
  assertEquals(cached, normalizeUsage({ input: 180, cached: 180, output: 7 }));
  const less = merged({ ...zeros, input_tokens: 3, output_tokens: 7 });
  assertEquals([less?.input, less?.cached, less?.cacheWrite], [3, 0, 0]);
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

Deno.test("decodeUsage() counts what a provider used to compact and for advice, which its totals leave out", () => {
  const iteration = (type: string, input_tokens: number, output_tokens: number, read = 0, written = 0) => ({
    type,
    input_tokens,
    output_tokens,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: written },
  });
  const raw = {
    input_tokens: 181,
    output_tokens: 8,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    iterations: [
      iteration("compaction", 100, 83, 55096, 40),
      iteration("message", 181, 8),
      iteration("advisor_message", 2518, 22),
    ],
  };
  const usage = decodeUsage(raw);
  assertEquals(
    usage,
    normalizeUsage({ input: 57935, cached: 55096, cacheWrite: 40, cacheWrite1h: 40, output: 113 }),
  );
  const told = encodeUsage(usage, undefined, decodeService(raw));
  assertEquals([told.input_tokens, told.cache_read_input_tokens, told.output_tokens], [181, 0, 8]);
  assertEquals([told.cache_creation_input_tokens, told.iterations], [0, raw.iterations]);
  assertEquals(encodeUsage(usage, undefined).input_tokens, 57935 - 55096 - 40);
});

Deno.test("decodeUsage() takes the totals of an answer that a fallback gave", () => {
  const raw = {
    input_tokens: 412,
    output_tokens: 264,
    iterations: [
      { type: "message", model: "claude-fable-5", input_tokens: 408, output_tokens: 0 },
      { type: "fallback_message", model: "claude-opus-4-8", input_tokens: 412, output_tokens: 264 },
    ],
  };
  assertEquals(decodeUsage(raw), normalizeUsage({ input: 412, output: 264 }));
});
