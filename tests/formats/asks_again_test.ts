/**
 * Errors inside of a stream that ask to be sent again. The status is 200 by then, and agents tell by words of the text
 * whether to repeat: the rules are those that pi 0.73.1 and Continue's cn 1.5.47 have in them.
 */
import { assert, assertEquals } from "@std/assert";
import { Failure, NOT_AVAILABLE } from "../../src/exchange/failure.ts";
import { broken, timeout, unreachable } from "../../src/outgoing/reply.ts";
import { loopbackProvider } from "../support/provider.ts";
import { type ScriptedApi, SCRIPTS, streamOf } from "../support/script/mod.ts";
import { type Api, testGateway } from "../support/gateway.ts";

const PI =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;
const CN = /premature close|premature end|connection reset|socket hang up|aborted|overloaded/i;

for (const failure of [broken(new Error("x"), true), timeout(30_000, true), unreachable(new Error("x"))]) {
  Deno.test(`an agent repeats after "${failure.message}"`, () => assert(PI.test(failure.message)));
}

Deno.test("an agent repeats after a fault of the gateway's own, and where the provider is not available", () => {
  assert(PI.test(Failure.from(new Error("x")).message));
  assert(PI.test(NOT_AVAILABLE));
});

for (const api of Object.keys(SCRIPTS) as ScriptedApi[]) {
  const script = SCRIPTS[api];
  const frames = script.frames({ text: "This answer is going to be cut in the middle of it." }, 0);
  const failing = script.frames({ text: "It will", failsWith: "Something went wrong." }, 0);
  for (const [how, sent] of [["breaks off", frames.slice(0, 6)], ["says that it failed", failing]] as const) {
    Deno.test(`an agent repeats where ${api} ${how} in the middle of a stream, in each format`, async () => {
      const provider = loopbackProvider(() => streamOf(api, sent));
      const gateway = await testGateway({ p: { api: api as Api, url: provider.url } });
      const said = { role: "user", content: "Hello" };
      const bodies: Record<string, unknown> = {
        "/v1/chat/completions": { messages: [said] },
        "/v1/messages": { messages: [said], max_tokens: 100 },
        "/v1/responses": { input: [said] },
      };
      for (const [path, body] of Object.entries(bodies)) {
        const answer = await gateway.post(path, { model: "p/model", stream: true, ...body as object });
        assertEquals(answer.status, 200);
        const errors = (await answer.text()).split("\n").filter((line) => line.includes('"error":{'));
        assert(errors.length > 0, path);
        for (const line of errors) {
          const { error, response } = JSON.parse(line.slice("data: ".length));
          const { message } = error ?? response.error;
          assert(PI.test(message), `${path}: ${message}`);
          if (how === "breaks off") assert(CN.test(message), `${path}: ${message}`);
        }
      }
      await gateway.close();
      await provider.close();
    });
  }
}
