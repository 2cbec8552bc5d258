/** Answers of a provider, in the chat-completions format, that are made to take long or much memory. */
import { ALPHABETS } from "./alphabets.ts";

const SIZE = 28_000_000;

const many = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

function whole(message: unknown, more: object = {}): Response {
  return Response.json({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: "stop", message, ...more }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  });
}

const text = (content: string) => whole({ role: "assistant", content });
const raw = (body: string) => new Response(body, { headers: { "content-type": "application/json" } });

/** @param chunks text of the answer, a frame each */
function stream(chunks: Iterable<unknown>): Response {
  const encoder = new TextEncoder();
  const frames = (function* () {
    for (const delta of chunks) {
      const chunk = {
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta }],
      };
      yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    yield encoder.encode(
      'data: {"id":"c1","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    );
    yield encoder.encode("data: [DONE]\n\n");
  })();
  return new Response(ReadableStream.from(frames), { headers: { "content-type": "text/event-stream" } });
}

/** Says a word now and then, until nobody listens. */
function endless(): Response {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const say = () =>
        controller.enqueue(encoder.encode('data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'));
      say();
      timer = setInterval(say, 500);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const call = (i: number, args: string) => ({
  index: i,
  id: `t${i}`,
  type: "function",
  function: { name: "f", arguments: args },
});

export const ANSWERS: Readonly<Record<string, () => Response>> = {
  "one letter": () => text("a".repeat(SIZE)),
  "words": () => text(ALPHABETS.words(SIZE)),
  "Han": () => text(ALPHABETS.Han(SIZE / 3)),
  "line breaks": () => text("\n".repeat(SIZE / 2)),
  "base64": () => text(ALPHABETS.base64(SIZE)),
  "mail addresses": () => text(ALPHABETS["mail addresses"](SIZE)),
  "reasoning": () => whole({ role: "assistant", reasoning_content: ALPHABETS.words(SIZE), content: "x" }),
  "arguments": () =>
    whole({
      role: "assistant",
      content: null,
      tool_calls: [call(0, JSON.stringify({ a: "a".repeat(SIZE) }))],
    }),
  "arguments of values": () =>
    whole({
      role: "assistant",
      content: null,
      tool_calls: [call(0, `{"a":[${many(150_000, (i) => i).join()}]}`)],
    }),
  "many calls": () =>
    whole({ role: "assistant", content: null, tool_calls: many(40_000, (i) => call(i, "{}")) }),
  "an image": () =>
    whole({
      role: "assistant",
      content: "x",
      images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${ALPHABETS.base64(SIZE)}` } }],
    }),
  "log probabilities": () =>
    whole({ role: "assistant", content: "x" }, {
      logprobs: {
        content: many(
          3000,
          () => ({
            token: "a",
            logprob: -1.5,
            bytes: [97],
            top_logprobs: many(20, () => ({ token: "b", logprob: -2.5, bytes: [98] })),
          }),
        ),
      },
    }),
  "annotations": () =>
    whole({
      role: "assistant",
      content: "x",
      annotations: many(
        40_000,
        (i) => ({
          type: "url_citation",
          url_citation: { url: `https://e.example/${i}`, title: "t", start_index: 0, end_index: 1 },
        }),
      ),
    }),
  "choices": () =>
    Response.json({
      id: "c1",
      created: 1,
      model: "m",
      choices: many(
        30_000,
        (index) => ({ index, finish_reason: "stop", message: { role: "assistant", content: "x" } }),
      ),
    }),
  "empty objects": () => raw(`{"choices":[${"{},".repeat(SIZE / 3)}{}]}`),
  "brackets": () => raw("[".repeat(SIZE)),
  "an unknown field": () =>
    raw(`{"x":"${"a".repeat(SIZE)}","choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`),
  "escapes": () =>
    raw(`{"choices":[{"message":{"content":"${"\\u0041".repeat(SIZE / 6)}"},"finish_reason":"stop"}]}`),
  "one frame": () => stream([{ content: "a".repeat(SIZE) }]),
  "frames of megabytes": () => stream(many(14, () => ({ content: ALPHABETS.words(2_000_000) }))),
  "frames of words": () => stream(many(100_000, () => ({ content: "word " }))),
  "frames of nothing": () => stream(many(100_000, () => ({}))),
  "line breaks between frames": () =>
    new Response("\n".repeat(SIZE), { headers: { "content-type": "text/event-stream" } }),
  "comments": () =>
    new Response(": x\n\n".repeat(SIZE / 5), { headers: { "content-type": "text/event-stream" } }),
  "lines of data": () =>
    new Response(`${"data: x\n".repeat(SIZE / 8)}\n`, { headers: { "content-type": "text/event-stream" } }),
  "a frame without an end": () =>
    new Response(`data: ${"a".repeat(SIZE)}`, { headers: { "content-type": "text/event-stream" } }),
  "a stream of one call": () =>
    stream(
      many(
        1000,
        (i) => ({
          tool_calls: [i === 0 ? call(0, "") : { index: 0, function: { arguments: "1".repeat(20_000) } }],
        }),
      ),
    ),
  "a stream without an end": () => endless(),
  "a refusal": () => new Response("x".repeat(SIZE), { status: 400 }),
};
