/** Answers of servers that say something in places where OpenAI has nothing. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { decodeAnswer } from "../../../src/formats/chat_completions/decode_answer.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import type { DecodeRequest, EncodeAnswer } from "../../../src/formats/format.ts";
import { PROVIDER_FORMATS } from "../../../src/formats/mod.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { call, CALLED, said, STOP } from "./chunks.ts";
import { context as plainContext, decodeChunks, delta, ENCODE, encodeAll, foldChunks } from "./support.ts";
import { foreign, request } from "./support.ts";

const whole = (message: Loose, more: Loose = {}): Loose => ({
  id: "c1",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }],
});

/** Without commas, as the real seal. */
const context = (prompt: Prompt = request()): EncodeAnswer => ({
  ...plainContext(prompt),
  seal: (proof) => `sealed-${btoa(JSON.stringify(proof))}`,
});

const DECODE: DecodeRequest = {
  unseal: (text) => text.startsWith("sealed-") ? JSON.parse(atob(text.slice(7))) : null,
  headers: () => ({}),
};

/** The failure that reading ends with. */
function failed(read: () => unknown): Failure {
  return assertThrows(read, Failure);
}

Deno.test("decodeStream() counts what Moonshot reports inside of a choice", () => {
  const usage = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32 };
  const parts = decodeChunks([
    delta({ content: "Hi" }),
    delta({}, { finish_reason: "stop", usage }),
    "[DONE]",
  ]);
  assertEquals([collect(parts).usage?.input, collect(parts).usage?.output], [19, 13]);
});

Deno.test("decodeStream() fails with the error that Groq tells in x_groq", () => {
  const stopped = { ...delta({}, { finish_reason: "stop" }), x_groq: { id: "r", error: "over capacity" } };
  assertEquals(
    failed(() => decodeChunks([delta({ content: "Hi" }), stopped, "[DONE]"])).code,
    "provider_model_down",
  );
  assertEquals(
    said(decodeChunks([{ ...STOP, x_groq: { id: "r", error: null } }, "[DONE]"]))[0].reason,
    "stop",
  );
});

Deno.test("decodeStream() and decodeAnswer() fail with the error that MiniMax tells beside an answer without choices", () => {
  const refused = (status_code: number, status_msg: string) => ({
    id: "1",
    choices: null,
    base_resp: { status_code, status_msg },
  });
  for (const read of [(body: Loose) => decodeChunks([body]), decodeAnswer]) {
    assertEquals(failed(() => read(refused(1002, "rate limit exceeded"))).code, "provider_rate_limited");
    assert(failed(() => read(refused(1008, "insufficient balance"))).lasting);
  }
  const good = { ...STOP, base_resp: { status_code: 0, status_msg: "" } };
  assertEquals(said(decodeChunks([delta({ content: "Hi" }), good]))[0], {
    blocks: ["text: Hi"],
    reason: "stop",
  });
});

Deno.test("decodeFinish() reads the filters that Google's compatible API names, and a broken-off generation", () => {
  for (const word of ["function_call_filter: UNEXPECTED_TOOL_CALL", "content_filter: PROHIBITED_CONTENT"]) {
    assertEquals(
      said(decodeAnswer(whole({ content: "" }, { finish_reason: word })))[0].reason,
      "content-filter",
    );
  }
  for (
    const word of [
      "function_call_filter: MALFORMED_FUNCTION_CALL",
      "malformed_function_call",
      "malformed_tool_call",
    ]
  ) {
    const malformed = () => decodeAnswer(whole({ content: "" }, { finish_reason: word }));
    const { code, message } = failed(malformed);
    assertEquals([code, message], [
      "provider_model_down",
      "Server error: the model's answer cannot be used.",
    ]);
  }
  const abort = () => decodeAnswer(whole({ content: "Hi" }, { finish_reason: "abort" }));
  assertEquals(failed(abort).code, "provider_model_down");
});

Deno.test("decodeStream() reads the one call that text-generation-inference has in place of a list", () => {
  const call = (name: string | null, args: string) => ({
    tool_calls: { index: 0, id: "", type: "function", function: { name, arguments: args } },
  });
  const parts = decodeChunks([delta(call("f", '{"a"')), delta(call(null, ":1}")), CALLED, "[DONE]"]);
  assertEquals(said(parts), [{ blocks: ['call_c1_0 f({"a":1})'], reason: "tool-calls" }]);
});

Deno.test("decodeStream() and decodeAnswer() read reasoning among Databricks' contents", () => {
  const reasoning = (text: string) => ({
    type: "reasoning",
    summary: [{ type: "summary_text", text, signature: "SIG" }],
  });
  const text = { type: "text", text: "Blue." };
  const found = [{ blocks: ["summary: Think hard.", "text: Blue."], reason: "stop" as const }];
  assertEquals(said(decodeAnswer(whole({ content: [reasoning("Think hard."), text] }))), found);
  const parts = decodeChunks([
    delta({ content: [reasoning("Think")] }),
    delta({ content: [reasoning(" hard.")] }),
    delta({ content: [text] }),
    STOP,
    "[DONE]",
  ]);
  assertEquals(said(parts), found);
  const { content } = messages.encodeAnswer(collect(parts), context(foreign({})));
  const { turns } = messages.decodeRequest(
    {
      model: "a/b",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }, { role: "assistant", content }],
    },
    DECODE,
  );
  const { body } = PROVIDER_FORMATS.chat_completions.encodeRequest(foreign({ turns }), ENCODE);
  assertEquals((body.messages as Loose[])[1], {
    role: "assistant",
    content: [reasoning("Think hard."), text],
  });
});

const THOUGHT = [
  { type: "thinking", thinking: "Let me", signature: "SIG1" },
  { type: "redacted_thinking", data: "RED" },
  { type: "thinking", thinking: " see.", signature: "SIG2" },
];

const CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

/** LiteLLM's stream of Claude's thinking: the signature comes behind the text. */
const LITELLM = [
  delta({
    reasoning_content: "Let",
    thinking_blocks: [{ type: "thinking", thinking: "Let", signature: null }],
  }),
  delta({
    reasoning_content: " me",
    thinking_blocks: [{ type: "thinking", thinking: " me", signature: null }],
  }),
  delta({ reasoning_content: "", thinking_blocks: [{ type: "thinking", thinking: "", signature: "SIG1" }] }),
  delta({ thinking_blocks: [THOUGHT[1]] }),
  delta({ reasoning_content: " see.", thinking_blocks: [{ type: "thinking", thinking: " see." }] }),
  delta({ thinking_blocks: [{ type: "thinking", thinking: "", signature: "SIG2" }] }),
  delta({ tool_calls: [{ index: 0, ...CALL }] }),
  CALLED,
  "[DONE]",
];

const LITELLM_WHOLE = whole(
  { content: null, reasoning_content: "Let me see.", thinking_blocks: THOUGHT, tool_calls: [CALL] },
  { finish_reason: "tool_calls" },
);

Deno.test("thinking_blocks of LiteLLM come back to it as they were, from callers of each kind", () => {
  for (const parts of [decodeChunks(LITELLM), decodeAnswer(LITELLM_WHOLE)]) {
    assertEquals(said(parts), [{ blocks: ["text: Let me see.", "c f({})"], reason: "tool-calls" }]);
    const answer = collect(parts);
    const ask = { role: "user", content: "Hi" };

    const { content } = messages.encodeAnswer(answer, context(foreign({})));
    const result = { type: "tool_result", tool_use_id: "c", content: "ok" };
    const asMessages = messages.decodeRequest({
      model: "a/b",
      max_tokens: 9,
      messages: [ask, { role: "assistant", content }, { role: "user", content: [result] }],
    }, DECODE);
    const [{ message }] = (chatCompletions.encodeAnswer(answer, context()).choices) as { message: Loose }[];
    const [{ message: streamed }] = (foldChunks(encodeAll(parts, context())).choices) as { message: Loose }[];
    assertEquals(message.thinking_blocks, THOUGHT);
    assertEquals(streamed.thinking_blocks, THOUGHT);
    const asChat = [message, streamed].map((one) =>
      chatCompletions.decodeRequest({
        model: "a/b",
        messages: [ask, one, { role: "tool", tool_call_id: "c", content: "ok" }],
      }, DECODE)
    );
    for (const prompt of [asMessages, ...asChat]) {
      const { body } = PROVIDER_FORMATS.chat_completions.encodeRequest(prompt, ENCODE);
      const [, sent] = body.messages as Loose[];
      assertEquals(sent.thinking_blocks, THOUGHT);
      assertEquals(sent.reasoning_content, "Let me see.");
    }
  }
});

/** GitHub Copilot's stream, as its clients read it: the text in `reasoning_text`, the proof in `reasoning_opaque`. */
const COPILOT = [
  delta({ role: "assistant", content: null, reasoning_text: "Let me" }),
  delta({ reasoning_text: " see." }),
  delta({ content: "", reasoning_opaque: "OPAQUE" }),
  delta({ tool_calls: [{ index: 0, ...CALL }] }),
  CALLED,
  "[DONE]",
];

const COPILOT_WHOLE = whole(
  { content: null, reasoning_text: "Let me see.", reasoning_opaque: "OPAQUE", tool_calls: [CALL] },
  { finish_reason: "tool_calls" },
);

Deno.test("reasoning of GitHub Copilot is shown, and comes back to it as it was, from callers of each kind", () => {
  for (const parts of [decodeChunks(COPILOT), decodeAnswer(COPILOT_WHOLE)]) {
    assertEquals(said(parts), [{ blocks: ["text: Let me see.", "text: ", "c f({})"], reason: "tool-calls" }]);
    const answer = collect(parts);
    const ask = { role: "user", content: "Hi" };
    const { content } = messages.encodeAnswer(answer, context(foreign({})));
    const result = { type: "tool_result", tool_use_id: "c", content: "ok" };
    const asMessages = messages.decodeRequest({
      model: "a/b",
      max_tokens: 9,
      messages: [ask, { role: "assistant", content }, { role: "user", content: [result] }],
    }, DECODE);
    const [{ message }] = (chatCompletions.encodeAnswer(answer, context()).choices) as { message: Loose }[];
    const [{ message: streamed }] = (foldChunks(encodeAll(parts, context())).choices) as { message: Loose }[];
    const asChat = [message, streamed].map((one) => {
      for (const name of ["reasoning_text", "reasoning_content", "reasoning"]) {
        assertEquals(one[name], "Let me see.");
      }
      return chatCompletions.decodeRequest({
        model: "a/b",
        messages: [ask, one, { role: "tool", tool_call_id: "c", content: "ok" }],
      }, DECODE);
    });
    for (const prompt of [asMessages, ...asChat]) {
      const { body } = PROVIDER_FORMATS.chat_completions.encodeRequest(prompt, ENCODE);
      const [, { reasoning_text, reasoning_opaque, reasoning_content, reasoning }] = body.messages as Loose[];
      assertEquals([reasoning_text, reasoning_opaque], ["Let me see.", "OPAQUE"]);
      assertEquals([reasoning_content, reasoning], [undefined, undefined]);
    }
  }
});

Deno.test("decodeStream() tells calls of one index apart where none has an id, and takes one that is repeated once", () => {
  const f = (args: string, more: Loose = {}) =>
    call({ index: 0, ...more, function: { name: "f", arguments: args } });
  const calls = (...chunks: Loose[]) => said(decodeChunks([...chunks, CALLED, "[DONE]"]))[0].blocks;
  assertEquals(calls(f('{"a":1}'), f('{"a":2}')), ['call_c1_0 f({"a":1})', 'call_c1_1 f({"a":2})']);
  assertEquals(calls(f('{"a":'), f("1}"), f('{"a":2}')), ['call_c1_0 f({"a":1})', 'call_c1_1 f({"a":2})']);
  assertEquals(calls(f('{"a":1}'), f('{"a":1}')), ['call_c1_0 f({"a":1})']);
  assertEquals(calls(f('{"a":1}', { id: "x" }), f('{"a":1}', { id: "x" })), ['x f({"a":1})']);
  assertEquals(calls(f('{"a":', { id: "x" }), f("{}}", { id: "x" })), ['x f({"a":{}})']);
});

Deno.test("decodeStream() fails with the errors that Cloudflare lists where chunks stand", () => {
  const errors = { success: false, errors: [{ message: "Capacity temporarily exceeded", code: 3040 }] };
  const failure = failed(() => decodeChunks([delta({ content: "Hal" }), errors, "[DONE]"]));
  assertEquals(failure.code, "provider_model_down");
  assertEquals(said(decodeChunks([delta({ content: "x" }), { errors: [], success: true }, STOP])), [
    { blocks: ["text: x"], reason: "stop" },
  ]);
});

Deno.test("decodeAnswer() puts an answer together that GitHub Copilot splits into several choices", () => {
  const called = (id: string): Loose => ({
    id,
    type: "function",
    function: { name: "f", arguments: `{"a":"${id}"}` },
  });
  const choice = (message: Loose, more: Loose = {}) => ({
    finish_reason: "tool_calls",
    message: { role: "assistant", ...message },
    ...more,
  });
  const pieces = [
    choice({ content: "Let me look." }),
    choice({ tool_calls: [called("x")] }),
    choice({ content: null, tool_calls: [called("y"), called("z")] }),
  ];
  for (
    const choices of [
      pieces,
      pieces.map((piece) => ({ ...piece, index: 0 })),
      pieces.map((piece, index) => ({ ...piece, index })),
    ]
  ) {
    const answer = collect(decodeAnswer({ id: "c", model: "m", choices }));
    assertEquals(answer.choices.map(({ index, reason }) => [index, reason]), [[0, "tool-calls"]]);
    const blocks = answer.choices[0].blocks.map((block) =>
      block.type === "text" ? block.text : block.type === "call" ? [block.id, block.arguments] : block.type
    );
    assertEquals(blocks, [
      "Let me look.",
      ["x", '{"a":"x"}'],
      ["y", '{"a":"y"}'],
      ["z", '{"a":"z"}'],
    ]);
  }
  // Several answers are not put together.
  const answers = [choice({ tool_calls: [called("x")] }), choice({ tool_calls: [called("x")] }), {
    finish_reason: "stop",
    message: { role: "assistant", content: "No." },
  }];
  const { choices } = collect(decodeAnswer({ id: "c", model: "m", choices: answers }));
  assertEquals(choices.map(({ index, reason, blocks }) => [index, reason, blocks.length]), [
    [0, "tool-calls", 1],
    [1, "tool-calls", 1],
    [2, "stop", 1],
  ]);
});

Deno.test("decodeAnswer() sources beside a refusal are those of the text, which every format can show", () => {
  const source = { url: "https://x.test", title: "X", start_index: 0, end_index: 0 };
  const annotations = [{ type: "url_citation", url_citation: source }];
  const answer = collect(decodeAnswer(whole({ content: "Half.", refusal: "No.", annotations })));
  assertEquals(
    answer.choices[0].blocks.map((block) =>
      block.type === "text" && [block.text, block.refusal, block.citations.length]
    ),
    [["Half.", false, 1], ["No.", true, 0]],
  );
});

Deno.test("log probabilities in the lists of the older completions API are those of the text", () => {
  const logprobs = {
    tokens: ["Hel", "lo"],
    token_ids: [9707, 385],
    token_logprobs: [-0.25, -0.5],
    top_logprobs: [{ "Hel": -0.25, "Hal": -2 }, null],
  };
  const entry = (token: string, logprob: number, top: [string, number][] = []) => ({
    token,
    logprob,
    bytes: null,
    top_logprobs: top.map(([token, logprob]) => ({ token, logprob, bytes: null })),
  });
  const wanted = [entry("Hel", -0.25, [["Hel", -0.25], ["Hal", -2]]), entry("lo", -0.5)];
  const answer = collect(decodeAnswer(whole({ content: "Hello" }, { logprobs })));
  // deno-lint-ignore no-explicit-any -- read like a client
  const encoded = chatCompletions.encodeAnswer(answer, context()) as any;
  assertEquals(encoded.choices[0].logprobs, { content: wanted, refusal: null });
  const piece = (i: number) => ({
    id: "c",
    model: "m",
    choices: [{
      index: 0,
      delta: { content: logprobs.tokens[i] },
      logprobs: {
        tokens: [logprobs.tokens[i]],
        token_logprobs: [logprobs.token_logprobs[i]],
        top_logprobs: [logprobs.top_logprobs[i]],
      },
    }],
  });
  const folded = foldChunks(encodeAll(decodeChunks([piece(0), piece(1), STOP, "[DONE]"])));
  // deno-lint-ignore no-explicit-any
  assertEquals((folded.choices as any)[0].logprobs, { content: wanted, refusal: null });
});

Deno.test("sources of Z.AI's search are citations", () => {
  const web_search = [
    { title: "A", link: "https://a.test", content: "a", media: "A", icon: "", refer: "ref_1" },
    { title: "No link", content: "b" },
  ];
  const answer = collect(decodeAnswer({ ...whole({ content: "Yes [ref_1]" }), web_search }));
  const [block] = answer.choices[0].blocks;
  assertEquals(block.type === "text" && block.citations, [{
    kind: "url",
    url: "https://a.test",
    title: "A",
  }]);
});
