/**
 * An answer that fails after its start, before any content: another route answers, and the caller, who may have the start already, gets one
 * whole answer. What the first provider reported is not billed.
 */
import { assertEquals } from "@std/assert";
import { readCaller } from "../corpus/caller.ts";
import { leastAnswer } from "../support/answers.ts";
import { CALLERS } from "../support/scenarios.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, readGated, sseResponse } from "../support/provider.ts";

const named = (type: string, more: Record<string, unknown> = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: unknown, finish: string | null = null, more = {}) =>
  data({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const OPENED = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "in_progress",
  model: "m",
  output: [],
};
const OVERLOADED = { type: "overloaded_error", message: "Overloaded" };

/** The start of an answer, and its end by a failure that does not depend on the request. */
const FAILING: Readonly<Record<string, readonly [start: string, failure: string]>> = {
  "anthropic-messages": [
    named("message_start", {
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 900, output_tokens: 1 },
      },
    }) + named("ping"),
    named("error", { error: OVERLOADED }),
  ],
  "openai-chat": [chunk({ role: "assistant", content: "" }), data({ error: { code: 503, ...OVERLOADED } })],
  "openai-responses": [
    named("response.created", { response: OPENED }) + named("response.in_progress", { response: OPENED }),
    named("response.failed", {
      response: {
        ...OPENED,
        status: "failed",
        error: { code: "server_error", message: "The server had an error." },
      },
    }),
  ],
  gemini: [
    data({ candidates: [{ content: { role: "model", parts: [] } }], modelVersion: "m" }),
    data({ error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." } }),
  ],
};

const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

interface Rig extends AsyncDisposable {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  records(): Promise<Record<string, unknown>[]>;
  /** How often each provider was asked. */
  asked(): [bad: number, good: number];
}

/** A gateway with two routes. The first provider's failure waits for `gate`. */
async function open(api: string, gate: Promise<void>, more: readonly string[] = []): Promise<Rig> {
  const [start, failure] = api === "cut" ? [chunk({ role: "assistant" }), ""] : FAILING[api];
  const bad = loopbackProvider(() => {
    const pieces = [start, ...more, failure].map((piece) => new TextEncoder().encode(piece));
    let i = 0;
    return new Response(
      new ReadableStream({
        async pull(controller) {
          if (i === pieces.length) return controller.close();
          if (i > 0) await gate;
          controller.enqueue(pieces[i++]);
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  const good = loopbackProvider(({ body }) => {
    const said = JSON.stringify(body.messages);
    if (!said.includes("Who are you?")) return new Response("the conversation is lost", { status: 400 });
    return body.stream
      ? sseResponse([
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "good" }),
        chunk({}, "stop", { usage }),
        "data: [DONE]\n\n",
      ])
      : Response.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "good" }, finish_reason: "stop" }],
        usage,
      });
  });
  const gateway = await testGateway({}, {
    providers: {
      bad: { api: api === "cut" ? "openai-chat" : api, base_url: bad.url, api_key: "k", retries: 0 },
      good: { api: "openai-chat", base_url: good.url, api_key: "k", retries: 0 },
    },
    models: [{
      id: "acme/one",
      routes: [{ provider: "bad", model: "m" }, { provider: "good", model: "m" }],
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
    }],
    keys: [{ name: "test", secret: SECRET }],
  });
  return {
    post: (path, body, headers) => gateway.post(path, body, { headers }),
    async records() {
      await gateway.gateway.idle();
      const { data } = await gateway.gateway.accounts.generations({});
      return data as unknown as Record<string, unknown>[];
    },
    asked: () => [bad.seen.length, good.seen.length],
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await bad.close();
      await good.close();
    },
  };
}

function request(caller: keyof typeof PATHS, stream: boolean): Record<string, unknown> {
  const said = [{ role: "user", content: "Who are you?" }];
  const common = { model: "acme/one", stream };
  if (caller === "responses") return { ...common, input: said };
  return { ...common, messages: said, ...(caller === "messages" && { max_tokens: 100 }) };
}

for (const api of Object.keys(FAILING)) {
  for (const caller of CALLERS) {
    Deno.test(`an answer of ${api} that fails after its start is given by the next route (${caller})`, async () => {
      const gate = Promise.withResolvers<void>();
      await using rig = await open(api, gate.promise);
      const text = await readGated(await rig.post(PATHS[caller], request(caller, true)), gate);
      const reading = await readCaller(
        caller,
        new Response(text, { headers: { "content-type": "text/event-stream" } }),
        true,
      );
      if (reading.kind === "error") throw new Error(text);
      assertEquals(reading.choices.map((choice) => choice.text), ["good"]);
      assertEquals([reading.usage?.input, reading.usage?.output], [7, 3]);
      const records = await rig.records();
      assertEquals(
        records.map(({ provider, status, usage }) => [
          provider,
          status,
          (usage as Record<string, unknown>).input_tokens,
        ]),
        [["good", "completed", 7]],
      );
      assertEquals(rig.asked(), [1, 1]);
    });
  }
}

Deno.test("an answer that was asked for whole is given by the next route too", async () => {
  await using rig = await open("anthropic-messages", Promise.resolve());
  const response = await rig.post(PATHS.chat_completions, request("chat_completions", false));
  assertEquals((await response.json()).choices[0].message.content, "good");
});

Deno.test("an answer that fails after some content ends with the failure", async () => {
  await using rig = await open("openai-chat", Promise.resolve(), [chunk({ content: "Ha" })]);
  const response = await rig.post(PATHS.chat_completions, request("chat_completions", true));
  const text = await response.text();
  assertEquals(/"code":"(\w+)"/.exec(text)?.[1], "provider_model_down", text);
  assertEquals(rig.asked(), [1, 0]);
});

Deno.test("an answer that breaks off after its start ends with the failure: it may be billed", async () => {
  await using rig = await open("cut", Promise.resolve());
  const response = await rig.post(PATHS.chat_completions, request("chat_completions", true));
  const text = await response.text();
  assertEquals(/"code":"(\w+)"/.exec(text)?.[1], "provider_unavailable", text);
  assertEquals(rig.asked(), [1, 0]);
});

Deno.test("if the next route fails too, the caller gets one start and that failure", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = await open("anthropic-messages", gate.promise);
  const body = { ...request("messages", true), messages: [{ role: "user", content: "?" }] };
  const text = await readGated(await rig.post(PATHS.messages, body), gate);
  assertEquals(text.split("event: message_start").length, 2, text);
  assertEquals(/"code":"(\w+)"/.exec(text)?.[1], "provider_bad_request", text);
  assertEquals(rig.asked(), [1, 1]);
  assertEquals((await rig.records()).map(({ provider, status }) => [provider, status]), []);
});

Deno.test("the next route's answer continues a stream that can be resumed", async () => {
  const gate = Promise.withResolvers<void>();
  await using rig = await open("anthropic-messages", gate.promise);
  const response = await rig.post(PATHS.messages, request("messages", true), { "x-svc-resume": "true" });
  const text = await readGated(response, gate);
  const ids = [...text.matchAll(/^id: ?(.+)$/gm)].map(([, id]) => id);
  assertEquals(new Set(ids).size, ids.length);
  assertEquals([...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type), [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

for (const [retries, failures, asked] of [[2, 2, 3], [2, 3, 3], [0, 1, 1]]) {
  const ends = failures < asked ? "the answer" : "the failure";
  Deno.test(`with one route and ${retries} retries, ${failures} such failures lead to ${ends}`, async () => {
    const gates = Array.from({ length: asked }, () => Promise.withResolvers<void>());
    const [start, failure] = FAILING["anthropic-messages"];
    const encoder = new TextEncoder();
    const provider = loopbackProvider((_, nth) => {
      if (nth >= failures) {
        return sseResponse([
          start,
          named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
          named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "good" } }),
          named("content_block_stop", { index: 0 }),
          named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }),
          named("message_stop"),
        ]);
      }
      // The start of a later answer is not passed on, so that nobody could open its gate.
      if (nth > 0) gates[nth].resolve();
      return new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(encoder.encode(start));
            await gates[nth].promise;
            controller.enqueue(encoder.encode(failure));
            controller.close();
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    });
    const gateway = await testGateway({
      p: { api: "anthropic-messages", url: provider.url, more: { retries } },
    });
    const body = { ...request("messages", true), model: "p/model" };
    const text = await readGated(await gateway.post(PATHS.messages, body), gates[0]);
    assertEquals(text.split("event: message_start").length, 2, text);
    assertEquals(text.includes("good"), failures < asked, text);
    assertEquals(/"code":"(\w+)"/.exec(text)?.[1], failures < asked ? undefined : "provider_model_down");
    assertEquals(provider.seen.length, asked);
    await gateway.close();
    await provider.close();
  });
}

Deno.test("a route to the same model over another API answers as any other route", async () => {
  const gate = Promise.withResolvers<void>();
  await using provider = loopbackProvider((seen) =>
    seen.path.endsWith("/messages") ? leastAnswer(seen) : sseResponse(FAILING["openai-chat"], gate.promise)
  );
  await using gateway = await testGateway({
    up: { api: "openai-chat", url: `${provider.url}/v1`, more: { retries: 2 } },
  }, {
    models: [{
      id: "v/m",
      routes: [{ provider: "up", model: "m" }, { provider: "up", model: "m", api: "anthropic-messages" }],
    }],
  }, { sleep: () => Promise.resolve() });
  const messages = [{ role: "user", content: "Hello" }];
  const response = await gateway.post("/v1/chat/completions", { model: "v/m", stream: true, messages });
  const text = await readGated(response, gate);
  assertEquals([text.includes('"hi"'), text.includes('"error"')], [true, false], text);
  assertEquals(provider.seen.map(({ path }) => path), ["/v1/chat/completions", "/v1/messages"]);
});
