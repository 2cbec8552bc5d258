/**
 * Answers of providers of which some value is not what it should be: callers of other formats get one that the official
 * schemas accept, or a failure of the provider, and never a fault of ours.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { collect } from "../../src/exchange/answer.ts";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Prompt } from "../../src/exchange/prompt.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { CALLERS } from "../support/scenarios.ts";
import { answerMistakes } from "./surfaces.ts";

const USAGE = { input_tokens: 1, output_tokens: 1 };
const ANSWERS = {
  chat_completions: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{
      index: 0,
      finish_reason: "stop",
      message: {
        role: "assistant",
        content: "hi",
        reasoning_content: "r",
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
        annotations: [{
          type: "url_citation",
          url_citation: { url: "https://u.test", title: "t", start_index: 0, end_index: 1 },
        }],
      },
      logprobs: {
        content: [{
          token: "a",
          logprob: -1,
          bytes: [97],
          top_logprobs: [{ token: "a", logprob: -1, bytes: [97] }],
        }],
      },
    }],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      prompt_tokens_details: { cached_tokens: 1 },
    },
  },
  responses: {
    id: "r",
    object: "response",
    status: "completed",
    output: [
      {
        type: "reasoning",
        id: "rs",
        summary: [{ type: "summary_text", text: "s" }],
        encrypted_content: "e",
      },
      {
        type: "message",
        id: "m",
        role: "assistant",
        status: "completed",
        content: [{
          type: "output_text",
          text: "hi",
          annotations: [{
            type: "url_citation",
            url: "https://u.test",
            title: "t",
            start_index: 0,
            end_index: 1,
          }],
          logprobs: [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }],
        }],
      },
      { type: "function_call", id: "f", call_id: "c", name: "a", arguments: "{}", status: "completed" },
    ],
    usage: { ...USAGE, total_tokens: 2, input_tokens_details: { cached_tokens: 0 } },
  },
  messages: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    content: [
      { type: "thinking", thinking: "t", signature: "s" },
      {
        type: "text",
        text: "hi",
        citations: [{
          type: "web_search_result_location",
          url: "https://u.test",
          title: "t",
          encrypted_index: "e",
          cited_text: "c",
        }],
      },
      { type: "tool_use", id: "c", name: "a", input: { n: 1 } },
    ],
    usage: { ...USAGE, cache_creation: { ephemeral_5m_input_tokens: 1 } },
  },
  gemini: {
    candidates: [{
      finishReason: "STOP",
      content: {
        role: "model",
        parts: [
          { text: "t", thought: true, thoughtSignature: "aa" },
          { text: "hi" },
          { functionCall: { id: "c", name: "a", args: { n: 1 } } },
        ],
      },
      groundingMetadata: { groundingChunks: [{ web: { uri: "https://u.test", title: "t" } }] },
      logprobsResult: { chosenCandidates: [{ token: "a", logProbability: -1 }], topCandidates: [] },
    }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
} as const;

const JUNK: readonly unknown[] = [
  null,
  undefined,
  0,
  -1,
  "",
  "x",
  [],
  {},
  true,
  [null],
  [[]],
  { a: 1 },
  [1],
  "\ud800",
  1e21,
  -0.5,
  [{}],
  "99999999999999999999",
];

/** A copy with other values in some places. */
function broken(answer: unknown, cuts: readonly (readonly [number, number])[]): unknown {
  const copy = structuredClone(answer);
  for (const [place, junk] of cuts) {
    const places: [Loose, string][] = [];
    const walk = (node: unknown) => {
      if (typeof node !== "object" || node === null) return;
      for (const key of Object.keys(node)) {
        places.push([node as Loose, key]);
        walk((node as Loose)[key]);
      }
    };
    walk(copy);
    if (places.length === 0) return copy;
    const [holder, key] = places[place % places.length];
    holder[key] = structuredClone(JUNK[junk]);
  }
  return JSON.parse(JSON.stringify(copy));
}

const CUTS = fc.array(fc.tuple(fc.nat(200), fc.nat(JUNK.length - 1)), { minLength: 1, maxLength: 3 });

for (const [format, answer] of Object.entries(ANSWERS)) {
  Deno.test(`${format}: a broken answer reaches callers of other formats whole, or as a failure`, () => {
    let read = 0;
    fc.assert(
      fc.property(CUTS, (cuts) => {
        const body = broken(answer, cuts);
        for (const caller of CALLERS) {
          if (caller === format) continue;
          let parts;
          try {
            parts = PROVIDER_FORMATS[format as keyof typeof ANSWERS].decodeAnswer(body);
          } catch (thrown) {
            assert(thrown instanceof Failure, String((thrown as Error).stack));
            continue;
          }
          read++;
          const prompt: Prompt = {
            format: caller,
            model: "a/b",
            stream: false,
            turns: [],
            tools: [],
            verbatim: {},
            unknown: {},
          };
          const context = { id: "gen_1", created: 1, model: () => "a/b", prompt, seal: () => "svc1.x" };
          const encoded = CALLER_FORMATS[caller].encodeAnswer(collect(parts), context);
          assertEquals(answerMistakes(caller, JSON.parse(JSON.stringify(encoded))), [], JSON.stringify(body));
        }
      }),
      { seed: 15, numRuns: 400 },
    );
    assert(read > 300, String(read));
  });
}
