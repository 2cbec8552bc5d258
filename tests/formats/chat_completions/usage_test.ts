import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Loose } from "../../../src/exchange/json.ts";
import { NO_USAGE, type Usage } from "../../../src/exchange/usage.ts";
import { decodeUsage, encodeUsage } from "../../../src/formats/chat_completions/usage.ts";

const CASES: Record<string, [Loose, Partial<Usage>]> = {
  "reasoning and cache inside": [
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: {
        cached_tokens: 60,
        cache_write_tokens: 20,
        audio_tokens: 5,
        image_tokens: 4,
        video_tokens: 3,
      },
      completion_tokens_details: { reasoning_tokens: 40, audio_tokens: 2, image_tokens: 1 },
    },
    {
      input: 100,
      cached: 60,
      cacheWrite: 20,
      audioInput: 5,
      imageInput: 4,
      videoInput: 3,
      output: 50,
      reasoning: 40,
      audioOutput: 2,
      imageOutput: 1,
    },
  ],
  "reasoning outside completion (xAI)": [
    {
      prompt_tokens: 390,
      completion_tokens: 26,
      total_tokens: 513,
      prompt_tokens_details: { cached_tokens: 192 },
      completion_tokens_details: { reasoning_tokens: 97 },
    },
    { input: 390, cached: 192, output: 123, reasoning: 97 },
  ],
  "reasoning outside completion and total (Vercel)": [
    {
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 11,
      completion_tokens_details: { reasoning_tokens: 25 },
    },
    { input: 9, output: 27, reasoning: 25 },
  ],
  "audio beside the prompt, told by the total": [
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      prompt_tokens_details: { audio_tokens: 20 },
    },
    { input: 30, audioInput: 20, output: 5 },
  ],
  "audio beside the prompt, and reasoning inside": [
    {
      prompt_tokens: 10,
      completion_tokens: 8,
      total_tokens: 38,
      prompt_tokens_details: { audio_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
    { input: 30, audioInput: 20, output: 8, reasoning: 5 },
  ],
  "audio and reasoning beside, told by the total": [
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 42,
      prompt_tokens_details: { audio_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 7 },
    },
    { input: 30, audioInput: 20, output: 12, reasoning: 7 },
  ],
  "Anthropic's cache counts beside a prompt and a total without them": [
    {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
    },
    { input: 125, cached: 100, cacheWrite: 20, output: 3 },
  ],
  "reasoning miscounted by one (OpenRouter)": [
    {
      prompt_tokens: 9,
      completion_tokens: 10,
      total_tokens: 19,
      completion_tokens_details: { reasoning_tokens: 11 },
    },
    { input: 9, output: 10, reasoning: 10 },
  ],
  "thoughts in the total alone (Google)": [
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 },
    { input: 10, output: 30, reasoning: 25 },
  ],
  "sound outside the prompt (Mistral)": [
    {
      prompt_tokens: 9,
      completion_tokens: 201,
      total_tokens: 585,
      prompt_tokens_details: { audio_tokens: 375 },
    },
    { input: 384, audioInput: 375, output: 201 },
  ],
  "more cached than prompted (Azure Grok)": [
    {
      prompt_tokens: 198,
      completion_tokens: 18,
      total_tokens: 216,
      prompt_tokens_details: { cached_tokens: 314 },
    },
    { input: 198, cached: 198, output: 18 },
  ],
  "DeepSeek's names": [
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      total_tokens: 11,
      prompt_cache_hit_tokens: 8,
      prompt_cache_miss_tokens: 2,
    },
    { input: 10, cached: 8, output: 1 },
  ],
  "cached at the top level (Together, Mistral)": [
    { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, num_cached_tokens: 8 },
    { input: 10, cached: 8, output: 1 },
  ],
  "the cache outside the prompt, under another API's names": [
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      total_tokens: 111,
      cache_read_input_tokens: 80,
      cache_creation_input_tokens: 20,
    },
    { input: 110, cached: 80, cacheWrite: 20, output: 1 },
  ],
  "the cache inside the prompt, under another API's names": [
    {
      prompt_tokens: 110,
      completion_tokens: 1,
      total_tokens: 111,
      cache_read_input_tokens: 80,
      cache_creation_input_tokens: 20,
    },
    { input: 110, cached: 80, cacheWrite: 20, output: 1 },
  ],
  "cache writes by their time to live (LiteLLM)": [
    {
      prompt_tokens: 110,
      completion_tokens: 1,
      total_tokens: 111,
      cache_creation_input_tokens: 20,
      prompt_tokens_details: {
        cached_tokens: 80,
        cache_creation_tokens: 20,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      },
    },
    { input: 110, cached: 80, cacheWrite: 20, cacheWrite1h: 15, output: 1 },
  ],
  "cache writes by their time to live, under another API's names": [
    {
      prompt_tokens: 110,
      completion_tokens: 1,
      total_tokens: 111,
      cache_creation_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
    },
    { input: 110, cacheWrite: 20, cacheWrite1h: 15, output: 1 },
  ],
  "sources beside prompt and total (Perplexity's deep research)": [
    {
      prompt_tokens: 33,
      completion_tokens: 7163,
      total_tokens: 7196,
      citation_tokens: 20016,
      num_search_queries: 28,
      reasoning_tokens: 95305,
    },
    { input: 20049, output: 102468, reasoning: 95305 },
  ],
};
for (const [situation, [wire, wanted]] of Object.entries(CASES)) {
  Deno.test(`decodeUsage() ${situation}`, () => assertEquals(decodeUsage(wire), { ...NO_USAGE, ...wanted }));
}

Deno.test("decodeUsage() without counts is no usage", () => {
  for (
    const wire of [{}, { prompt_tokens: null, completion_tokens: "seven" }, {
      prompt_tokens: 0,
      completion_tokens: 0,
    }]
  ) {
    assertEquals(decodeUsage(wire), null);
  }
});

Deno.test("decodeUsage() never has a part above its total", () => {
  const amount = fc.oneof(fc.nat(300), fc.constantFrom(null, -3, 1.5, "7", 1e300));
  const names = "prompt_tokens completion_tokens total_tokens cached_tokens cache_read_input_tokens " +
    "cache_creation_input_tokens reasoning_tokens audio_tokens cache_write_tokens";
  const flat = fc.dictionary(fc.constantFrom(...names.split(" ")), amount);
  fc.assert(
    fc.property(flat, flat, flat, (wire, into, out) => {
      const u = decodeUsage({ ...wire, prompt_tokens_details: into, completion_tokens_details: out });
      if (!u) return;
      assertEquals(u.cached + u.cacheWrite <= u.input && u.audioInput <= u.input, true);
      assertEquals(u.reasoning <= u.output && u.audioOutput <= u.output, true);
      assertEquals(u.input >= Number(wire.prompt_tokens) || !Number.isSafeInteger(wire.prompt_tokens), true);
    }),
  );
});

Deno.test("encodeUsage() counts searches only when some ran", () => {
  const usage = { ...NO_USAGE, input: 3, output: 2 };
  assertEquals(encodeUsage(usage, undefined).server_tool_use, undefined);
  assertEquals(encodeUsage(usage, 0).server_tool_use, undefined);
  assertEquals(encodeUsage(usage, 2).server_tool_use, { web_search_requests: 2, web_fetch_requests: 0 });
});

Deno.test("encodeUsage() is read again as it was", () => {
  const usage = {
    ...NO_USAGE,
    input: 30,
    cached: 10,
    cacheWrite: 5,
    output: 20,
    reasoning: 15,
    audioInput: 2,
  };
  assertEquals(decodeUsage(encodeUsage(usage, 1)), usage);
});
