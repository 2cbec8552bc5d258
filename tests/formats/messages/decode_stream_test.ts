import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { extraOf } from "../../../src/exchange/prompt.ts";
import type { Frame } from "../../../src/formats/format.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { decodeFrames, encodeParts, failureOf, framesOf } from "./support.ts";
import { closed, delta, ending, frame, opened, started, stopped, textFrames } from "./frames.ts";

const answer = (...frames: Frame[]) => collect(decodeFrames(frames));

Deno.test("decodeStream() lets the last counts replace the first, field by field", () => {
  const first = {
    input_tokens: 2068,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 7,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 88,
  };
  const last = {
    input_tokens: 22397,
    cache_creation_input_tokens: 17269,
    cache_read_input_tokens: null,
    output_tokens: 9,
  };
  const { usage } = answer(started("a", first), ending(last), stopped);
  assertEquals([usage?.input, usage?.cached, usage?.cacheWrite, usage?.output], [
    22397 + 17269 + 7,
    7,
    17269,
    9,
  ]);
  const kept = answer(started("a", first), ending({ output_tokens: 3 }), stopped).usage;
  assertEquals([kept?.input, kept?.output], [2075, 3]);
  assertEquals(answer(started("a", {}), ending(), stopped).usage, null);
});

Deno.test("decodeStream() passes a repeated message_start over and refuses one inside another answer", () => {
  const text = textFrames(0, "x");
  assertEquals(answer(started(), started(), ...text, ending(), stopped).choices[0].blocks.length, 1);
  assertEquals(answer(started("a"), started("b"), ...text, ending(), stopped).choices[0].blocks.length, 1);
  assertEquals(answer(started(), ...text, started(), ending(), stopped).choices[0].blocks.length, 1);
  const spliced = failureOf(() =>
    decodeFrames([started("a"), text[0], started("b"), ...text, ending(), stopped])
  );
  assertEquals(spliced.code, "provider_unavailable");
});

Deno.test("decodeStream() reads a message that is complete in its message_start", () => {
  const content = [
    { type: "code_execution_tool_result", tool_use_id: "srvtoolu_1", content: { type: "x" } },
    { type: "text", text: "One moment." },
    {
      type: "tool_use",
      id: "toolu_1",
      name: "look_up",
      input: { id: "c1" },
      caller: { type: "code_execution_20250825", tool_id: "srvtoolu_0" },
    },
  ];
  const message = {
    id: "m",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: "tool_use",
    usage: {},
  };
  const container = { id: "container_1", expires_at: "2026-04-24T00:40:16Z" };
  const start = { event: "message_start", data: JSON.stringify({ message: { ...message, container } }) };
  const { choices: [choice] } = answer(start, stopped);
  assertEquals(choice.blocks.map(({ type }) => type), ["opaque", "text", "call"]);
  const call = choice.blocks[2];
  assertEquals(call.type === "call" && [call.id, call.name, call.arguments], [
    "toolu_1",
    "look_up",
    '{"id":"c1"}',
  ]);
  assertEquals(choice.reason, "tool-calls");
  assertEquals(extraOf(choice.extra, "messages")?.container, container);
  // Events after it continue the message.
  const more = answer(start, opened(3, { type: "text", text: "More." }), closed(3), ending(), stopped);
  assertEquals(more.choices[0].blocks.length, 4);
});

Deno.test("a block without a type, which no client can read, is a broken answer", () => {
  for (const block of [{}, { input: {} }, { type: null, text: "a" }, { type: 7 }]) {
    const broken = failureOf(() => decodeFrames([started(), opened(0, block), ending(), stopped]));
    assertEquals(broken?.code, "provider_unavailable");
    const whole = { type: "message", content: [block], stop_reason: "end_turn", usage: {} };
    assertEquals(failureOf(() => messages.decodeAnswer(whole))?.code, "provider_unavailable");
  }
});

Deno.test("decodeStream() needs message_stop", () => {
  for (const frames of [[], [started()], [started(), ...textFrames(0, "x"), ending()]]) {
    assertEquals(failureOf(() => decodeFrames(frames)).code, "provider_unavailable");
  }
});

Deno.test("decodeStream() gives a late error its meaning", () => {
  const error = (type: string) => frame({ type: "error", error: { type, message: "Oh" } });
  assertEquals(
    failureOf(() => decodeFrames([started(), error("overloaded_error")])).code,
    "provider_model_down",
  );
  assertEquals(
    failureOf(() => decodeFrames([started(), error("rate_limit_error")])).code,
    "provider_rate_limited",
  );
  const nameless = { event: "", data: '{"error": {"message": "Oh"}}' };
  assertEquals(failureOf(() => decodeFrames([nameless])).code, "provider_unavailable");
});

Deno.test("decodeStream() ignores pings, events it does not know and what comes after the end", () => {
  const { choices } = answer(
    { event: "ping", data: '{"type": "ping"}' },
    started(),
    frame({ type: "future", index: 0 }),
    delta(7, { type: "input_json_delta", partial_json: "{}" }),
    ...textFrames(0, "x"),
    ending(),
    stopped,
    { event: "", data: "[DONE]" },
    { event: "", data: "nonsense" },
  );
  assertEquals(choices[0].blocks.map((b) => b.type), ["text"]);
});

Deno.test("decodeStream() bears providers that leave out starts, stops, or put all into the start", () => {
  const { choices } = answer(
    delta(0, { type: "text_delta", text: "x" }),
    opened(1, { type: "tool_use", id: "t", name: "f", input: { a: 1 } }),
    opened(1, { type: "tool_use", id: "", name: "f", input: {} }),
    ending(undefined, { stop_reason: null }),
    stopped,
  );
  const [choice] = choices;
  assertEquals(choice.reason, "tool-calls");
  const calls = choice.blocks.flatMap((b) => b.type === "call" ? [[b.id, b.arguments]] : []);
  assertEquals([choice.blocks[0].type, calls], ["text", [["t", '{"a":1}'], ["toolu_2", ""]]]);
});

Deno.test("decodeStream() reads a search that the provider ran, with its wire objects", () => {
  const hit = {
    type: "web_search_result",
    url: "https://a.org",
    title: "A",
    encrypted_content: "E",
    page_age: null,
  };
  const { choices, searches } = answer(
    started(),
    opened(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"query":' }),
    delta(0, { type: "input_json_delta", partial_json: '"q"}' }),
    closed(0),
    opened(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [hit] }),
    closed(1),
    ending({ output_tokens: 1, server_tool_use: { web_search_requests: 1 } }),
    stopped,
  );
  assertEquals(choices[0].blocks, [{
    type: "search",
    id: "srvtoolu_1",
    query: "q",
    hits: [{ url: "https://a.org", title: "A", extra: { format: "messages", fields: hit } }],
    failed: false,
    extra: undefined,
    resultExtra: { format: "messages", fields: { content: [hit] } },
  }]);
  assertEquals(searches, 1);
});

Deno.test("decodeStream() keeps a search without a result, and other server tools, whole", () => {
  const { choices } = answer(
    started(),
    opened(0, { type: "mcp_tool_use", id: "m", name: "f", server_name: "s", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"a":1}' }),
    closed(0),
    opened(1, { type: "compaction", content: null, encrypted_content: null }),
    delta(1, { type: "compaction_delta", content: "short", encrypted_content: "c2hvcnQ=" }),
    closed(1),
    opened(2, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    delta(2, { type: "input_json_delta", partial_json: '{"query":"q"}' }),
    closed(2),
    ending(undefined, { stop_reason: "pause_turn" }),
    stopped,
  );
  assertEquals(choices[0].reason, "pause");
  assertEquals(choices[0].blocks.map((b) => b.type === "opaque" && b.value), [
    { type: "mcp_tool_use", id: "m", name: "f", server_name: "s", input: { a: 1 } },
    { type: "compaction", content: "short", encrypted_content: "c2hvcnQ=" },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
  ]);
});

Deno.test("a compaction that failed, and the input of another server tool, reach a caller as deltas", () => {
  const parts = decodeFrames([
    started(),
    opened(0, { type: "compaction", content: null }),
    delta(0, { type: "compaction_delta", content: null, encrypted_content: null }),
    closed(0),
    opened(1, { type: "compaction", content: "whole", signature: "c2ln" }),
    closed(1),
    opened(2, { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_regex", input: {} }),
    delta(2, { type: "input_json_delta", partial_json: '{"pattern":' }),
    delta(2, { type: "input_json_delta", partial_json: '"^a"}' }),
    closed(2),
    opened(3, { type: "server_tool_use", id: "srvtoolu_2", name: "advisor", input: {} }),
    delta(3, { type: "input_json_delta", partial_json: "" }),
    closed(3),
    ending(),
    stopped,
  ]);
  const events = framesOf(encodeParts(parts)).map((frame) => JSON.parse(frame.data));
  const told = events.filter((e) => e.index !== undefined).map((e) => e.content_block ?? e.delta);
  const caller = { type: "direct" };
  assertEquals(told.filter((what) => what !== undefined), [
    { type: "compaction", content: null, encrypted_content: null },
    { type: "compaction_delta", content: null, encrypted_content: null },
    { type: "compaction", content: "whole", signature: "c2ln" },
    { caller, type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_regex", input: {} },
    { type: "input_json_delta", partial_json: '{"pattern":' },
    { type: "input_json_delta", partial_json: '"^a"}' },
    { caller, type: "server_tool_use", id: "srvtoolu_2", name: "advisor", input: {} },
  ]);
});

Deno.test("a delta of a compaction has no field that the block has no more", () => {
  const value = { type: "compaction", content: "short", "[CARD_1]": "x" };
  const late = ["content", "4539 5787 6362 1486"];
  const events = framesOf(encodeParts([
    { type: "start", model: "m" },
    { type: "opaque", block: 0, choice: 0, format: "messages", value, late },
  ])).map((frame) => JSON.parse(frame.data));
  assertEquals(
    events.filter((e) => e.index !== undefined).map((e) => e.content_block ?? e.delta).slice(0, 2),
    [
      { type: "compaction", content: null, "[CARD_1]": "x" },
      { type: "compaction_delta", content: "short" },
    ],
  );
});

Deno.test("decodeStream() reads why the model declined", () => {
  const stop_details = { type: "refusal", category: "cyber", explanation: "No." };
  const parts = decodeFrames([
    started(),
    ending({ output_tokens: 1 }, { stop_reason: "refusal", stop_details }),
    stopped,
  ]);
  const finish = parts.at(-1) as Extract<Part, { type: "finish" }>;
  assertEquals([finish.reason, finish.explanation, finish.extra?.fields], ["refusal", "No.", {
    stop_details,
  }]);
});

Deno.test("decodeStream() keeps a reason that only this format has", () => {
  const parts = decodeFrames([
    started(),
    ending(undefined, { stop_reason: "model_context_window_exceeded" }),
    stopped,
  ]);
  const finish = parts.at(-1) as Extract<Part, { type: "finish" }>;
  assertEquals([finish.reason, finish.extra?.fields], ["length", {
    stop_reason: "model_context_window_exceeded",
  }]);
});

Deno.test("decodeAnswer() refuses errors and what is no message", () => {
  const code = (body: unknown) => failureOf(() => messages.decodeAnswer(body)).code;
  assertEquals(
    code({ type: "error", error: { type: "overloaded_error", message: "x" } }),
    "provider_model_down",
  );
  for (const body of [null, [], "x", {}, { content: "x" }]) assertEquals(code(body), "provider_unavailable");
});
