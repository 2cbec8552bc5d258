/** Providers that leave their stream open after its end marker: the caller gets the end of the answer all the same. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type Api, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { inTime, StoppedClock } from "../support/time.ts";

const BODY = { model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] };
const COMMENT = new TextEncoder().encode(": still here\n\n");
/** Far less than `idle_seconds`, after which an answer ends in any case. */
const MOST_MS = 10_000;

/** The least answer, whose body does not end. `usage` false: without what follows the marker and tells the counts. */
async function openEnded(seen: Seen, usage: boolean, more: ReadableStream<Uint8Array>): Promise<Response> {
  const whole = leastAnswer(seen);
  const text = await whole.text();
  const said = usage ? text : text.replace(/data: \{[^\n]*"usage":[^\n]*\n\n/, "");
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(said));
      for await (const piece of more) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Response(body, { headers: whole.headers });
}

const CASES: [api: Api, usage: boolean][] = [
  ["openai-chat", true],
  ["openai-chat", false],
  ["anthropic-messages", true],
  ["openai-responses", true],
];

for (const [api, usage] of CASES) {
  for (const talks of [false, true]) {
    const what = `${api}${usage ? "" : " without usage"}, ${talks ? "with comments" : "silent"}`;
    Deno.test(`a stream that stays open after its end marker ends a second later: ${what}`, async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      await using provider = loopbackProvider((seen) => openEnded(seen, usage, readable));
      const clock = new StoppedClock();
      await using gateway = await testGateway({ p: { api, url: `${provider.url}/v1` } }, {}, { clock });
      const response = await gateway.post("/v1/chat/completions", BODY);
      let over = false;
      const reading = response.text().finally(() => over = true);
      for (let passed = 0; !over && passed < MOST_MS; passed += 500) {
        await clock.moveOn(500);
        if (talks) await writer.write(COMMENT).catch(() => {});
      }
      const ended = over;
      await writer.abort().catch(() => {});
      const text = await inTime(reading);
      assertEquals(ended, true, "the answer ended before its provider's stream");
      assertStringIncludes(text, '"content":"hi"');
      assertStringIncludes(text, '"finish_reason":"stop"');
      assertStringIncludes(text, "data: [DONE]");
      assertEquals(text.includes('"error"'), false, text);
    });
  }
}
