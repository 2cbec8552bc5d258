/**
 * Streams that are ended because their callers have left and others need the place: what the provider has reported until then is billed,
 * with the output so far.
 */
import { assertEquals } from "@std/assert";
import type { Prompt } from "../../src/exchange/prompt.ts";
import { normalizeUsage } from "../../src/exchange/usage.ts";
import type { Model } from "../../src/models/catalog.ts";
import type { Call } from "../../src/pipeline/call.ts";
import type { Begun } from "../../src/pipeline/generation/begin_answer.ts";
import { bill } from "../../src/pipeline/generation/note_usage.ts";
import type { Kit } from "../../src/pipeline/kit.ts";
import { SECRET, testGateway, type TestProvider } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { hosted } from "../support/deploy_shape.ts";

const TEXT = "hello there, friend";
const event = (data: Record<string, unknown>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const chunk = (data: Record<string, unknown>) => `data: ${JSON.stringify(data)}\n\n`;

const MESSAGE = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "model",
  content: [],
  stop_reason: null,
};
/** How each API begins an answer to a prompt of 1,000 tokens, 900 of which came from a cache. */
const BEGINNINGS: Partial<Record<TestProvider["api"], string>> = {
  "anthropic-messages": event({
    type: "message_start",
    message: { ...MESSAGE, usage: { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 1 } },
  }) + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } }),
  "openai-chat": chunk({
    id: "c",
    choices: [{ index: 0, delta: { content: TEXT } }],
    usage: { prompt_tokens: 1000, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 900 } },
  }),
  gemini: chunk({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: TEXT }] } }],
    usageMetadata: { promptTokenCount: 1000, cachedContentTokenCount: 900, candidatesTokenCount: 1 },
  }),
};

/** Streams that begin and do not end. */
function endless(text: string) {
  const ends: (() => void)[] = [];
  const provider = loopbackProvider(() => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text));
        ends.push(() => {
          try {
            controller.close();
          } catch {
            // The gateway has closed it.
          }
        });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return { ...provider, end: () => ends.forEach((end) => end()) };
}

/** The record of a stream that begins so, and that is ended because its caller has left. */
async function recordOf(api: TestProvider["api"], text: string, more?: Record<string, unknown>) {
  const provider = endless(text);
  const pricing = { prompt: "0.001", input_cache_read: "0.0001", completion: "0.01" };
  let left = 0;
  const gateway = await testGateway(
    { p: { api, url: provider.url, model: { pricing }, more } },
    { server: { max_in_flight: 8 }, keys: [{ name: "test", secret: SECRET }] },
    { onRequest: ({ signal }) => signal.addEventListener("abort", () => left++) },
  );
  for (let i = 1; i <= 12; i++) {
    const abort = new AbortController();
    const response = await gateway.post("/v1/chat/completions", {
      model: "p/model",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    }, { signal: abort.signal });
    assertEquals(response.status, 200);
    await response.body!.getReader().read();
    abort.abort();
    await eventually(() => left === i);
  }
  const [record] = (await eventually(async () => {
    const { data } = await gateway.gateway.accounts.generations({ limit: 100 });
    return data.length > 0 ? data : null;
  }))!;
  provider.end();
  await gateway.close();
  await provider.close();
  assertEquals([record.status, record.usage_estimated], ["interrupted", true]);
  return record;
}

const CASES = Object.entries(BEGINNINGS).flatMap(([api, text]) =>
  [undefined, { think_tags: {} }].map((more) => ({ api: api as TestProvider["api"], text, more }))
);

for (const { api, text, more } of CASES) {
  const how = more ? " and reasons between tags" : "";
  Deno.test(`${api}: a stream that is ended${how} is billed by what its provider has reported`, {
    ignore: hosted,
  }, async () => {
    const { usage, cost } = await recordOf(api, text, more);
    const { input_tokens, cached_tokens, output_tokens } = usage!;
    assertEquals([input_tokens, cached_tokens, output_tokens], [1000, 900, 5]);
    // 100 × 0.001 + 900 × 0.0001 + 5 × 0.01
    assertEquals(cost, "0.24");
  });
}

Deno.test(
  "a stream of sound that is ended is billed by the sound until then",
  { ignore: hosted },
  async () => {
    // Twice a sixteenth of a second of samples of 16 bits at 24 kHz.
    const data = btoa("\x01\x02".repeat(1500));
    const piece = (audio: Record<string, unknown>) =>
      chunk({ id: "c", choices: [{ index: 0, delta: { audio } }] });
    const { usage } = await recordOf(
      "openai-chat",
      piece({ id: "a", data }) + piece({ data, transcript: "Hi" }),
    );
    assertEquals([usage!.output_tokens, usage!.audio_output_tokens], [4, 4]);
  },
);

Deno.test("the slower of two hedged calls is billed by what its provider has reported", () => {
  const some = <T>(fields: unknown): T => fields as T;
  const usage = normalizeUsage({ input: 1000, cached: 900, output: 1 });
  const prompt = some<Prompt>({ tools: [], unknown: {} });
  const call = some<Call>({
    lost: [],
    others: null,
    prompt,
    model: some<Model>({ contextLength: 5000 }),
    size: {},
  });
  const reader = { counted: { type: "usage", usage, service: "priority" } };
  const begun = some<Begun>({ batch: [{ type: "text-delta", block: 0, text: TEXT }], reader });
  bill(begun, { prompt, provider: "p" }, call, some<Kit>({}));
  assertEquals(call.lost, [
    { usage: { ...usage, output: 5 }, service: "priority", provider: "p", estimated: true },
  ]);
});
