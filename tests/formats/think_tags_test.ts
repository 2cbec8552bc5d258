/** Reasoning between tags of the text, for providers with `think_tags`. */
import { assertEquals } from "@std/assert";
import { type Choice, collect } from "../../src/exchange/answer.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { type ThinkTags, withThinkTags } from "../../src/formats/think_tags.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { assertLegal } from "./gemini/legal_parts.ts";

const THINK: ThinkTags = { name: "think", prefilled: false };
const PREFILLED: ThinkTags = { name: "think", prefilled: true };

type Delta = Record<string, unknown>;

function streamed(deltas: readonly Delta[], finish: string, tags: ThinkTags): Part[] {
  const decoder = withThinkTags(chatCompletions, tags).decodeStream();
  const parts: Part[] = [];
  const chunk = (delta: Delta, finish_reason: string | null = null) =>
    JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason }] });
  for (const delta of deltas) decoder.push({ event: "", data: chunk(delta) }, parts);
  decoder.push({ event: "", data: chunk({}, finish) }, parts);
  decoder.push({ event: "", data: "[DONE]" }, parts);
  decoder.end(parts);
  assertLegal(parts);
  return parts;
}

function whole(message: Delta, finish: string, tags: ThinkTags): Part[] {
  const choices = [{ index: 0, message, finish_reason: finish }];
  const parts = withThinkTags(chatCompletions, tags).decodeAnswer({ id: "c", model: "m", choices });
  assertLegal(parts);
  return parts;
}

/** Each block as its kind and text. */
function shown(parts: readonly Part[]): string[][] {
  const [{ blocks }]: Choice[] = collect(parts).choices;
  return blocks.map((block) =>
    block.type === "reasoning"
      ? [block.type, block.sections.join("")]
      : block.type === "text"
      ? [block.type, block.text]
      : [block.type]
  );
}

const CASES: readonly [about: string, text: string, finish: string, tags: ThinkTags, blocks: string[][]][] = [
  ["reasoning and text", "<think>\nHm, 1 < 2.\n</think>\n\nHello", "stop", THINK, [
    ["reasoning", "Hm, 1 < 2."],
    ["text", "Hello"],
  ]],
  ["white space before it", "\n\n <think>Hm</think>Hello\n", "stop", THINK, [
    ["reasoning", "Hm"],
    ["text", "Hello\n"],
  ]],
  ["no reasoning", "<think>\n\n</think>\n\nHello", "stop", THINK, [["text", "Hello"]]],
  ["two of them", "<think>a</think>\n<think>b</think>c", "stop", THINK, [
    ["reasoning", "a"],
    ["reasoning", "b"],
    ["text", "c"],
  ]],
  ["a text about the tags", "Models write <think> and </think>.", "stop", THINK, [
    ["text", "Models write <think> and </think>."],
  ]],
  [
    "a text with tags after the reasoning",
    "<think>a</think>The tag <think> opens, </think> closes.",
    "stop",
    THINK,
    [
      ["reasoning", "a"],
      ["text", "The tag <think> opens, </think> closes."],
    ],
  ],
  ["the beginning of a tag", "<thin", "stop", THINK, [["text", "<thin"]]],
  ["another tag", "<thinker>a</thinker>", "stop", THINK, [["text", "<thinker>a</thinker>"]]],
  ["white space alone", " \n", "stop", THINK, [["text", " \n"]]],
  ["half of the second tag in the reasoning", "<think>a </thin b</think>c", "stop", THINK, [
    ["reasoning", "a </thin b"],
    ["text", "c"],
  ]],
  ["cut within the reasoning", "<think>\nHm, I", "length", THINK, [["reasoning", "Hm, I"]]],
  ["a text that begins with the tag", "<think> is a tag.", "stop", THINK, [
    ["reasoning", "is a tag."],
    ["text", "<think> is a tag."],
  ]],
  ["nothing after the reasoning", "<think>a</think>\n", "stop", THINK, [["reasoning", "a"]]],
  ["begun by the template", "Hm.\n</think>\n\nHello", "stop", PREFILLED, [["reasoning", "Hm."], [
    "text",
    "Hello",
  ]]],
  ["begun by both", "<think>\nHm.\n</think>\n\nHello", "stop", PREFILLED, [
    ["reasoning", "Hm."],
    ["text", "Hello"],
  ]],
  ["begun by the template, never closed", " Hello", "stop", PREFILLED, [["reasoning", "Hello"], [
    "text",
    " Hello",
  ]]],
  ["begun by the template, cut", "Hm", "length", PREFILLED, [["reasoning", "Hm"]]],
  ["another name", "<mm:think>a</mm:think>b", "stop", { name: "mm:think", prefilled: false }, [
    ["reasoning", "a"],
    ["text", "b"],
  ]],
];

for (const [about, text, finish, tags, blocks] of CASES) {
  Deno.test(`think tags: ${about}`, () => {
    assertEquals(shown(whole({ role: "assistant", content: text }, finish, tags)), blocks);
    assertEquals(shown(streamed([...text].map((content) => ({ content })), finish, tags)), blocks);
    for (let at = 1; at < text.length; at++) {
      const pieces = [{ content: text.slice(0, at) }, { content: text.slice(at) }];
      assertEquals(shown(streamed(pieces, finish, tags)), blocks, `cut at ${at}`);
    }
  });
}

const CALL = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };

Deno.test("think tags: a call after reasoning that was not closed", () => {
  const blocks = [["reasoning", "I look."], ["call"]];
  const content = "<think>I look.";
  assertEquals(shown(streamed([{ content }, { tool_calls: [CALL] }], "tool_calls", THINK)), blocks);
  assertEquals(shown(whole({ content, tool_calls: [CALL] }, "tool_calls", THINK)), blocks);
});

Deno.test("think tags: fields that only one vendor has are no answer", () => {
  const blocks = [["reasoning", "Hello"], ["text", " Hello"], ["opaque"]];
  const message = { content: " Hello", token_ids: [1] };
  const sorted = (parts: Part[]) =>
    shown(parts).sort(([a], [b]) =>
      blocks.findIndex(([type]) => type === a) -
      blocks.findIndex(([type]) => type === b)
    );
  assertEquals(sorted(streamed([message], "stop", PREFILLED)), blocks);
  assertEquals(sorted(whole(message, "stop", PREFILLED)), blocks);
});

Deno.test("think tags: a server that separates reasoning itself writes them as text", () => {
  const blocks = [["reasoning", "Hm"], ["text", "<think> is a tag, and </think> another."]];
  const content = "<think> is a tag, and </think> another.";
  for (const tags of [THINK, PREFILLED]) {
    assertEquals(shown(streamed([{ reasoning_content: "Hm" }, { content }], "stop", tags)), blocks);
    assertEquals(shown(whole({ reasoning_content: "Hm", content }, "stop", tags)), blocks);
  }
});

Deno.test("think tags: log probabilities and citations are those of the text", () => {
  const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] });
  const answer = {
    id: "c",
    model: "m",
    choices: [{
      index: 0,
      message: {
        content: "<think>a</think>See here.",
        annotations: [{
          type: "url_citation",
          url_citation: { url: "https://x.test", title: "X", start_index: 20, end_index: 24 },
        }],
      },
      logprobs: { content: ["<think>", "a", "</think>", "See", " here", "."].map(token) },
      finish_reason: "stop",
    }],
  };
  const [{ blocks }] = collect(withThinkTags(chatCompletions, THINK).decodeAnswer(answer)).choices;
  const [, text] = blocks;
  assertEquals(text.type === "text" && text.logprobs?.map((l) => l.token), ["See", " here", "."]);
  assertEquals(text.type === "text" && text.citations.map(({ start, end }) => [start, end]), [[4, 8]]);
});

const TOLD = "<think>\nHm.\n</think>\n\nHello";

/** Asks twice, the second time with the first answer, and returns what the callers got and what the provider was sent. */
async function dialogue(path: string, stream: boolean, first: Delta, again: (answer: Delta) => Delta) {
  await using provider = loopbackProvider((seen) => {
    const choice = { index: 0, finish_reason: "stop" };
    if (!seen.body.stream) {
      return Response.json({ id: "c", choices: [{ ...choice, message: { content: TOLD } }] });
    }
    const chunks = [...TOLD].map((content) => ({ id: "c", choices: [{ index: 0, delta: { content } }] }));
    const frames = [...chunks, { id: "c", choices: [{ ...choice, delta: {} }] }].map((c) =>
      JSON.stringify(c)
    );
    return sseResponse([...frames, "[DONE]"].map((data) => `data: ${data}\n\n`));
  });
  await using gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, more: { think_tags: {} } },
  });
  const ask = async (body: Delta) => {
    const init = { headers: { authorization: `Bearer ${SECRET}` } };
    const response = await gateway.post(path, { model: "p/model", max_tokens: 99, ...body }, init);
    assertEquals(response.status, 200);
    return response;
  };
  const streamedText = stream ? await (await ask({ ...first, stream })).text() : "";
  const answer = await (await ask(first)).json();
  await (await ask(again(answer))).text();
  return { answer, streamedText, sent: provider.seen.at(-1)!.body.messages as Delta[] };
}

const HI = { role: "user", content: "Hi" };
const BACK = { role: "assistant", content: TOLD };

Deno.test("think tags: chat-completions callers get reasoning, and the provider gets it back as it wrote it", async () => {
  const { answer, streamedText, sent } = await dialogue(
    "/v1/chat/completions",
    true,
    { messages: [HI] },
    ({ choices }) => ({ messages: [HI, (choices as Delta[])[0].message, HI] }),
  );
  const [{ message }] = answer.choices;
  assertEquals([message.reasoning_content, message.content], ["Hm.", "Hello"]);
  assertEquals(sent[1], BACK);
  const deltas = streamedText.split("\n\n").filter((line) => line.startsWith("data: {")).flatMap((line) =>
    JSON.parse(line.slice(6)).choices.map(({ delta }: { delta: Delta }) => delta)
  );
  assertEquals(deltas.map((delta) => delta.reasoning_content ?? "").join(""), "Hm.");
  assertEquals(deltas.map((delta) => delta.content ?? "").join(""), "Hello");
});

Deno.test("think tags: callers of the messages format get thinking, and the provider gets it back", async () => {
  const { answer, sent } = await dialogue(
    "/v1/messages",
    false,
    { messages: [HI] },
    ({ content }) => ({ messages: [HI, { role: "assistant", content }, HI] }),
  );
  const [thinking, text] = answer.content;
  assertEquals([thinking.thinking, text.text], ["Hm.", "Hello"]);
  assertEquals(sent[1], BACK);
});

Deno.test("think tags: callers of the responses format get a reasoning item, and the provider gets it back", async () => {
  const { answer, sent } = await dialogue(
    "/v1/responses",
    false,
    { input: [HI], max_tokens: undefined },
    ({ output }) => ({ input: [HI, ...output as Delta[], HI], max_tokens: undefined }),
  );
  const [reasoning, message] = answer.output;
  assertEquals([reasoning.summary[0].text, message.content[0].text], ["Hm.", "Hello"]);
  assertEquals(sent[1], BACK);
});
