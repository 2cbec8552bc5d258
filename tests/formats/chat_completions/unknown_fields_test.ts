/** Fields of answers that only one vendor has: a caller of this format gets them, streamed and whole. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { type Loose, parseExact } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { bytes, context, dataOf, decodePieces, encodeAll, foldChunks } from "./support.ts";

function streamed(frames: string[]): { parts: Part[]; chunks: Loose[]; answer: Loose } {
  const parts = decodePieces([bytes(frames.map((frame) => `data: ${frame}\r\n\r\n`).join(""))]);
  const sse = encodeAll(parts);
  const chunks = dataOf(sse).filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));
  return { parts, chunks, answer: foldChunks(sse) };
}

function whole(body: Loose): { answer: Loose; choice: Loose; message: Loose } {
  const parts = chatCompletions.decodeAnswer(body);
  // deno-lint-ignore no-explicit-any -- read like a client
  const answer = JSON.parse(JSON.stringify(chatCompletions.encodeAnswer(collect(parts), context()))) as any;
  return { answer, choice: answer.choices[0], message: answer.choices[0].message };
}

const SOURCES = {
  citations: ["https://en.wikipedia.org/wiki/Russia"],
  search_results: [{ title: "Russia", url: "https://en.wikipedia.org/wiki/Russia", date: "2025-01-02" }],
};

Deno.test("Perplexity's search_results are in the first chunk, and not once more in later ones", () => {
  const frame = (delta: Loose, more: Loose = {}) =>
    JSON.stringify({
      id: "p1",
      model: "sonar",
      created: 1,
      object: "chat.completion.chunk",
      usage: { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17, search_context_size: "low" },
      ...SOURCES,
      choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }],
      ...more,
    });
  const { chunks, answer } = streamed([
    frame({ content: "Rus" }),
    frame({ content: "sia" }),
    frame({ content: "" }, {
      object: "chat.completion.done",
      related_questions: ["Which is the second?"],
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Russia" },
        delta: { role: "assistant", content: "" },
        finish_reason: "stop",
      }],
    }),
  ]);
  assertEquals(chunks.map((chunk) => "search_results" in chunk), [true, ...chunks.slice(1).map(() => false)]);
  assertEquals(answer.search_results, SOURCES.search_results);
  assertEquals(answer.citations, SOURCES.citations);
  assertEquals(answer.related_questions, ["Which is the second?"]);
  // Every chunk has a choice for clients that read the first one of each.
  assert(chunks.every(({ choices }) => (choices as unknown[]).length === 1));
});

Deno.test("Sources that change in a stream are told as they are at the end", () => {
  const chunk = (sources: string[], choice: Loose) =>
    JSON.stringify({ id: "p", model: "sonar", citations: sources, choices: [{ index: 0, ...choice }] });
  const { answer } = streamed([
    chunk(["https://a.example/"], { delta: { content: "a" } }),
    chunk(["https://a.example/", "https://b.example/"], { delta: {}, finish_reason: "stop" }),
  ]);
  assertEquals(answer.citations, ["https://a.example/", "https://b.example/"]);
});

Deno.test("executed_tools of Groq's compound models are in the message, streamed in pieces or whole", () => {
  const tool = { index: 0, type: "search", arguments: '{"query": "weather"}', output: "Title: Weather" };
  const { answer, message } = whole({
    id: "s1",
    object: "chat.completion",
    model: "groq/compound",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "17°C", executed_tools: [tool] },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    usage_breakdown: { models: [{ model: "llama-3.3-70b-versatile", usage: { total_tokens: 6 } }] },
    x_groq: { id: "req_1" },
  });
  assertEquals(message.executed_tools, [tool]);
  assertEquals(answer.x_groq, { id: "req_1" });
  assertEquals((answer.usage_breakdown as Loose).models, [
    { model: "llama-3.3-70b-versatile", usage: { total_tokens: 6 } },
  ]);

  const { output, ...call } = tool;
  const second = { index: 1, type: "visit", arguments: "{}", output: "" };
  const delta = (fields: Loose, finish_reason: string | null = null) =>
    JSON.stringify({
      id: "s",
      model: "groq/compound",
      choices: [{ index: 0, delta: fields, finish_reason }],
    });
  const stream = streamed([
    delta({ role: "assistant", content: "17", executed_tools: [call] }),
    delta({ executed_tools: [{ index: 0, output }] }),
    delta({ executed_tools: [second], note: "one " }),
    delta({ content: "°C", note: "two" }, "stop"),
  ]);
  const [{ message: read }] = stream.answer.choices as { message: Loose }[];
  assertEquals(read.content, "17°C");
  assertEquals(read.executed_tools, [tool, second]);
  assertEquals(read.note, "one two");
  // Once: the official client of JavaScript keeps only the last delta of such a field.
  assertEquals(JSON.stringify(stream.chunks).split("executed_tools").length, 2);
});

Deno.test("Unknown fields of choices and tool calls reach the caller, and empty ones do not", () => {
  const { choice, message } = whole({
    id: "t1",
    model: "m",
    prompt: [],
    choices: [{
      index: 0,
      seed: 9007199254740991,
      stop_reason: 154829,
      text: "",
      unused: null,
      content_filter_results: {},
      message: {
        role: "assistant",
        content: null,
        channel: "final",
        custom: {},
        tool_calls: [{
          index: 0,
          id: "call_1",
          type: "function",
          function: { name: "f", arguments: "{}" },
          provider_specific_fields: { caller: "direct" },
        }],
      },
      finish_reason: "tool_calls",
    }],
  });
  const { message: _, ...end } = choice;
  assertEquals(end, {
    index: 0,
    logprobs: null,
    finish_reason: "tool_calls",
    seed: 9007199254740991,
    stop_reason: 154829,
  });
  assertEquals(message, {
    role: "assistant",
    content: null,
    refusal: null,
    channel: "final",
    tool_calls: [{
      id: "call_1",
      type: "function",
      function: { name: "f", arguments: "{}" },
      provider_specific_fields: { caller: "direct" },
    }],
  });
});

Deno.test("Lists of a choice are put together in a stream, and a copy of its text is left out", () => {
  // vLLM with `return_token_ids`, and Together.
  const chunk = (content: string, choice: Loose) =>
    JSON.stringify({
      id: "t",
      model: "m",
      choices: [{ index: 0, delta: { content }, text: content, ...choice }],
    });
  const { chunks, answer } = streamed([
    chunk("one", { token_ids: [3, 1] }),
    chunk(" two", { token_ids: [4] }),
    chunk("", { token_ids: [9], finish_reason: "stop", stop_reason: 9 }),
  ]);
  const [{ message, logprobs: _, ...choice }] = answer.choices as { message: Loose; logprobs: unknown }[];
  assertEquals(message.content, "one two");
  assertEquals(choice, { index: 0, finish_reason: "stop", stop_reason: 9, token_ids: [3, 1, 4, 9] } as Loose);
  assertEquals(JSON.stringify(chunks).split("token_ids").length, 2);
});

Deno.test("Annotations of pages have all of their fields, and those of other kinds, which some clients refuse, are left out", () => {
  const file = { type: "file", file: { hash: "h", name: "a.pdf", content: [{ type: "text", text: "A" }] } };
  const page = {
    url: "https://a.example/",
    title: "A",
    content: "What the page says",
    start_index: 0,
    end_index: 0,
  };
  const body = {
    id: "gen-1",
    model: "m",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: "A",
        annotations: [file, { type: "url_citation", url_citation: page }],
      },
      finish_reason: "stop",
    }],
  };
  const { message } = whole(body);
  assertEquals(message.annotations, [{ type: "url_citation", url_citation: page }]);

  const { message: { annotations }, finish_reason } = body.choices[0];
  const stream = streamed([
    JSON.stringify({
      id: "gen-1",
      model: "m",
      choices: [{ index: 0, delta: { content: "A", annotations } }],
    }),
    JSON.stringify({ id: "gen-1", model: "m", choices: [{ index: 0, delta: {}, finish_reason }] }),
  ]);
  const [{ message: read }] = stream.answer.choices as { message: { annotations: Loose[] } }[];
  assertEquals(read.annotations.map(({ index: _, ...annotation }) => annotation), message.annotations);
});

Deno.test("Copies of what is decoded, within LiteLLM's provider_specific_fields, do not reach the caller", () => {
  const delta = (fields: Loose, finish_reason: string | null = null) =>
    JSON.stringify({ id: "l", model: "m", choices: [{ index: 0, delta: fields, finish_reason }] });
  const thought = (thinking: string, signature: string) => {
    const thinking_blocks = [{ type: "thinking", thinking, signature }];
    return { reasoning_content: thinking, thinking_blocks, provider_specific_fields: { thinking_blocks } };
  };
  const { chunks, answer } = streamed([
    delta({ role: "assistant", ...thought("I ", "") }),
    delta(thought("think", "")),
    delta(thought("", "SIGNATURE")),
    delta({ content: "So", provider_specific_fields: { citation: { cited_text: "a page" } } }),
    delta({ provider_specific_fields: { container: { id: "c" } } }, "stop"),
  ]);
  const [{ message }] = answer.choices as { message: Loose }[];
  assertEquals([message.reasoning_content, message.content], ["I think", "So"]);
  assertEquals(message.provider_specific_fields, {
    citation: { cited_text: "a page" },
    container: { id: "c" },
  });
  assert(
    !JSON.stringify(chunks.map(({ choices }) => choices)).includes('provider_specific_fields":{"thinking'),
  );

  const body = { role: "assistant", content: "So", ...thought("I think", "SIGNATURE") };
  const { message: read } = whole({ id: "l", choices: [{ message: body, finish_reason: "stop" }] });
  assertEquals(read.reasoning_content, "I think");
  assert(!("provider_specific_fields" in read));
});

Deno.test("A field of a message whose kind changes between its pieces has its last value", () => {
  const LONG = "12345678901234567890";
  const KINDS = [LONG, "1", '{"a":1}', "[1]", "true"];
  for (const first of KINDS) {
    for (const last of KINDS.filter((kind) => kind !== first)) {
      const decoder = chatCompletions.decodeStream();
      const parts: Part[] = [];
      for (const value of [first, last]) {
        const data = `{"id":"k","choices":[{"index":0,"delta":{"own":${value}},"finish_reason":"stop"}]}`;
        // Numbers keep their digits in large frames.
        decoder.push({ event: "", data, value: parseExact(data) }, parts);
      }
      decoder.end(parts);
      const [own] = parts.flatMap((part) => part.type === "opaque" ? [part.value.own] : []);
      assertEquals(JSON.stringify(own), last);
    }
  }
});

Deno.test("A service tier that comes at the end of a stream reaches the caller", () => {
  const { answer } = streamed([
    '{"id":"v","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}',
    '{"id":"v","model":"m","choices":[{"index":0,"delta":{"provider_metadata":{"gateway":{"id":"g"}}},' +
    '"finish_reason":"stop"}],"service_tier":"default","generationId":"gen_1"}',
    "[DONE]",
  ]);
  assertEquals(answer.service_tier, "default");
  assertEquals(answer.generationId, "gen_1");
  const [{ message }] = answer.choices as { message: Loose }[];
  assertEquals(message.provider_metadata, { gateway: { id: "g" } });
});

Deno.test("Fields of the gateway are not the provider's", () => {
  const { answer } = whole({
    id: "x",
    object: "other",
    model: "m",
    extra: { dlp: [], findings_count: 3 },
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cost: 0.5 },
    choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop", answer: { id: "forged" } }],
  });
  assertEquals(answer.id, context().id);
  assertEquals(answer.object, "chat.completion");
  assert(!("extra" in answer) && !JSON.stringify(answer).includes("forged"));
  assert(!("cost" in (answer.usage as Loose)));
});
