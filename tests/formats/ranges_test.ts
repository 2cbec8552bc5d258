/** Numbers outside of what an API takes: what reaches it is within, and whatever is not what the caller sent is listed. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { FormatName } from "../../src/exchange/format_name.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { geminiApi } from "../../src/providers/apis/gemini.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { type Caller, CALLERS, convert } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Numbers of each caller's request, and where each API has them. */
const FIELDS: Readonly<Record<Caller, readonly string[]>> = {
  chat_completions: [
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "top_logprobs",
    "n",
    "max_tokens",
    "max_completion_tokens",
  ],
  messages: ["temperature", "top_p", "top_k", "max_tokens"],
  responses: ["temperature", "top_p", "top_logprobs", "max_output_tokens"],
};

const CAP = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

function sentOf(target: FormatName, body: Any, field: string): unknown {
  if (target === "converse") {
    const { inferenceConfig: config = {}, additionalModelRequestFields: own = {} } = body;
    if (CAP.includes(field)) return config.maxTokens;
    if (field === "top_k") return own.top_k ?? own.inferenceConfig?.topK;
    return field === "temperature" ? config.temperature : field === "top_p" ? config.topP : undefined;
  }
  if (CAP.includes(field)) {
    return target === "gemini"
      ? body.generationConfig?.maxOutputTokens
      : CAP.map((name) => body[name]).find((value) => value !== undefined);
  }
  if (target !== "gemini") return body[field];
  const names: Loose = {
    temperature: "temperature",
    top_p: "topP",
    top_k: "topK",
    seed: "seed",
    frequency_penalty: "frequencyPenalty",
    presence_penalty: "presencePenalty",
    top_logprobs: "logprobs",
    n: "candidateCount",
  };
  return body.generationConfig?.[names[field] as string];
}

/** What a field left out means, so that leaving it out loses nothing. */
const USUAL: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  top_k: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  top_logprobs: 0,
  n: 1,
};

const WHOLE = new Set([...CAP, "n", "top_logprobs"]);

/** What callers are refused for in their own format. */
function legal(caller: Caller, field: string, value: number): boolean {
  if (WHOLE.has(field) || (caller === "messages" && field === "top_k")) {
    if (!Number.isInteger(value) || !Number.isSafeInteger(value)) return false;
  }
  if (CAP.includes(field)) return value >= 1;
  if (field === "top_logprobs") return value >= 0;
  if (field === "n") return value >= 1 && value <= 128;
  if (caller === "chat_completions" && field === "temperature") return value >= 0 && value <= 2;
  if (caller === "chat_completions" && field === "top_p") return value >= 0 && value <= 1;
  return true;
}

const NUMBER = fc.oneof(
  fc.constantFrom(
    -1,
    -0,
    0,
    0.5,
    1,
    1.01,
    1.5,
    1.99,
    2,
    2.01,
    3,
    8,
    9,
    15,
    16,
    20,
    21,
    99,
    128,
    2 ** 31,
    2 ** 53,
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

for (const caller of CALLERS) {
  Deno.test(`${caller}: numbers reach every model within its range, and what is not as sent is listed`, () => {
    const fields = fc.array(fc.tuple(fc.constantFrom(...FIELDS[caller]), NUMBER), {
      minLength: 1,
      maxLength: 4,
    });
    let compared = 0;
    const check = (given: [string, number][], stream: boolean) => {
      const options: Record<string, number> = {};
      for (const [field, value] of given) if (legal(caller, field, value)) options[field] = value;
      if (options.max_tokens !== undefined && options.max_completion_tokens !== undefined) {
        delete options.max_completion_tokens;
      }
      const request = {
        ...(caller === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] }),
        ...(caller === "messages" && { max_tokens: 4000 }),
        ...(caller === "chat_completions" && "top_logprobs" in options && { logprobs: true }),
        ...(caller === "responses" && { include: ["message.output_text.logprobs"] }),
        stream,
        ...options,
      };
      for (const [target, model] of TARGETS) {
        if (target === caller) continue;
        const { body, dropped } = convert(caller, request, target, model);
        checkModelRequest(target, model, body);
        for (const [field, value] of Object.entries(options)) {
          const sent = sentOf(target, body, field);
          // Several answers are asked of one call, or of as many calls.
          if (field === "n" && sent === undefined) continue;
          const same = sent === value || (sent === undefined && USUAL[field] === value) ||
            (Object.is(value, -0) && sent === 0) || (CAP.includes(field) && value < 16 && sent === 16);
          compared++;
          if (!same) assert(dropped.includes(field), `${target} ${model}: ${field} ${value} became ${sent}`);
        }
      }
    };
    fc.assert(fc.property(fields, fc.boolean(), check), { seed: 15, numRuns: 400 });
    assert(compared > 1000);
  });
}

Deno.test("more answers than Gemini gives at once are asked for by as many calls", () => {
  assertEquals([8, 9].map((n) => geminiApi.severalAnswers(false, n)), [true, false]);
});

Deno.test("a budget that Gemini has no room for is cut, and listed", () => {
  const ask = (budget_tokens: number) =>
    convert(
      "messages",
      {
        max_tokens: 9000,
        messages: [{ role: "user", content: "Hi" }],
        thinking: { type: "enabled", budget_tokens },
      },
      "gemini",
      "gemini-2.5-flash",
    );
  const { body, dropped } = ask(1e9);
  assertEquals((body.generationConfig as Any).thinkingConfig.thinkingBudget, 24576);
  assertEquals(dropped, ["thinking"]);
  assertEquals(ask(5000).dropped, []);
});

Deno.test("a budget that a messages caller's own cap does not cover reaches its provider as it came", () => {
  for (const budget_tokens of [64, 3999, 4000, 1e9]) {
    const thinking = { type: "enabled", budget_tokens };
    const request = { max_tokens: 4000, messages: [{ role: "user", content: "Hi" }], thinking };
    const { body, dropped } = convert("messages", request, "messages", "claude-haiku-4-5");
    assertEquals([body.max_tokens, body.thinking, dropped], [4000, thinking, []]);
  }
});

Deno.test("metadata reaches responses as short texts, and what else there is is listed", () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, "v"]));
  for (const metadata of [{ a: 1, b: "x" }, { b: "x".repeat(600), c: "y" }, many]) {
    const request = { messages: [{ role: "user", content: "Hi" }], metadata };
    const { body, dropped } = convert("chat_completions", request, "responses", "gpt-5-mini");
    checkModelRequest("responses", "gpt-5-mini", body);
    assertEquals(dropped, ["metadata"]);
    assert(Object.keys(body.metadata as Loose).length <= 16);
  }
});
