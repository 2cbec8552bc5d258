/** Requests that exceed a limit of one route's provider, and of the model. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";
import { steadyClock } from "../support/time.ts";

const json = (status: number, error: unknown, headers: Record<string, string> = {}) => () =>
  Response.json({ error }, { status, headers });

const ABOVE_RATE =
  "Request too large for model `llama` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 6740, please reduce your message size and try again.";

/** Refusals that only concern the first route. */
const OWN_LIMITS: Readonly<Record<string, (seen: Seen) => Response>> = {
  "Groq's tokens per minute": json(413, { message: ABOVE_RATE, type: "tokens", code: "rate_limit_exceeded" }),
  "OpenAI's tokens per minute": json(429, {
    message:
      "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.",
    type: "tokens",
    param: null,
    code: "rate_limit_exceeded",
  }),
  "the same in a stream": ({ body }) => {
    const error = { message: ABOVE_RATE, type: "tokens", code: "rate_limit_exceeded" };
    return body.stream === true
      ? sseResponse([`data: ${JSON.stringify({ error })}\n\n`])
      : Response.json({ error });
  },
  "the same after the start of a stream": ({ body }) => {
    const error = { message: ABOVE_RATE, type: "tokens", code: 413 };
    const start = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const choices = [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }];
    return body.stream === true
      ? sseResponse(
        [start, { error }].map((value) =>
          `data: ${JSON.stringify(value === start ? { ...start, choices } : value)}\n\n`
        ),
      )
      : Response.json({ error });
  },
  "a proxy with small bodies": () =>
    new Response("<html><head><title>413 Request Entity Too Large</title></head></html>", {
      status: 413,
      headers: { "content-type": "text/html" },
    }),
  "Anthropic's size": json(413, { type: "request_too_large", message: "Request exceeds the maximum size" }),
};

interface Routes {
  ask(
    stream: boolean,
    content?: string,
  ): Promise<{ status: number; text: string; retryAfter: string | null }>;
  /** Requests that each of the two got. */
  seen(): number[];
  /** Lets time pass. */
  wait(ms: number): void;
  failures(): Promise<number[]>;
}

async function withRoutes(
  answers: readonly [(seen: Seen) => Response, (seen: Seen) => Response],
  test: (routes: Routes) => Promise<void>,
  context: number | null = null,
): Promise<void> {
  await using first = loopbackProvider(answers[0]);
  await using second = loopbackProvider(answers[1]);
  const more = { retries: 2 };
  const steady = steadyClock();
  let passed = 0;
  await using gateway = await testGateway({
    first: { api: "openai-chat", url: first.url, more },
    second: { api: "openai-chat", url: second.url, more },
  }, {
    admin_key: "admin-key-of-the-test",
    models: [{
      id: "v/m",
      context_length: context,
      routes: [{ provider: "first", model: "m" }, { provider: "second", model: "m" }],
    }],
  }, { sleep: () => Promise.resolve(), clock: { now: () => steady.now() + passed } });
  await test({
    wait: (ms) => passed += ms,
    seen: () => [first.seen.length, second.seen.length],
    async failures() {
      const headers = { authorization: "Bearer admin-key-of-the-test" };
      const { data } = await (await fetch(`${gateway.url}/admin/providers`, { headers })).json();
      return data.map(({ models }: { models: { failures: number }[] }) => models[0].failures);
    },
    async ask(stream, content = "Hello") {
      const messages = [{ role: "user", content }];
      const response = await gateway.post("/v1/chat/completions", { model: "v/m", stream, messages });
      const retryAfter = response.headers.get("retry-after");
      return { status: response.status, text: await response.text(), retryAfter };
    },
  });
}

for (const [name, refuse] of Object.entries(OWN_LIMITS)) {
  Deno.test(`a request over a limit of the first route goes to the second: ${name}`, async () => {
    await withRoutes([refuse, leastAnswer], async ({ ask, seen, failures }) => {
      for (const [i, stream] of [true, false].entries()) {
        const { status, text } = await ask(stream);
        assertEquals([status, text.includes('"hi"'), seen()], [200, true, [i + 1, i + 1]]);
      }
      assertEquals(await failures(), [0, 0]);
    });
    await withRoutes([refuse, refuse], async ({ ask, seen }) => {
      const { status, text, retryAfter } = await ask(false);
      const isRate = name === "OpenAI's tokens per minute" || name === "the same in a stream";
      assertEquals(
        [status, JSON.parse(text).error.code],
        isRate ? [429, "provider_rate_limited"] : [413, "provider_payload_too_large"],
      );
      assertEquals([retryAfter, seen()], [null, [1, 1]]);
    });
  });
}

/** An overflow in OpenAI's words. */
const overflow = (limit: number, tokens: number) =>
  json(400, {
    message:
      `This model's maximum context length is ${limit} tokens. However, you requested ${tokens} tokens.`,
    code: "context_length_exceeded",
  });

Deno.test("a request over the model's context goes to no other route, nor where that is not known", async () => {
  for (const context of [8192, null]) {
    await withRoutes([overflow(8192, 9096), leastAnswer], async ({ ask, seen }) => {
      const { status, text } = await ask(false);
      assertEquals([status, JSON.parse(text).error.code], [413, "provider_payload_too_large"]);
      assertEquals(seen(), [1, 0]);
    }, context);
  }
});

/** Overflows of a provider whose context is smaller than the model's. */
const OWN_CONTEXTS: Readonly<Record<string, (seen: Seen) => Response>> = {
  "with both numbers": overflow(8192, 9096),
  "without numbers": json(400, { message: "Input is too long for requested model." }),
  "in a stream": ({ body }) => {
    const error = { message: "prompt is too long: 9096 tokens > 8192 maximum" };
    return body.stream === true
      ? sseResponse([`data: ${JSON.stringify({ error })}\n\n`])
      : Response.json({ error });
  },
  "after the start of a stream": ({ body }) => {
    const error = { message: "prompt is too long: 9096 tokens > 8192 maximum" };
    const start = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const choices = [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }];
    return body.stream === true
      ? sseResponse([{ ...start, choices }, { error }].map((value) => `data: ${JSON.stringify(value)}\n\n`))
      : Response.json({ error });
  },
};

for (const [name, refuse] of Object.entries(OWN_CONTEXTS)) {
  Deno.test(`an overflow of a route's smaller context goes to the next route: ${name}`, async () => {
    await withRoutes([refuse, leastAnswer], async ({ ask, seen, failures }) => {
      for (const [i, stream] of [true, false].entries()) {
        const { status, text } = await ask(stream);
        assertEquals([status, text.includes('"hi"'), seen()], [200, true, [i + 1, i + 1]]);
      }
      assertEquals(await failures(), [0, 0]);
    }, 32_768);
  });
}

Deno.test("a route that is too small for a request is asked last, until its provider may have changed that", async () => {
  const refuse = overflow(8192, 40_000);
  await withRoutes([refuse, leastAnswer], async ({ ask, seen, wait }) => {
    const long = "word ".repeat(20_000);
    const counts: number[][] = [];
    for (const [content, ms] of [[long, 0], [long, 0], ["Hello", 0], [long, 3_600_000]] as const) {
      wait(ms);
      assertEquals((await ask(false, content)).status, 200);
      counts.push(seen());
    }
    assertEquals(counts, [[1, 1], [1, 2], [2, 3], [3, 4]]);
  }, 32_768);
  let down = false;
  const second = (seen: Seen) => down ? json(503, { message: "down" })() : leastAnswer(seen);
  await withRoutes([refuse, second], async ({ ask, seen }) => {
    const long = "word ".repeat(20_000);
    await ask(false, long);
    down = true;
    const { status } = await ask(false, long);
    assertEquals([status, seen()], [413, [2, 4]]);
  }, 32_768);
});

Deno.test("if all routes are too small, the caller gets the largest context", async () => {
  const [small, large] = [overflow(8192, 40_000), overflow(16_384, 40_000)];
  for (const routes of [[small, large], [large, small]] as const) {
    await withRoutes(routes, async ({ ask, seen }) => {
      const { status, text } = await ask(false);
      assertEquals([status, seen()], [413, [1, 1]]);
      assertStringIncludes(text, "40000 tokens > 16384 maximum");
    }, 32_768);
  }
});

Deno.test("if all routes are limited, the caller learns when the first of them is free", async () => {
  const limited = (seconds?: string) =>
    json(429, { message: "Too many requests" }, seconds === undefined ? {} : { "retry-after": seconds });
  const routes: [string?, string?, string?][] = [
    ["5", "60", "5"],
    ["60", "5", "5"],
    ["5", undefined, "5"],
    [],
  ];
  for (const [first, second, told = null] of routes) {
    await withRoutes([limited(first), limited(second)], async ({ ask, seen }) => {
      const { status, retryAfter } = await ask(false);
      assertEquals([status, retryAfter], [429, told]);
      assertEquals(seen().every((n) => n > 0), true);
    });
  }
});
