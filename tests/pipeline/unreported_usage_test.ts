/**
 * Answers whose provider reports no usage: the estimate is the same for a stream and a whole answer, includes calls without arguments,
 * images, sound and attachments, and is at most what was reserved.
 */
import { assert, assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "admin-key-of-unreported-usage";
const TEXT = "hello there friend";
/** A second of samples of 16 bits at 24 kHz. */
const SOUND = btoa("\x01\x02".repeat(24_000));
/** A PNG with 64 × 64 pixels, as far as its header goes. */
const PNG = btoa(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x40\x08\x06\0\0\0${"\0".repeat(20)}`);

const ANSWERS = {
  text: { content: TEXT },
  reasoning: { content: "x", reasoning_content: "a long thought here" },
  call: { content: null, tool_calls: [callOf('{"a":"some words"}')] },
  "a call without arguments": { content: null, tool_calls: [callOf("")] },
  "an image": {
    content: null,
    images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
  },
  "a second of sound": { content: null, audio: { id: "a", data: SOUND, expires_at: 1, transcript: "Hi" } },
} as const;
type Kind = keyof typeof ANSWERS;

function callOf(text: string) {
  return { index: 0, id: "c1", type: "function", function: { name: "look", arguments: text } };
}

/** Answers in the format of chat completions with what the request names. */
function answer(body: Record<string, unknown>): Response {
  const message = ANSWERS[/answer: ([a-z ]+)\./.exec(JSON.stringify(body))![1] as Kind];
  const finish_reason = "tool_calls" in message ? "tool_calls" : "stop";
  if (body.stream !== true) {
    return Response.json({
      id: "c",
      object: "chat.completion",
      choices: Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({
        index,
        message: { role: "assistant", ...message },
        finish_reason,
      })),
    });
  }
  const chunks = [{ delta: { role: "assistant", ...message } }, { delta: {}, finish_reason }]
    .map((choice) =>
      `data: ${
        JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })
      }\n\n`
    );
  return new Response(`${chunks.join("")}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
}

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };
const REQUESTS: Record<string, (text: string, cap: number, stream: boolean) => Record<string, unknown>> = {
  "/v1/chat/completions": (text, cap, stream) => ({
    max_tokens: cap,
    messages: [{ role: "user", content: text }],
    tools: [{ type: "function", function: { name: "look", parameters: SCHEMA } }],
    ...(stream && { stream_options: { include_usage: true, include_obfuscation: false } }),
  }),
  "/v1/messages": (text, cap) => ({
    max_tokens: cap,
    messages: [{ role: "user", content: text }],
    tools: [{ name: "look", input_schema: SCHEMA }],
  }),
  "/v1/responses": (text, cap, stream) => ({
    max_output_tokens: cap,
    input: text,
    tools: [{ type: "function", name: "look", parameters: SCHEMA }],
    ...(stream && { stream_options: { include_obfuscation: false } }),
  }),
};

function open() {
  const provider = loopbackProvider(({ body }) => answer(body));
  const model = {
    pricing: { prompt: "0.001", completion: "0.01", image_output: "0.1" },
    capabilities: {
      modality_input: ["text", "image"],
      modality_output: ["text", "image", "audio"],
      features: ["tools", "reasoning"],
    },
  };
  return {
    provider,
    gateway: testGateway({ p: { api: "openai-chat", url: provider.url, model } }, { admin_key: ADMIN }),
  };
}

interface Billed {
  usage: Record<"input_tokens" | "output_tokens" | "image_output_tokens" | "audio_output_tokens", number>;
  usage_estimated: boolean;
  cost: string;
}

async function billed(
  gateway: Awaited<ReturnType<typeof open>["gateway"]>,
  path: string,
  body: Record<string, unknown>,
): Promise<Billed> {
  const response = await gateway.post(path, { model: "p/model", ...body });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  const record = await fetch(`${gateway.url}/admin/generations/${response.headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  assertEquals(record.status, 200, `${path} ${JSON.stringify(body)}: ${await record.clone().text()}`);
  const { usage, usage_estimated, cost } = await record.json();
  return { usage, usage_estimated, cost };
}

Deno.test("an answer without reported usage costs the same as a stream and whole, whatever it consists of", async () => {
  const opened = open();
  await using _ = opened.provider;
  await using gateway = await opened.gateway;
  for (const [path, request] of Object.entries(REQUESTS)) {
    for (const kind of Object.keys(ANSWERS)) {
      const of = (stream: boolean) =>
        billed(gateway, path, { stream, ...request(`answer: ${kind}.`, 5000, stream) });
      const whole = await of(false);
      const what = `${path} ${kind} ${JSON.stringify(whole)}`;
      assertEquals(await of(true), whole, what);
      assert(whole.usage_estimated, what);
      assert(whole.usage.input_tokens > 4 && whole.usage.output_tokens > 0, what);
      assertEquals(whole.usage.image_output_tokens > 100, kind === "an image", what);
      assertEquals(whole.usage.audio_output_tokens, kind === "a second of sound" ? 32 : 0, what);
    }
  }
});

Deno.test("an estimated output is at most the maximum that was asked for", async () => {
  const opened = open();
  await using _ = opened.provider;
  await using gateway = await opened.gateway;
  for (const [path, request] of Object.entries(REQUESTS)) {
    for (const stream of [false, true]) {
      const { usage } = await billed(gateway, path, { stream, ...request("answer: text.", 3, stream) });
      assertEquals(usage.output_tokens, 3, `${path} ${stream}`);
    }
  }
  const { usage } = await billed(gateway, "/v1/chat/completions", {
    n: 3,
    ...REQUESTS["/v1/chat/completions"]("answer: text.", 3, false),
  });
  assertEquals(usage.output_tokens, 9);
});

Deno.test("an estimated input includes attachments", async () => {
  const opened = open();
  await using _ = opened.provider;
  await using gateway = await opened.gateway;
  const request = (content: unknown) => ({ messages: [{ role: "user", content }] });
  const plain = await billed(gateway, "/v1/chat/completions", request("answer: text."));
  const seen = await billed(
    gateway,
    "/v1/chat/completions",
    request([
      { type: "text", text: "answer: text." },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    ]),
  );
  const more = seen.usage.input_tokens - plain.usage.input_tokens;
  assert(more > 100 && more < 1000, `${more} tokens for a small image`);
});
