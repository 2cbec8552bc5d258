/** What a provider, a search engine or anybody else can repeat in what they send. */
import { excessOf, overfull, REQUEST_BUDGET } from "../../../src/exchange/json_budget.ts";
import { FrameReader } from "../../../src/formats/wire/sse.ts";
import { matchesAny } from "../../../src/models/patterns.ts";
import { cleanText } from "../../../src/websearch/clean.ts";
import { domainFilter, hostOf } from "../../../src/websearch/hosts.ts";
import { answer, type Dimension, fieldsOf, stream, times } from "./dimension.ts";

const chat = (message: object, more: object = {}) => ({
  id: "x",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "x", ...message }, finish_reason: "stop" }],
  ...more,
});
const called = (i: number, more: object = { id: `c${i}` }) => ({
  ...more,
  type: "function",
  function: { name: "f", arguments: "{}" },
});
const cited = (i: number) => ({
  type: "url_citation",
  url_citation: { url: `https://a.example/${i}`, title: "t", start_index: 0, end_index: 1 },
});
const wrote = (content: object[]) => ({
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});
const responded = (output: object[]) => ({ id: "r", status: "completed", model: "m", output });
const candidate = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", ...more }],
});
const words = (text: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], ...more }],
});

const delta = (more: object) => ({ id: "x", choices: [{ index: 0, delta: more }] });
const streamed = (deltas: object[]) => [
  ...deltas.map(delta),
  { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  "[DONE]",
];

const logprob = { token: "x", logprob: -1, bytes: [120] };

const other = (name: string, prepare: (n: number) => () => unknown): Dimension[] => [{ name, prepare }];

export const ANSWERS: readonly Dimension[] = [
  answer("choices", "chat_completions", (n) => ({
    choices: times(
      Math.min(n, 1000),
      (index) => ({ index, message: { content: "x" }, finish_reason: "stop" }),
    ),
  })),
  answer("calls", "chat_completions", (n) => chat({ tool_calls: times(n, (i) => called(i)) })),
  answer(
    "calls without ids",
    "chat_completions",
    (n) => chat({ tool_calls: times(n, (i) => called(i, {})) }),
  ),
  answer("citations", "chat_completions", (n) => chat({ annotations: times(n, cited) })),
  answer(
    "images",
    "chat_completions",
    (n) =>
      chat({
        images: times(n, () => ({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } })),
      }),
  ),
  answer(
    "details of reasoning",
    "chat_completions",
    (n) => chat({ reasoning_details: times(n, (index) => ({ type: "reasoning.text", text: "x", index })) }),
  ),
  answer("log probabilities", "chat_completions", (n) => ({
    choices: [{
      index: 0,
      message: { content: "x" },
      logprobs: { content: times(n, () => ({ ...logprob, top_logprobs: [logprob] })) },
      finish_reason: "stop",
    }],
  })),
  answer("characters", "chat_completions", (n) => chat({ content: "word ".repeat(n * 20) })),
  answer(
    "unknown fields",
    "chat_completions",
    (n) => chat(fieldsOf(n, () => "x"), fieldsOf(n, () => "x", "top")),
  ),
  answer("blocks", "messages", (n) => wrote(times(n, () => ({ type: "text", text: "x" })))),
  answer(
    "calls",
    "messages",
    (n) => wrote(times(n, (i) => ({ type: "tool_use", id: `t${i}`, name: "f", input: {} }))),
  ),
  answer(
    "thinking",
    "messages",
    (n) => wrote(times(n, () => ({ type: "thinking", thinking: "x", signature: "s" }))),
  ),
  answer("citations", "messages", (n) =>
    wrote([{
      type: "text",
      text: "x",
      citations: times(
        n,
        () => ({
          type: "char_location",
          cited_text: "x",
          document_index: 0,
          start_char_index: 0,
          end_char_index: 1,
        }),
      ),
    }])),
  answer("items", "responses", (n) => responded(times(n, () => words("x")))),
  answer(
    "parts",
    "responses",
    (n) => responded([{ type: "message", content: times(n, () => ({ type: "output_text", text: "x" })) }]),
  ),
  answer("annotations", "responses", (n) =>
    responded([words("x", {
      annotations: times(
        n,
        (i) => ({
          type: "url_citation",
          url: `https://a.example/${i}`,
          title: "t",
          start_index: 0,
          end_index: 1,
        }),
      ),
    })])),
  answer(
    "reasoning",
    "responses",
    (n) =>
      responded([
        ...times(
          n,
          (i) => ({ type: "reasoning", id: `rs_${i}`, summary: [{ type: "summary_text", text: "x" }] }),
        ),
        words("x"),
      ]),
  ),
  answer(
    "calls",
    "responses",
    (n) =>
      responded(times(n, (i) => ({ type: "function_call", call_id: `c${i}`, name: "f", arguments: "{}" }))),
  ),
  answer("parts", "gemini", (n) => candidate(times(n, () => ({ text: "x" })))),
  answer(
    "thoughts and texts",
    "gemini",
    (n) => candidate(times(n, (i) => i % 2 ? { text: "x" } : { text: "x", thought: true })),
  ),
  answer(
    "calls",
    "gemini",
    (n) => candidate(times(n, () => ({ functionCall: { name: "f", args: { a: 1 } } }))),
  ),
  answer("sources", "gemini", (n) =>
    candidate([{ text: "x ".repeat(n) }], {
      groundingMetadata: {
        groundingChunks: times(n, (i) => ({ web: { uri: `https://a.example/${i}`, title: "t" } })),
        groundingSupports: times(
          n,
          (i) => ({ segment: { startIndex: i, endIndex: i + 1, text: "x" }, groundingChunkIndices: [i] }),
        ),
      },
    })),
  answer("sources whose words are not there", "gemini", (n) =>
    candidate([{ text: "x ".repeat(n) }], {
      groundingMetadata: {
        groundingChunks: times(n, (i) => ({ web: { uri: `https://a.example/${i}`, title: "t" } })),
        groundingSupports: times(n, (i) => ({
          segment: { startIndex: i, endIndex: i + 1, text: "y" },
          groundingChunkIndices: [i],
        })),
      },
      urlContextMetadata: { urlMetadata: times(n, (i) => ({ retrievedUrl: `https://b.example/${i}` })) },
    }), { from: 3000 }),
  stream("text", "chat_completions", (n) => streamed(times(n, () => ({ content: "x" })))),
  stream(
    "arguments",
    "chat_completions",
    (n) =>
      streamed([
        { tool_calls: [{ index: 0, ...called(0) }] },
        ...times(n, () => ({ tool_calls: [{ index: 0, function: { arguments: "x" } }] })),
      ]),
  ),
  stream("white space of a custom tool's input", "chat_completions", (n) =>
    streamed([
      { tool_calls: [{ index: 0, id: "c", function: { name: "patch", arguments: "" } }] },
      ...times(n, () => ({ tool_calls: [{ index: 0, function: { arguments: "      " } }] })),
    ])),
  stream(
    "calls",
    "chat_completions",
    (n) => streamed(times(n, (i) => ({ tool_calls: [{ index: i, ...called(i) }] }))),
  ),
  stream(
    "calls by id alone",
    "chat_completions",
    (n) => streamed(times(n, (i) => ({ tool_calls: [called(i)] }))),
  ),
  stream(
    "citations",
    "chat_completions",
    (n) => streamed([{ content: "x" }, ...times(n, (i) => ({ annotations: [cited(i)] }))]),
  ),
  stream(
    "images",
    "chat_completions",
    (n) =>
      streamed(
        times(
          n,
          () => ({ images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }),
        ),
      ),
  ),
  stream(
    "reasoning and text in turn",
    "chat_completions",
    (n) => streamed(times(n, (i) => i % 2 ? { content: "x" } : { reasoning_content: "x" })),
  ),
  stream(
    "details of reasoning",
    "chat_completions",
    (n) =>
      streamed(times(n, (index) => ({ reasoning_details: [{ type: "reasoning.text", text: "x", index }] }))),
  ),
  stream("blocks open at once", "messages", (n) => [
    { type: "message_start", message: wrote([]) },
    ...times(
      n,
      (index) => ({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
    ),
    ...times(
      n,
      (index) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text: "x" } }),
    ),
    ...times(n, (i) => ({ type: "content_block_stop", index: n - 1 - i })),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]),
  stream("deltas", "responses", (n) => [
    { type: "response.created", response: { id: "r", model: "m" } },
    ...times(
      n,
      () => ({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "x" }),
    ),
    { type: "response.completed", response: responded([]) },
  ]),
  stream(
    "chunks",
    "gemini",
    (n) => [...times(n, () => candidate([{ text: "x" }], { finishReason: undefined })), candidate([])],
  ),
  other("budget: values of a text", (n) => {
    const text = JSON.stringify({ list: times(n, (i) => ({ [`k${i}`]: ["x", i, null] })) });
    return () => [excessOf(text, REQUEST_BUDGET), overfull(JSON.parse(text), new Set())];
  }),
  other("budget: escapes of a text", (n) => {
    const text = JSON.stringify('"\\'.repeat(n * 20));
    return () => excessOf(text, REQUEST_BUDGET);
  }),
  other("frames: chunks of one frame", (n) => {
    const chunk = new TextEncoder().encode("data: x\n");
    return () => {
      const reader = new FrameReader();
      const out: { data: string }[] = [];
      for (let i = 0; i < n; i++) reader.push(chunk, out as never);
      reader.end(out as never);
      return out[0].data;
    };
  }),
  other("search: slashes of a domain", (n) => {
    const domain = `a.example${"/".repeat(n * 20)}\nx`;
    return () => hostOf(domain);
  }),
  other("search: domains and hits", (n) => {
    const domains = times(n, (i) => `d${i}.example`);
    return () => {
      const fits = domainFilter({ allowedDomains: domains });
      return times(n, (i) => fits(`https://a.b.c.d${i}.example/`));
    };
  }),
  ...["<", "<script>", "</script", "&#", "ignore all ", "<|a", "[INST", "user :\n", "\n"].map((piece) =>
    other(`search: a page of ${JSON.stringify(piece)}`, (n) => {
      const page = piece.repeat(n * 20);
      return () => cleanText(page, page.length);
    })
  ),
  other("models: stars of a pattern", (n) => {
    const pattern = `${"*a".repeat(n)}*b`;
    const id = "a".repeat(n);
    return () => matchesAny([pattern], id);
  }),
].flat();
