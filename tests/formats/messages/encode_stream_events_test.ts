/** The events of a stream: their order, one block at a time, how it ends and what its last event counts. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { type Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { answering, encodeParts, encodeWhole, fold, framesOf } from "./support.ts";
import { call, content, DIRECT, FINISH, START, text } from "./answers.ts";

Deno.test("encodeStream() writes the events of a text in order", () => {
  const frames = framesOf(encodeParts([START, ...text(0, "Hel", "", "lo"), FINISH]));
  assertEquals(frames.map((f) => f.event), [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  assertEquals(JSON.parse(frames[0].data).message, {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "a/b",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: null,
      output_tokens: 0,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    },
  });
});

Deno.test("encodeStream() gives the counts of the whole call with its last event", () => {
  const usage = normalizeUsage({
    input: 100,
    cached: 40,
    cacheWrite: 20,
    cacheWrite1h: 5,
    output: 30,
    reasoning: 10,
  });
  const stream = encodeParts([
    START,
    { type: "usage", usage: normalizeUsage({ input: 1, output: 1 }) },
    { type: "usage", usage, searches: 2 },
    FINISH,
  ]);
  assertEquals(JSON.parse(framesOf(stream)[1].data).usage, {
    input_tokens: 40,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 40,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens: 30,
    output_tokens_details: { thinking_tokens: 10 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    service_tier: null,
    inference_geo: null,
    speed: null,
  });
});

Deno.test("encodeStream() and encodeAnswer() give back how the provider of the same format served the call", () => {
  const first = { format: "messages", fields: { service_tier: "priority", inference_geo: "us" } } as const;
  const last = {
    format: "messages",
    fields: { service_tier: "standard", inference_geo: "us", iterations: [{ type: "message" }] },
  } as const;
  const parts: Part[] = [
    { ...START, extra: first },
    { type: "usage", usage: normalizeUsage({ input: 1, output: 1 }), extra: last },
    FINISH,
  ];
  const [opened, ended] = framesOf(encodeParts(parts)).map(({ data }) => JSON.parse(data));
  assertEquals([opened.message.usage.service_tier, opened.message.usage.inference_geo], ["priority", "us"]);
  const whole = encodeWhole(parts).usage as Loose;
  for (const usage of [ended.usage, whole]) {
    assertEquals([usage.service_tier, usage.inference_geo, usage.iterations], [
      "standard",
      "us",
      [{ type: "message" }],
    ]);
  }
  // What another API calls so has other values.
  const foreign = { format: "chat_completions", fields: { service_tier: "flex" } } as const;
  const [stranger] = framesOf(encodeParts([{ ...START, extra: foreign }, FINISH])).map((f) =>
    JSON.parse(f.data)
  );
  assertEquals(stranger.message.usage.service_tier, null);
});

Deno.test("encodeStream() opens one block at a time, however the parts interleave", () => {
  const [a, b, c] = [text(0, "one", "two"), call(1, "x", '{"a"', ":1}"), text(2, "three")];
  assertEquals(content(a[0], b[0], a[1], b[1], c[0], b[2], c[1], a[2], c[2], b[3], a[3]), [
    { type: "text", text: "onetwo", citations: [] },
    { type: "tool_use", id: "x", name: "f", input: { a: 1 }, caller: DIRECT },
    { type: "text", text: "three", citations: [] },
  ]);
});

Deno.test("encodeStream() lets the first open block through at once", () => {
  const encoder = messages.encodeStream(answering());
  encoder.encode([START, ...text(0).slice(0, 1), ...call(1).slice(0, 1)]);
  assertStringIncludes(encoder.encode([{ type: "text-delta", block: 0, text: "now" }]), '"text":"now"');
  assertEquals(encoder.encode([{ type: "call-delta", block: 1, text: "{}" }]), "");
});

Deno.test("encodeStream() leaves out blocks without content", () => {
  assertEquals(
    content(
      ...text(0),
      ...text(1, "", ""),
      { type: "reasoning-start", block: 2, choice: 0, kind: "text" },
      { type: "reasoning-end", block: 2 },
      { type: "opaque", block: 3, choice: 0, format: "responses", value: { type: "mcp_call" } },
    ),
    [],
  );
});

Deno.test("encodeStream() tells of findings on the message and on its end", () => {
  const finding = { category: "pii", entity_type: "EMAIL_ADDRESS" };
  const context = answering({ dlp: { findings: [finding], count: 1 } });
  const parts = [START, ...text(0, "x"), FINISH];
  const details = { dlp: [finding], findings_count: 1 };
  const frames = framesOf(encodeParts(parts, context)).map((f) => JSON.parse(f.data));
  assertEquals(frames[0].message.details, details);
  assertEquals(frames.at(-2).details, details);
  assertEquals(encodeWhole(parts, context).details, details);
});

Deno.test("encodeStream() ends a broken answer with an error and no message_stop", () => {
  const encoder = messages.encodeStream(answering());
  encoder.encode([START, ...text(0, "x").slice(0, 2)]);
  const [frame, ...more] = framesOf(encoder.fail(new Failure("provider_unavailable", "It broke.")));
  assertEquals(more, []);
  assertEquals(frame.event, "error");
  assertEquals(JSON.parse(frame.data), {
    type: "error",
    error: { type: "overloaded_error", code: "provider_unavailable", message: "It broke." },
    request_id: "gen_1",
  });
});

Deno.test("encodeStream() shows the first choice only", () => {
  const other = text(1, "other").map((p) => "choice" in p ? { ...p, choice: 1 } : p);
  const parts: Part[] = [START, ...text(0, "x"), ...other, FINISH, {
    type: "finish",
    choice: 1,
    reason: "length",
  }];
  assertEquals(fold(encodeParts(parts)), encodeWhole(parts));
  assertEquals(fold(encodeParts(parts)).stop_reason, "end_turn");
});

Deno.test("keepAlive is a ping that clients pass over", () => {
  assertEquals(framesOf(messages.keepAlive), [{ event: "ping", data: '{"type": "ping"}' }]);
});
