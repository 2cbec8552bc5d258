/** Providers that leave their stream open after its end marker: the caller gets the end of the answer all the same. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type Api, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { inTime, StoppedClock } from "../support/time.ts";
import { eventMessage, joined } from "../support/event_stream.ts";

const BODY = { model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] };
const COMMENT = new TextEncoder().encode(": still here\n\n");
/** Far less than `idle_seconds`, after which an answer ends in any case. */
const MOST_MS = 10_000;

/** A body that goes on with others after the first bytes. */
function openEnded(first: Uint8Array, more: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(first);
      for await (const piece of more) controller.enqueue(piece);
      controller.close();
    },
  });
}

/** The least answer. @param without what is left out */
async function least(seen: Seen, without?: RegExp): Promise<[Uint8Array, Headers]> {
  const whole = leastAnswer(seen);
  const text = await whole.text();
  return [new TextEncoder().encode(without ? text.replace(without, "") : text), whole.headers];
}

function converse(): [Uint8Array, Headers] {
  const messages = [
    eventMessage("messageStart", { role: "assistant" }),
    eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }),
    eventMessage("contentBlockStop", { contentBlockIndex: 0 }),
    eventMessage("messageStop", { stopReason: "end_turn" }),
  ];
  return [joined(messages), new Headers({ "content-type": "application/vnd.amazon.eventstream" })];
}

const USAGE = /data: \{[^\n]*"usage":[^\n]*\n\n/;
type First = (seen: Seen) => [Uint8Array, Headers] | Promise<[Uint8Array, Headers]>;
const CASES: [what: string, api: Api, first: First, more?: Record<string, unknown>][] = [
  ["openai-chat", "openai-chat", least],
  ["openai-chat with tags of reasoning", "openai-chat", least, { think_tags: {} }],
  ["openai-chat without usage", "openai-chat", (seen) => least(seen, USAGE)],
  ["openai-chat without a marker", "openai-chat", (seen) => least(seen, /data: \[DONE\]\n\n/)],
  ["anthropic-messages", "anthropic-messages", least],
  ["openai-responses", "openai-responses", least],
  ["gemini", "gemini", least],
  ["bedrock-converse without metadata", "bedrock-converse", converse],
];

for (const [title, api, first, more] of CASES) {
  // Messages of AWS have no comments.
  for (const talks of api === "bedrock-converse" ? [false] : [false, true]) {
    const what = `${title}, ${talks ? "with comments" : "silent"}`;
    Deno.test(`a stream that stays open after its end marker ends soon: ${what}`, async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      await using provider = loopbackProvider(async (seen) => {
        const [bytes, headers] = await first(seen);
        return new Response(openEnded(bytes, readable), { headers });
      });
      const clock = new StoppedClock();
      await using gateway = await testGateway({ p: { api, url: `${provider.url}/v1`, more } }, {}, { clock });
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

Deno.test("a stream of Gemini that goes on after a finish reason does not end with it", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const chunk = (text: string) =>
    new TextEncoder().encode(`data: ${
      JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      })
    }\r\n\r\n`);
  await using provider = loopbackProvider(() =>
    new Response(openEnded(chunk("one "), readable), { headers: { "content-type": "text/event-stream" } })
  );
  const clock = new StoppedClock();
  await using gateway = await testGateway({ p: { api: "gemini", url: `${provider.url}/v1` } }, {}, { clock });
  const response = await gateway.post("/v1/chat/completions", BODY);
  const caller = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const read = async (until: string) => {
    while (!text.includes(until)) {
      const { value, done } = await inTime(caller.read());
      if (done) return;
      text += value;
    }
  };
  for (const piece of ["two ", "three"]) await writer.write(chunk(piece));
  await read("three");
  for (let passed = 0; passed < MOST_MS; passed += 500) await clock.moveOn(500);
  await writer.write(chunk(" four"));
  await writer.close();
  await read("[DONE]");
  assertEquals(
    [...text.matchAll(/"content":"([^"]+)"/g)].map(([, piece]) => piece).join(""),
    "one two three four",
  );
  assertStringIncludes(text, '"finish_reason":"stop"');
});

/** Reads an answer of openai-chat whose provider sends `first`, pauses for longer than a complete answer is waited for, and goes on. */
async function paused(first: (whole: string) => string, rest: (whole: string) => string): Promise<string> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  let whole = "";
  await using provider = loopbackProvider(async (seen) => {
    const answer = leastAnswer(seen);
    whole = await answer.text();
    return new Response(openEnded(encoder.encode(first(whole)), readable), { headers: answer.headers });
  });
  const clock = new StoppedClock();
  const url = `${provider.url}/v1`;
  await using gateway = await testGateway({ p: { api: "openai-chat", url } }, {}, { clock });
  const response = await gateway.post("/v1/chat/completions", BODY);
  const reading = response.text();
  for (let passed = 0; passed < MOST_MS; passed += 500) await clock.moveOn(500);
  await writer.write(encoder.encode(rest(whole))).catch(() => {});
  await writer.close().catch(() => {});
  return await inTime(reading);
}

Deno.test("a stream that pauses inside a frame behind a complete answer goes on", async () => {
  const more = ': 1\n\ndata: {"choices":[]}\n\n';
  for (const cut of [2, 12, 25]) {
    const whole = (text: string) => text.replace("data: [DONE]", `${more}data: [DONE]`);
    const at = (text: string) => whole(text).indexOf(more) + cut;
    const text = await paused(
      (text) => whole(text).slice(0, at(text)),
      (text) => whole(text).slice(at(text)),
    );
    assertEquals(text.includes('"error"'), false, text);
    assertStringIncludes(text, '"usage":{"prompt_tokens"');
    assertStringIncludes(text, "data: [DONE]");
  }
});

Deno.test("a stream that stops inside a frame behind its end marker ends well", async () => {
  const text = await paused((whole) => `${whole}data: {"id":"c`, () => "");
  assertEquals(text.includes('"error"'), false, text);
  assertStringIncludes(text, '"finish_reason":"stop"');
  assertStringIncludes(text, "data: [DONE]");
});

Deno.test("a stream that lacks the empty line behind its last frame ends well", async () => {
  const text = await paused((whole) => whole.replace(/data: \[DONE\]\n\n/, "data: [DONE]\n"), () => "");
  assertEquals(text.includes('"error"'), false, text);
  assertStringIncludes(text, '"finish_reason":"stop"');
});
