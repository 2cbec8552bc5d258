/** Models with routes of which one has an API that cannot express what a request uses. */
import { assertEquals, assertMatch } from "@std/assert";
import { type Api, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { apiOf, streamOf, wholeOf } from "../websearch/rounds.ts";

/** It takes no audio. */
const DEAF: Api = "anthropic-messages";

function answer({ path, body }: Seen): Response {
  const said = { text: "Heard.", usage: { input: 5, output: 2 } };
  const api = apiOf(path);
  if (body.stream !== true && !path.includes("stream")) return Response.json(wholeOf(api, said));
  return new Response(ReadableStream.from(streamOf(api, said)).pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "text/event-stream" },
  });
}

const refuse = () => new Response("down", { status: 500 });

interface Two {
  ask(more?: Record<string, unknown>): Promise<{ status: number; text: string }>;
  /** Requests that each of the two got. */
  seen(): number[];
  gateway: TestGateway;
}

/** A gateway with a model of two routes. */
async function withRoutes(
  apis: readonly [Api, Api],
  answers: readonly [(seen: Seen) => Response, (seen: Seen) => Response],
  test: (two: Two) => Promise<void>,
  more: Record<string, unknown> = {},
): Promise<void> {
  await using first = loopbackProvider(answers[0]);
  await using second = loopbackProvider(answers[1]);
  await using gateway = await testGateway({
    first: { api: apis[0], url: first.url, more },
    second: { api: apis[1], url: second.url, more },
  }, {
    models: [{
      id: "v/m",
      routes: [{ provider: "first", model: "m" }, { provider: "second", model: "m" }],
      capabilities: { modality_input: ["text", "audio"], features: ["tools"] },
    }],
  });
  const audio = { type: "input_audio", input_audio: { data: btoa("RIFF0000WAVEfmt "), format: "wav" } };
  await test({
    gateway,
    seen: () => [first.seen.length, second.seen.length],
    async ask(more) {
      const content = [{ type: "text", text: "What is this?" }, audio];
      const body = { model: "v/m", messages: [{ role: "user", content }], ...more };
      const response = await gateway.post("/v1/chat/completions", body);
      return { status: response.status, text: await response.text() };
    },
  });
}

for (const stream of [false, true]) {
  Deno.test(`a route that cannot express the request is passed over, ${stream ? "streamed" : "whole"}`, () =>
    withRoutes([DEAF, "gemini"], [answer, answer], async ({ ask, seen }) => {
      const { status, text } = await ask({ stream });
      assertEquals([status, seen()], [200, [0, 1]], text);
      assertMatch(text, /Heard/);
    }));
}

Deno.test("a route that cannot express a large request is passed over", () =>
  withRoutes([DEAF, "gemini"], [answer, answer], async ({ ask, seen }) => {
    const tools = [{
      type: "function",
      function: { name: "f", description: "word ".repeat(60_000), parameters: { type: "object" } },
    }];
    const { status, text } = await ask({ tools });
    assertEquals([status, seen()], [200, [0, 1]], text);
  }));

Deno.test("the failure of the route that was asked is told, not that the other one cannot be", () =>
  withRoutes(["gemini", DEAF], [refuse, answer], async ({ ask, seen }) => {
    const { status, text } = await ask();
    assertEquals([status, JSON.parse(text).error.code, seen()], [502, "provider_unavailable", [1, 0]]);
  }));

Deno.test("a request that no route can express is refused with the field to blame", () =>
  withRoutes([DEAF, DEAF], [answer, answer], async ({ ask, seen }) => {
    const { status, text } = await ask();
    const { code, message } = JSON.parse(text).error;
    assertEquals([status, code, seen()], [400, "feature_not_supported", [0, 0]]);
    assertMatch(message, /audio/);
  }));

Deno.test("a request that only a route out of service can express is refused for that time alone", () =>
  withRoutes([DEAF, "gemini"], [answer, refuse], async ({ ask, seen }) => {
    assertEquals((await ask()).status, 502);
    const { status, text } = await ask();
    assertEquals([status, JSON.parse(text).error.code, seen()], [503, "circuit_breaker_open", [0, 1]]);
  }, { breaker: { failures: 1, open_seconds: 600 } }));
