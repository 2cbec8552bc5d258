/** Forms in which providers write the counts of their answers. */
import { assertEquals, assertThrows } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { NO_USAGE, type Usage } from "../../src/exchange/usage.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";

type UsagePart = Extract<Part, { type: "usage" }>;

/** A whole answer of each API with this many tokens. */
const ANSWERS: Record<keyof typeof PROVIDER_FORMATS, (n: (count: number) => unknown) => Loose> = {
  chat_completions: (n) => ({
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: n(100),
      completion_tokens: n(20),
      prompt_tokens_details: { cached_tokens: n(40) },
    },
  }),
  messages: (n) => ({
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: n(60), cache_read_input_tokens: n(40), output_tokens: n(20) },
  }),
  responses: (n) => ({
    id: "r",
    object: "response",
    status: "completed",
    output: [{ type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text: "Hi" }] }],
    usage: { input_tokens: n(100), input_tokens_details: { cached_tokens: n(40) }, output_tokens: n(20) },
  }),
  gemini: (n) => ({
    candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: n(100), cachedContentTokenCount: n(40), candidatesTokenCount: n(20) },
  }),
  converse: (n) => ({
    output: { message: { role: "assistant", content: [{ text: "Hi" }] } },
    stopReason: "end_turn",
    usage: { inputTokens: n(60), cacheReadInputTokens: n(40), outputTokens: n(20) },
  }),
};

const WANTED: Usage = { ...NO_USAGE, input: 100, cached: 40, output: 20 };

function usageOf(parts: readonly Part[]): UsagePart {
  return parts.find((part): part is UsagePart => part.type === "usage")!;
}

for (const [name, answerOf] of Object.entries(ANSWERS)) {
  const format = PROVIDER_FORMATS[name as keyof typeof PROVIDER_FORMATS];
  Deno.test(`${name}: counts in quotes are counts`, () => {
    for (const form of [String, (n: number) => n, (n: number) => `${n}.0`]) {
      const { usage, estimated } = usageOf(format.decodeAnswer(answerOf(form)));
      assertEquals(usage, WANTED, `${form}`);
      assertEquals(estimated, undefined);
    }
  });

  Deno.test(`${name}: other texts are no counts, and the usage is an estimate`, () => {
    for (const text of ["", "-5", "1e3", "many", "0x10"]) {
      const part = usageOf(format.decodeAnswer(answerOf((n) => n === 20 ? text : n)));
      assertEquals([part.usage.output, part.estimated], [0, true], text);
    }
  });
}

Deno.test("chat_completions: a zero in quotes behind the counts replaces none", () => {
  const decoder = PROVIDER_FORMATS.chat_completions.decodeStream();
  const parts: Part[] = [];
  const push = (value: unknown) => decoder.push({ event: "", data: JSON.stringify(value) }, parts);
  push({ id: "c", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] });
  push({ choices: [], usage: { prompt_tokens: "100", completion_tokens: "20" } });
  push({ choices: [], usage: { prompt_tokens: "0", completion_tokens: "0" } });
  decoder.end(parts);
  assertEquals(usageOf(parts).usage, { ...NO_USAGE, input: 100, output: 20 });
});

/** The parts of a chat-completions stream with these events. */
function partsOf(events: readonly unknown[]): { parts: Part[]; beforeEnd: number } {
  const decoder = PROVIDER_FORMATS.chat_completions.decodeStream();
  const parts: Part[] = [];
  for (const event of events) {
    decoder.push({ event: "", data: typeof event === "string" ? event : JSON.stringify(event) }, parts);
  }
  const beforeEnd = parts.length;
  decoder.end(parts);
  return { parts, beforeEnd };
}

Deno.test("chat_completions: usage behind [DONE] counts if there was none before it", () => {
  const said = { id: "c", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
  const usage = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } };
  const other = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
  const more = { choices: [{ index: 0, delta: { content: "!" } }] };
  const wanted = { ...NO_USAGE, input: 100, output: 20 };
  const cases: [Usage | undefined, readonly unknown[]][] = [
    [wanted, [said, "[DONE]", usage]],
    [wanted, [said, "[DONE]", usage, other]],
    [wanted, [said, usage, "[DONE]", other]],
    [wanted, [said, "[DONE]", "[DONE]", more, "x", { error: { message: "no" } }, usage]],
    [undefined, [said, "[DONE]", more, { choices: [], usage: null }]],
    [undefined, [said, "[DONE]"]],
  ];
  for (const [expected, events] of cases) {
    const { parts, beforeEnd } = partsOf(events);
    const what = JSON.stringify(events);
    assertEquals(usageOf(parts)?.usage, expected, what);
    assertEquals(parts.filter(({ type }) => type === "finish").length, 1, what);
    assertEquals(parts.filter(({ type }) => type === "text-delta").length, 1, what);
    assertEquals(parts.at(-1)?.type, "finish", what);
    // Callers do not wait for the end of the bytes once the usage is known.
    if (expected !== undefined) assertEquals(beforeEnd, parts.length, what);
  }
});

Deno.test("chat_completions: an answer is complete with [DONE], also if the bytes end without usage and finish reason", () => {
  const { parts } = partsOf([{ id: "c", choices: [{ index: 0, delta: { content: "Hi" } }] }, "[DONE]"]);
  assertEquals(parts.at(-1)?.type, "finish");
});

Deno.test("chat_completions: usage behind [DONE] follows a start, also if nothing else has come", () => {
  const decoder = PROVIDER_FORMATS.chat_completions.decodeStream();
  const parts: Part[] = [];
  decoder.push({ event: "", data: "[DONE]" }, parts);
  const late = { model: "m", choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } };
  assertThrows(() => decoder.push({ event: "", data: JSON.stringify(late) }, parts), Failure);
  assertEquals(parts.map(({ type }) => type), ["start", "usage"]);
});
