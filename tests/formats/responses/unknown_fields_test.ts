/** Fields of responses that only one vendor has, and proofs of reasoning in unusual places. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../../src/formats/mod.ts";

type Caller = "chat_completions" | "messages" | "responses";

const seal = (proof: Proof) => `svc1.${btoa(JSON.stringify(proof))}`;
const unseal = (text: string) => text.startsWith("svc1.") ? JSON.parse(atob(text.slice(5))) : null;

const FIRST: Readonly<Record<Caller, Loose>> = {
  chat_completions: { messages: [{ role: "user", content: "Hi" }] },
  messages: { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
  responses: { input: [{ role: "user", content: "Hi" }] },
};

function prompt(caller: Caller, more: Loose) {
  const body = { model: "acme/one", ...more };
  return CALLER_FORMATS[caller].decodeRequest(body, { unseal, headers: () => ({}) });
}

function read(caller: Caller, parts: Part[]): Loose {
  const context = {
    id: "gen_1",
    created: 1,
    model: () => "acme/one",
    prompt: prompt(caller, FIRST[caller]),
    seal,
  };
  return JSON.parse(JSON.stringify(CALLER_FORMATS[caller].encodeAnswer(collect(parts), context)));
}

/** The input that the provider gets with the caller's next request, which repeats the answer. */
function next(caller: Caller, parts: Part[]): Loose[] {
  const answer = read(caller, parts);
  const [first] = (FIRST[caller].messages ?? FIRST[caller].input) as Loose[];
  const turns = caller === "chat_completions"
    ? [(answer.choices as { message: Loose }[])[0].message]
    : caller === "messages"
    ? [{ role: "assistant", content: answer.content }]
    : answer.output as Loose[];
  const all = [first, ...turns, { role: "user", content: "And?" }];
  const body = { ...FIRST[caller], [caller === "responses" ? "input" : "messages"]: all };
  return PROVIDER_FORMATS.responses.encodeRequest(prompt(caller, body), {
    model: "one",
    stream: false,
    maxOutput: null,
    features: null,
    efforts: null,
  }).body.input as Loose[];
}

function stream(events: Loose[]): Part[] {
  const decoder = PROVIDER_FORMATS.responses.decodeStream();
  const out: Part[] = [];
  for (const event of events) decoder.push({ event: event.type as string, data: JSON.stringify(event) }, out);
  decoder.end(out);
  return out;
}

const text = (more: Loose = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "4", annotations: [], logprobs: [], ...more }],
});
const USAGE = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };

const SIGNED = {
  id: "rs_1",
  type: "reasoning",
  status: "completed",
  summary: [],
  content: [{ type: "reasoning_text", text: "Two and two" }],
  signature: "EvcBCkgIChABGAIqQKkS",
  format: "anthropic-claude-v1",
};

for (const caller of ["chat_completions", "messages", "responses"] as const) {
  Deno.test(`OpenRouter's signature of Claude's reasoning goes back to it through ${caller}`, () => {
    const body = {
      id: "gen-1",
      object: "response",
      model: "m",
      status: "completed",
      output: [SIGNED, text()],
    };
    const reasoning = next(caller, PROVIDER_FORMATS.responses.decodeAnswer(body)).find(isReasoning)!;
    assertEquals(reasoning.signature, SIGNED.signature);
    assertEquals(reasoning.format, SIGNED.format);
    assertEquals(reasoning.content, SIGNED.content);
    assertEquals(reasoning.encrypted_content, null);
  });

  Deno.test(`encrypted content that is only in the last event goes back through ${caller}`, () => {
    const reasoning = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Adding" }] };
    const parts = stream([
      { type: "response.created", response: { id: "resp_1", model: "m", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...reasoning, summary: [] } },
      {
        type: "response.reasoning_summary_text.delta",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        delta: "Adding",
      },
      { type: "response.output_item.done", output_index: 0, item: reasoning },
      { type: "response.output_item.added", output_index: 1, item: { ...text(), content: [] } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "4" },
      { type: "response.output_item.done", output_index: 1, item: text() },
      {
        type: "response.completed",
        response: {
          id: "resp_1",
          model: "m",
          status: "completed",
          output: [{ ...reasoning, encrypted_content: "gAAAAB" }, text()],
          usage: USAGE,
        },
      },
    ]);
    const input = next(caller, parts);
    const at = input.findIndex(isReasoning);
    assertEquals(input[at].encrypted_content, "gAAAAB");
    assertEquals(input.filter(isReasoning).length, 1);
    assertEquals(input[at + 1].role, "assistant");
    if (caller === "responses") {
      assertEquals(read(caller, parts).output, [
        { ...reasoning, status: "completed", encrypted_content: "gAAAAB" },
        text(),
      ]);
    }
  });
}

function isReasoning({ type }: Loose): boolean {
  return type === "reasoning";
}

Deno.test("Unknown fields of a response, its items and their parts reach a caller of the format", () => {
  const body = {
    id: "resp_1",
    object: "response",
    model: "m",
    status: "completed",
    billing: { payer: "developer" },
    prompt_cache_retention: "24h",
    kv_transfer_params: { a: 1 },
    details: { dlp: [], findings_count: 1 },
    metadata: { system_fingerprint: "fp" },
    output: [
      { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "E", format: "openai-responses-v1" },
      { ...text({ tone: "calm" }), phase: "final_answer", channel: "final" },
      {
        id: "fc_1",
        type: "function_call",
        status: "completed",
        call_id: "call_1",
        name: "f",
        arguments: "{}",
        caller: { type: "direct" },
        server: "s",
      },
    ],
    usage: { ...USAGE, cost: 0.5 },
  };
  const whole = read("responses", PROVIDER_FORMATS.responses.decodeAnswer(body));
  const { status: _, ...reasoning } = (whole.output as Loose[])[0];
  assertEquals([reasoning, ...(whole.output as Loose[]).slice(1)], body.output);
  assertEquals(whole.billing, body.billing);
  assertEquals(whole.prompt_cache_retention, "24h");
  assertEquals(whole.kv_transfer_params, { a: 1 });
  assertEquals(whole.metadata, {});
  assert(!("details" in whole) && !JSON.stringify(whole.usage).includes("cost"));

  const parts = stream([
    { type: "response.created", response: { ...body, status: "in_progress", output: [], usage: null } },
    ...body.output.flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, ...("content" in item && { content: [] }) },
      },
      ...("content" in item ? item.content : []).map((part, content_index) => ({
        type: "response.content_part.added",
        output_index,
        content_index,
        part: { ...part as Loose, text: "" },
      })),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: body },
  ]);
  assertEquals(read("responses", parts), whole);
});

Deno.test("Parts of a message that only one vendor has reach a caller of the format, and double no text", () => {
  const audio = { type: "output_audio", data: "aGk=", transcript: "hi" };
  const item = { ...text(), content: [audio, ...text().content] };
  const response = { id: "resp_1", model: "m", status: "completed", output: [item], usage: USAGE };
  const place = { item_id: item.id, output_index: 0, content_index: 1 };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.output_text.delta", ...place, delta: "4" },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  for (const parts of [PROVIDER_FORMATS.responses.decodeAnswer(response), stream(events)]) {
    const { output } = read("responses", parts) as { output: { content: Loose[] }[] };
    const content = output.flatMap((message) => message.content);
    assertEquals(content.filter(({ type }) => type === "output_audio"), [audio]);
    assertEquals(content.filter(({ type }) => type === "output_text").map(({ text }) => text), ["4"]);
    const chat = read("chat_completions", parts) as { choices: { message: Loose }[] };
    assertEquals(chat.choices[0].message.content, "4");
  }
});

Deno.test("Reasoning with a text and a summary has both for a caller of the format, and its state", () => {
  const item = {
    id: "rs_1",
    type: "reasoning",
    status: "incomplete",
    summary: [{ type: "summary_text", text: "In short" }],
    content: [{ type: "reasoning_text", text: "At length" }],
    format: "unknown",
  };
  const incomplete_details = { reason: "max_output_tokens" };
  const response = {
    id: "resp_1",
    model: "m",
    status: "incomplete",
    incomplete_details,
    output: [item],
    usage: USAGE,
  };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, summary: [], content: [] } },
    {
      type: "response.reasoning_text.delta",
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta: "At length",
    },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.incomplete", response },
  ];
  for (const parts of [PROVIDER_FORMATS.responses.decodeAnswer(response), stream(events)]) {
    assertEquals(read("responses", parts).output, [item]);
    const encoder = CALLER_FORMATS.responses.encodeStream({
      id: "gen_1",
      created: 1,
      model: () => "acme/one",
      prompt: prompt("responses", FIRST.responses),
      seal,
    });
    const sse = encoder.encode(parts) + encoder.end();
    const [, done] = /event: response\.output_item\.done\ndata: (.*)\n/.exec(sse)!;
    assertEquals(JSON.parse(done).item, item);
  }
});
