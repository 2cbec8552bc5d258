/** Whole calls through the gateway: what reaches the provider, and what a provider that fails leaves the caller with. */
import { assert, assertEquals } from "@std/assert";
import { CHAT_FRAMES, leastAnswer } from "../support/answers.ts";
import {
  SECRET,
  type TestGateway,
  testGateway,
  type TestOptions,
  type TestProvider,
} from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";
import { eventually, StoppedClock, turns } from "../support/time.ts";

async function running(
  options: Partial<TestProvider> & { answer?: (seen: Seen, nth: number) => Response | Promise<Response> },
  test: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
  config: Record<string, unknown> = {},
  more: TestOptions = {},
): Promise<void> {
  const provider = loopbackProvider(options.answer ?? leastAnswer);
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: `${provider.url}/v1`, ...options } },
    config,
    more,
  );
  try {
    await test(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

const HI = [{ role: "user", content: "hi" }];
const chat = (gateway: TestGateway, more: object = {}) =>
  gateway.post("/v1/chat/completions", { model: "p/model", messages: HI, ...more });

async function records(gateway: TestGateway) {
  await gateway.gateway.idle();
  return (await gateway.gateway.accounts.generations({})).data;
}

Deno.test("run() asks as many times as answers are wanted, where the API gives one", async () => {
  for (const api of ["anthropic-messages", "openai-responses"] as const) {
    await running({ api }, async (gateway, provider) => {
      const { choices, usage } = await (await chat(gateway, { n: 3 })).json();
      assertEquals(choices.map((c: { index: number }) => c.index), [0, 1, 2]);
      for (const { message } of choices) assertEquals(message.content, "hi");
      assertEquals([usage.prompt_tokens, usage.completion_tokens], [9, 3]);
      assertEquals(provider.seen.length, 3);
      const text = await (await chat(gateway, { n: 2, stream: true })).text();
      for (const index of [0, 1]) assert(text.includes(`"index":${index}`), text);
      assert(text.endsWith("data: [DONE]\n\n"));
      assertEquals((await records(gateway)).map((g) => g.usage?.output_tokens), [2, 3]);
    });
  }
  await running({}, async (gateway, provider) => {
    assertEquals((await (await chat(gateway, { n: 3 })).json()).choices.length, 3);
    assertEquals(provider.seen.map((s) => s.body.n), [3]);
  });
});

Deno.test("run() lowers the output cap to the model's", () =>
  running({ model: { max_completion_tokens: 100 } }, async (gateway, provider) => {
    const cap = async (more: object) => {
      await (await chat(gateway, more)).body?.cancel();
      const { body } = provider.seen.at(-1)!;
      return body.max_tokens ?? body.max_completion_tokens;
    };
    assertEquals(await cap({ max_tokens: 5000 }), 100);
    assertEquals(await cap({ max_completion_tokens: 50 }), 50);
    assertEquals(await cap({}), undefined);
  }));

Deno.test("run() refuses what cannot fit the model and nothing that fits", () =>
  running({ model: { context_length: 8000 } }, async (gateway, provider) => {
    const fits = async (content: string) => {
      const response = await chat(gateway, { messages: [{ role: "user", content }] });
      const { error } = await response.json();
      return response.status === 200 ? true : `${response.status} ${error.code}`;
    };
    const prose = "The quick brown fox jumps over the lazy dog, and then it sleeps. ";
    assertEquals(await fits(prose.repeat(500)), true);
    assertEquals(await fits(" ".repeat(1_000_000)), true, "7,813 tokens");
    assertEquals(await fits("=".repeat(400_000)), true);
    assertEquals(await fits("\n".repeat(120_000)), true);
    const seen = provider.seen.length;
    const over = "413 provider_payload_too_large";
    assertEquals(await fits(prose.repeat(1000)), over);
    assertEquals(await fits("漢".repeat(60_000)), over);
    assertEquals(await fits("[".repeat(400_000)), over);
    assertEquals(await fits(" ".repeat(4_000_000)), over);
    assertEquals(provider.seen.length, seen, "the provider is not asked what is known");
  }));

Deno.test("run() lists what a provider could not be told, as a header can hold it", () =>
  running({ api: "gemini" }, async (gateway) => {
    const response = await chat(gateway, {
      "plain_field": 1,
      "ü€\r\nset-cookie: x": 2,
      ["k".repeat(5000)]: 3,
      logit_bias: { "1": 1 },
    });
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("set-cookie"), null);
    const dropped = response.headers.get("x-svc-dropped")!;
    assert(dropped.includes("plain_field") && dropped.includes("logit_bias"), dropped);
    assert(dropped.length < 4000 && /^[ -~]*$/.test(dropped), dropped);
    await response.body?.cancel();
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field_${i}`, i]));
    const crowded = await chat(gateway, many);
    assertEquals(crowded.status, 200);
    assert(crowded.headers.get("x-svc-dropped")!.length < 4000);
    await crowded.body?.cancel();
  }));

const ENDPOINTS = {
  "/v1/chat/completions": { model: "p/model", stream: true, messages: HI },
  "/v1/messages": { model: "p/model", stream: true, messages: HI, max_tokens: 9 },
  "/v1/responses": { model: "p/model", stream: true, input: "hi" },
};

/** The first word, and then what goes wrong. */
function broken(then: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Response {
  let said = false;
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (!said) controller.enqueue(new TextEncoder().encode(CHAT_FRAMES[0]));
        else {
          // The word leaves in a write of its own.
          await turns(5);
          then(controller);
        }
        said = true;
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
}

const BREAKS: Record<string, { code: string; answer: () => Response; more?: Record<string, unknown> }> = {
  "it ends without its terminal marker": {
    code: "provider_unavailable",
    answer: () => broken((c) => c.close()),
  },
  "it says nothing more": {
    code: "provider_timeout",
    answer: () => broken(() => {}),
    // The word has come before this begins to run.
    more: { idle_seconds: 0.2 },
  },
  "it sends an error": {
    code: "provider_model_down",
    answer: () =>
      broken((c) => {
        c.enqueue(
          new TextEncoder().encode('data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n'),
        );
        c.close();
      }),
  },
};

for (const [what, { code, answer, more }] of Object.entries(BREAKS)) {
  Deno.test(`run() a provider whose stream has begun: ${what}`, () =>
    running({ answer, more }, async (gateway) => {
      for (const [path, body] of Object.entries(ENDPOINTS)) {
        const response = await gateway.post(path, body);
        assertEquals(response.status, 200, path);
        const text = await response.text();
        assert(text.includes("hi"), "what came before is passed on");
        assert(text.includes(`"code":"${code}"`), `${path}: ${text}`);
        for (const ending of ['"finish_reason":"stop"', "message_stop", "response.completed"]) {
          assert(!text.includes(ending), `${path} looks complete: ${text}`);
        }
        if (path === "/v1/responses") assert(text.endsWith("data: [DONE]\n\n"), text);
      }
      const kept = await records(gateway);
      assertEquals(
        kept.map((g) => [g.status, g.error_code, g.cost]),
        Array(kept.length).fill(["failed", code, "0.00"]),
      );
    }));
}

Deno.test("run() an early refusal keeps its status on a stream", () =>
  running({
    answer: () =>
      Response.json({ error: { message: "flagged by moderation", code: "content_policy" } }, { status: 400 }),
  }, async (gateway) => {
    for (const [path, body] of Object.entries(ENDPOINTS)) {
      const response = await gateway.post(path, body);
      assertEquals([response.status, (await response.json()).error.code], [403, "provider_forbidden"], path);
      assertEquals(response.headers.get("content-type"), "application/json");
    }
  }));

Deno.test("run() a reader that stops holds little, and is no silence of the provider's", async () => {
  const piece = `data: ${
    JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "x".repeat(16_000) } }] })
  }\n\n`;
  const pieces = 4000;
  let sent = 0;
  const answer = () => {
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent < pieces) controller.enqueue(encoder.encode(piece));
          else {
            controller.enqueue(encoder.encode(CHAT_FRAMES.slice(1).join("")));
            controller.close();
          }
          sent++;
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  };
  const clock = new StoppedClock();
  await running(
    { answer },
    async (gateway) => {
      const { hostname, port } = new URL(gateway.url);
      const connection = await Deno.connect({ hostname, port: Number(port) });
      const body = JSON.stringify(ENDPOINTS["/v1/chat/completions"]);
      await connection.write(new TextEncoder().encode(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SECRET}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      ));
      const buffer = new Uint8Array(1 << 16);
      await connection.read(buffer);
      await eventually(async () => {
        const before = sent;
        await turns(100);
        return before === sent;
      });
      // Longer than a provider may be silent.
      for (let i = 0; i < 5; i++) await clock.moveOn(60_000);
      assert(sent < pieces, `the provider was read to its end (${sent} pieces) though nobody takes them`);
      let last = "";
      for (let n = await connection.read(buffer); n !== null; n = await connection.read(buffer)) {
        last = (last + new TextDecoder().decode(buffer.subarray(0, n))).slice(-2000);
      }
      connection.close();
      assert(last.includes("data: [DONE]"), last);
      assert(!last.includes('"error":{'), last);
      assertEquals((await records(gateway)).map((g) => [g.status, g.client_gone]), [["completed", false]]);
    },
    {},
    { clock },
  );
});

Deno.test("run() frames of one network read leave in one write", () =>
  running(
    { answer: () => sseResponse([CHAT_FRAMES[0] + CHAT_FRAMES.slice(1).join("")]) },
    async (gateway) => {
      for (const [path, body] of Object.entries(ENDPOINTS)) {
        const reader = (await gateway.post(path, body)).body!.getReader();
        const { value } = await reader.read();
        const text = new TextDecoder().decode(value);
        assert(text.split("\n\n").length > 3, `${path}: ${text}`);
        for (let read = await reader.read(); !read.done;) read = await reader.read();
      }
    },
  ));
