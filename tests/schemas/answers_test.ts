/** Every answer that is recorded or described, as every caller gets it, whole and streamed, against the official schemas. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { EncodeAnswer } from "../../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { AnswerReader, readWhole } from "../../src/pipeline/generation/answer_reader.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import { readRecordings, type RecordedApi } from "../support/recordings.ts";
import { type Caller, CALLERS, read, scenarios, type Target, TARGETS } from "../support/scenarios.ts";
import { sharedTest } from "../support/shared.ts";
import { answerMistakes, streamMistakes } from "./surfaces.ts";

const { seal, unseal } = sealer(new Uint8Array(32).fill(1)).of("default");

const FUNCTION = { name: "f", parameters: { type: "object", properties: {} } };
const SCHEMA = { type: "object", properties: { a: { type: "string" } } };

/** Requests that an answer repeats much of, and one that says next to nothing. */
const REQUESTS: Readonly<Record<Caller, readonly Loose[]>> = {
  chat_completions: [{ model: "a/b", messages: [{ role: "user", content: "Hi" }] }],
  messages: [{ model: "a/b", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
  responses: [
    { model: "a/b", input: "Hi" },
    {
      model: "a/b",
      input: "Hi",
      instructions: "Be brief.",
      tools: [{ type: "function", ...FUNCTION }, { type: "web_search" }, { type: "custom", name: "c" }],
      tool_choice: { type: "function", name: "f" },
      text: { format: { type: "json_schema", name: "s", schema: SCHEMA }, verbosity: "low" },
      reasoning: { effort: "low", summary: "auto" },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      metadata: { a: "b" },
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      service_tier: "flex",
      truncation: "auto",
    },
  ],
};

function contextOf(caller: Caller, request: Loose): EncodeAnswer {
  const prompt = CALLER_FORMATS[caller].decodeRequest(request, { unseal, headers: () => ({}) });
  return {
    id: "gen_1",
    created: 1_700_000_000,
    now: () => 1_700_000_009,
    model: () => "a/b",
    prompt,
    seal,
    dlp: { findings: [{ entity_type: "IBAN_CODE" }], count: 1 },
  };
}

function partsOf(target: Target, text: string, stream: boolean): Part[] {
  if (!stream) return readWhole(text, PROVIDER_FORMATS[target]);
  const reader = new AnswerReader(PROVIDER_FORMATS[target]);
  const parts: Part[] = [];
  const failure = reader.push(new TextEncoder().encode(text), parts) ?? reader.end(parts);
  if (failure) throw failure;
  return parts;
}

/** What is wrong with these parts as any caller gets them, each kind of mistake once. */
function check(parts: readonly Part[], label: string, found: Map<string, string>): void {
  for (const caller of CALLERS) {
    const format = CALLER_FORMATS[caller];
    for (const request of REQUESTS[caller]) {
      const context = contextOf(caller, request);
      const whole = JSON.parse(JSON.stringify(format.encodeAnswer(collect(parts), context)));
      const encoder = format.encodeStream(context);
      const sse = encoder.encode(parts) + encoder.end();
      for (const mistake of [...answerMistakes(caller, whole), ...streamMistakes(caller, sse)]) {
        const kind = `${caller}: ${mistake.replaceAll(/\/\d+/g, "/N").replace(/, got .*/, "")}`;
        if (!found.has(kind)) found.set(kind, `${label}: ${mistake}`);
      }
    }
  }
}

Deno.test("every scenario's answer, from every API to every caller, is one that the official schemas accept", () => {
  const found = new Map<string, string>();
  let checked = 0;
  for (const scenario of scenarios()) {
    for (const target of TARGETS) {
      for (const [file, stream] of [[`${target}.sse`, true], [`${target}.answer.json`, false]] as const) {
        const text = read(scenario, file);
        if (text === null) continue;
        check(partsOf(target, text, stream), `${scenario}/${file}`, found);
        checked++;
      }
    }
  }
  assertEquals([...found], []);
  assert(checked > 30, String(checked));
});

const FORMATS: Readonly<Record<RecordedApi, Target>> = {
  "openai-chat": "chat_completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "gemini-generate": "gemini",
};

sharedTest(
  "corpus/",
  "every recorded answer, to every caller, is one that the official schemas accept",
  () => {
    const found = new Map<string, string>();
    let checked = 0;
    for (const r of readRecordings()) {
      if (r.status !== 200 || (r.sse === null && typeof r.response !== "object")) continue;
      let parts: Part[];
      try {
        parts = partsOf(FORMATS[r.api], r.sse ?? JSON.stringify(r.response), r.sse !== null);
      } catch (thrown) {
        if (thrown instanceof Failure) continue;
        throw thrown;
      }
      check(parts, r.id, found);
      checked++;
    }
    assertEquals([...found], []);
    assert(checked > 1300, String(checked));
  },
);
