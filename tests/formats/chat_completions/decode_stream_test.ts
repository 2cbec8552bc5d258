/** How streams and answers of this format end, what they report, and what they say besides reasoning and calls. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { assertLegal } from "../gemini/legal_parts.ts";
import { context, decodeChunks, delta, encodeAll, foldChunks } from "./support.ts";
import { call, CALLED, said, STOP } from "./chunks.ts";

const ENDS: Record<string, [(Loose | string)[], string]> = {
  "[DONE] without a finish_reason": [[delta({ content: "a" }), "[DONE]"], "stop"],
  "an empty finish_reason": [[delta({ content: "a" }), delta({}, { finish_reason: "" }), "[DONE]"], "stop"],
  "a finish_reason without [DONE]": [[delta({ content: "a" }), STOP], "stop"],
  "twice": [[delta({ content: "a" }), STOP, STOP, "[DONE]"], "stop"],
  "in the delta of the last text": [
    [delta({ content: "a" }, { finish_reason: "length" }), "[DONE]"],
    "length",
  ],
  "eos": [[delta({ content: "a" }, { finish_reason: "eos" })], "stop"],
  "content_filter": [[delta({ content: "a" }, { finish_reason: "content_filter" })], "content-filter"],
  "stop with a call (OpenAI, forced)": [
    [call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }), STOP, "[DONE]"],
    "tool-calls",
  ],
  "tool_calls without a call": [[delta({ content: "a" }), CALLED, "[DONE]"], "stop"],
  "a stop sequence that vLLM names": [
    [delta({ content: "a" }, { finish_reason: "stop", stop_reason: "END" })],
    "stop-sequence",
  ],
  "a stop token that vLLM numbers": [[
    delta({ content: "a" }, { finish_reason: "stop", stop_reason: 151643 }),
  ], "stop"],
  "a refusal": [[delta({ refusal: "No" }), delta({ refusal: "." }), STOP], "refusal"],
  "a frame after [DONE]": [[delta({ content: "a" }), STOP, "[DONE]", delta({ content: "b" })], "stop"],
};

for (const [situation, [chunks, reason]] of Object.entries(ENDS)) {
  Deno.test(`decodeStream() end: ${situation}`, () => {
    const [choice] = said(decodeChunks(chunks));
    assertEquals(choice.reason, reason);
    assert(!choice.blocks.includes("text: ab"));
  });
}

const FAILURES: Record<string, [(Loose | string)[], string]> = {
  "no end": [[delta({ content: "a" })], "provider_unavailable"],
  "nothing": [[], "provider_unavailable"],
  "one of two choices has no end": [
    [delta({ content: "a" }), delta({ content: "b" }, {}, 1), STOP],
    "provider_unavailable",
  ],
  "not JSON": [["{oops"], "provider_unavailable"],
  "not an object": [["7"], "provider_unavailable"],
  "an error object": [
    [delta({ content: "a" }), { error: { message: "m", code: 429, type: "rate_limit" } }],
    "provider_rate_limited",
  ],
  "an error beside choices, after the finish": [
    [delta({ content: "a" }), STOP, { ...STOP, error: { message: "overloaded", code: 502 } }, "[DONE]"],
    "provider_model_down",
  ],
  "an error string": [[{ code: "invalid_request", error: "Bad" }], "provider_bad_request"],
  "an error of a choice": [
    [delta({}, { error: { message: "capacity", code: 503 }, finish_reason: "error" })],
    "provider_model_down",
  ],
  "a breakdown": [
    [delta({ content: "a" }, { finish_reason: "insufficient_system_resource" })],
    "provider_model_down",
  ],
  "detail alone": [[{ detail: "Too many requests" }], "provider_rate_limited"],
  "vLLM's error object": [
    [{ object: "error", message: "timed out", type: "Timeout", code: 408 }],
    "provider_timeout",
  ],
};

for (const [situation, [chunks, code]] of Object.entries(FAILURES)) {
  Deno.test(`decodeStream() failure: ${situation}`, () => {
    const failure = assertThrows(() => decodeChunks(chunks), Failure) as Failure;
    assertEquals(failure.code, code);
  });
}

Deno.test("decodeStream() an error event is a failure, and the usage before it is known", () => {
  const decoder = chatCompletions.decodeStream();
  const out: Part[] = [];
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  decoder.push({ event: "", data: JSON.stringify({ ...delta({ content: "a" }), usage }) }, out);
  const frame = { event: "error", data: JSON.stringify({ error: { message: "no", status_code: 400 } }) };
  const failure = assertThrows(() => decoder.push(frame, out), Failure) as Failure;
  assertEquals(failure.code, "provider_bad_request");
  assertEquals(out.at(-1)?.type, "usage");
});

const USAGES: Record<string, Loose[]> = {
  "on a chunk without choices": [STOP, {
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }],
  "on a chunk with choices": [{
    ...STOP,
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }],
  "in x_groq": [{ ...STOP, x_groq: { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } } }],
  "cumulative in every chunk": [
    { ...delta({ content: "b" }), usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } },
    { ...STOP, usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
  ],
  "null until the end": [
    { ...delta({ content: "b" }), usage: { prompt_tokens: 5, completion_tokens: null, total_tokens: null } },
    { ...STOP, usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: null, total_tokens: null } },
  ],
  "zeros until the end": [
    { ...delta({ content: "b" }), usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    { ...STOP, usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
  ],
  "zeros after the counts": [
    { ...STOP, usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
  ],
  "the prompt at the start only": [
    { ...delta({ content: "b" }), usage: { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 } },
    { ...STOP, usage: { prompt_tokens: 0, completion_tokens: 2, total_tokens: 2 } },
  ],
};

for (const [situation, chunks] of Object.entries(USAGES)) {
  Deno.test(`decodeStream() usage: ${situation}`, () => {
    const parts = decodeChunks([delta({ content: "a" }), ...chunks, "[DONE]"]);
    const usages = parts.filter((part) => part.type === "usage");
    assertEquals(usages.map(({ usage }) => [usage.input, usage.output]), [[5, 2]]);
  });
}

Deno.test("decodeStream() keeps what is said of the prompt when zeros follow", () => {
  const details = { cached_tokens: 4, cache_write_tokens: 1 };
  const zeros = { cached_tokens: 0, cache_write_tokens: 0 };
  const parts = decodeChunks([
    {
      ...delta({ content: "a" }),
      usage: { prompt_tokens: 5, total_tokens: 5, prompt_tokens_details: details },
    },
    {
      ...STOP,
      usage: { prompt_tokens: 0, completion_tokens: 2, total_tokens: 2, prompt_tokens_details: zeros },
    },
    "[DONE]",
  ]);
  const [{ usage }] = parts.filter((part) => part.type === "usage");
  assertEquals([usage.input, usage.cached, usage.cacheWrite, usage.output], [5, 4, 1, 2]);
});

Deno.test("decodeStream() takes the model from the first chunk that names one", () => {
  const parts = decodeChunks([
    { id: "", model: "", object: "", choices: [], prompt_filter_results: [] },
    { ...delta({ role: "assistant", content: "" }), model: "gpt-x-2026", service_tier: "default" },
    delta({ content: "a" }),
    { choices: [{ index: 0, content_filter_results: {}, finish_reason: null }] },
    STOP,
    "[DONE]",
  ]);
  assertEquals(parts[0], {
    type: "start",
    model: "gpt-x-2026",
    extra: { format: "chat_completions", fields: { service_tier: "default" } },
  });
});

Deno.test("decodeStream() and encodeStream() give back to the same format what its provider reports", () => {
  const prompt_filter_results = [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }];
  const content_filter_results = { hate: { filtered: false, severity: "safe" } };
  const prediction = { accepted_prediction_tokens: 3, rejected_prediction_tokens: 0 };
  const chunks = [
    { id: "", model: "", object: "", choices: [], prompt_filter_results },
    { ...delta({ role: "assistant", content: "" }), model: "m", service_tier: "on_demand" },
    delta({ content: "a" }, { content_filter_results }),
    delta({}, { finish_reason: "stop" }),
    {
      choices: [],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 4,
        total_tokens: 9,
        completion_tokens_details: prediction,
      },
    },
  ];
  const parts = decodeChunks([...chunks, "[DONE]"]);
  const whole = chatCompletions.encodeAnswer(collect(parts), context());
  for (const answer of [whole, foldChunks(encodeAll(parts))]) {
    assertEquals(answer.prompt_filter_results, prompt_filter_results);
    // A word that the official types do not know.
    assertEquals(answer.service_tier, "default");
    const [choice] = answer.choices as Loose[];
    assertEquals(choice.content_filter_results, content_filter_results);
    const details = (answer.usage as Loose).completion_tokens_details as Loose;
    assertEquals(
      [details.accepted_prediction_tokens, details.rejected_prediction_tokens, details.reasoning_tokens],
      [3, 0, 0],
    );
  }
});

Deno.test("decodeStream() keeps choices apart whose calls share index and id", () => {
  const tool = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] };
  const more = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const parts = decodeChunks([
    delta(tool, {}, 0),
    delta(tool, {}, 1),
    delta(more('{"x":0}'), {}, 0),
    delta(more('{"x":1}'), {}, 1),
    delta({}, { finish_reason: "tool_calls" }, 1),
    delta({}, { finish_reason: "tool_calls" }, 0),
  ]);
  assertEquals(said(parts).map((choice) => choice.blocks), [['a f({"x":0})'], ['a f({"x":1})']]);
});

Deno.test("decodeStream() a whole message beside deltas counts once, alone it is the answer", () => {
  const beside = [
    delta({ content: "a" }),
    delta({ content: "b" }, { message: { content: "ab" }, finish_reason: "stop" }),
  ];
  const alone = [{
    choices: [{ index: 0, message: { role: "assistant", content: "ab" }, finish_reason: "stop" }],
  }];
  for (const chunks of [beside, alone]) assertEquals(said(decodeChunks(chunks))[0].blocks, ["text: ab"]);
});

Deno.test("decodeStream() content that is JSON becomes its text", () => {
  const whole = { choices: [{ message: { content: { city: "Rome" } }, finish_reason: "stop" }] };
  assertEquals(said(chatCompletions.decodeAnswer(whole))[0].blocks, [
    'text: {"city":"Rome"}',
  ]);
});

Deno.test("decodeStream() sound comes in pieces, and whole with its separately padded pieces joined", () => {
  const parts = decodeChunks([
    delta({ audio: { id: "au", transcript: "He" } }),
    delta({ audio: { data: btoa("a") } }),
    delta({ audio: { data: btoa("bc"), transcript: "y" } }),
    delta({ audio: { expires_at: 9 } }),
    STOP,
  ]);
  const pieces = parts.filter((part) => part.type === "sound-delta");
  assertEquals(pieces.map(({ id, data, transcript }) => [id, data, transcript]), [
    ["au", undefined, "He"],
    ["au", btoa("a"), undefined],
    ["au", btoa("bc"), "y"],
  ]);
  const media = parts.find((part) => part.type === "media");
  assertEquals([media?.mediaType, atob(media!.data), media?.transcript], ["audio/pcm", "abc", "Hey"]);
  assertEquals(media?.extra?.fields, { id: "au", expires_at: 9 });
});

Deno.test("decodeStream() images with bytes are media, by address they are this format's own", () => {
  const image = (url: string) => ({ images: [{ type: "image_url", image_url: { url } }] });
  const parts = decodeChunks([
    delta(image("data:image/png;base64,AAAA")),
    delta(image("https://x.test/i.png")),
    STOP,
  ]);
  const [first, second] = parts.filter((part) => part.type === "media" || part.type === "opaque");
  assert(first.type === "media" && first.mediaType === "image/png" && first.data === "AAAA");
  assert(second.type === "opaque" && second.format === "chat_completions");
});

Deno.test("decodeStream() logprobs stay with their text", () => {
  const content = [{
    token: "a",
    logprob: -0.5,
    bytes: [97],
    top_logprobs: [{ token: "b", logprob: -1, bytes: null }],
  }];
  const parts = decodeChunks([delta({ content: "a" }, { logprobs: { content, refusal: null } }), STOP]);
  const piece = parts.find((part) => part.type === "text-delta");
  assertEquals(piece?.logprobs, [
    { token: "a", logprob: -0.5, bytes: [97], top: [{ token: "b", logprob: -1, bytes: null }] },
  ]);
});

Deno.test("decodeStream() annotations cite the text; a source of the whole answer has no place in it", () => {
  const annotation = (start: number, end: number) => ({
    type: "url_citation",
    url_citation: { url: "https://a.test", title: "A", start_index: start, end_index: end },
  });
  const parts = decodeChunks([
    delta({ content: "abc" }),
    delta({ annotations: [annotation(0, 0), annotation(1, 3), { type: "file", file: {} }] }),
    STOP,
  ]);
  assertLegal(parts);
  const citations = parts.flatMap((part) => part.type === "citation" ? [part.citation] : []);
  assertEquals(citations, [
    { kind: "url", url: "https://a.test", title: "A" },
    { kind: "url", url: "https://a.test", title: "A", start: 1, end: 3 },
  ]);
});
