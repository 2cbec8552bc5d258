/** Every recorded exchange of the format, against a reading of the recording that shares no code with the codec. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { array, type Loose, object, parse } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { decodeFailure } from "../../../src/formats/failures/decode_failure.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import {
  answering,
  checkStream,
  decodeFrames,
  decodeRequest,
  encodeParts,
  encodeWhole,
  encoding,
  exchanges,
  failureOf,
  fold,
  framesOf,
} from "./support.ts";
import { withoutLive } from "../../support/live.ts";
import { sharedTest } from "../../support/shared.ts";

const all = exchanges();
const answers = all.filter((e) => e.status === 200 && !e.tags.includes("concatenated"));
const streams = answers.filter((e) => e.sse !== null && !e.tags.includes("intermediary-fault"));
const wholes = answers.filter((e) => e.sse === null);

/** The message that a recorded stream makes. */
function readRecording(sse: string): Loose {
  let message: Loose = {};
  let usage: Loose = {};
  const inputs: string[] = [];
  for (const line of sse.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const event = JSON.parse(line.slice(5));
    const content = message.content as Loose[];
    if (event.type === "message_start") {
      message = event.message;
      usage = { ...event.message.usage };
    } else if (event.type === "content_block_start") content[event.index] = { ...event.content_block };
    else if (event.type === "content_block_delta") {
      const block = content[event.index];
      const d = event.delta;
      if (d.type === "text_delta") block.text += d.text;
      if (d.type === "thinking_delta") block.thinking += d.thinking;
      if (d.type === "signature_delta") block.signature = d.signature;
      if (d.type === "citations_delta") block.citations = [...array(block.citations), d.citation];
      if (d.type === "input_json_delta") inputs[event.index] = (inputs[event.index] ?? "") + d.partial_json;
      if (d.type === "compaction_delta") block.content = d.content;
    } else if (event.type === "message_delta") {
      message = { ...message, ...event.delta };
      for (const [k, v] of Object.entries(event.usage ?? {})) if (v !== null) usage[k] = v;
    }
  }
  for (const [i, text] of Object.entries(inputs)) {
    if (text) (message.content as Loose[])[Number(i)].input = parse(text) ?? text;
  }
  return { ...message, usage };
}

const isSearch = (b: Loose) =>
  (b.type === "server_tool_use" && b.name === "web_search") || b.type === "web_search_tool_result";

/** Compares what a message says with what the parts say. */
function compare(id: string, message: Loose, parts: readonly Part[]): void {
  const answer = collect(parts);
  const [choice] = answer.choices;
  const content = message.content as Loose[];
  const of = (type: string) => content.filter((b) => b.type === type);
  const blocks = choice.blocks;

  assertEquals(answer.model, message.model, id);
  assertEquals(blocks.flatMap((b) => b.type === "text" ? [b.text] : []), of("text").map((b) => b.text), id);
  assertEquals(
    blocks.flatMap((b) => b.type === "text" ? b.citations.map((c) => c.extra?.fields) : []),
    of("text").flatMap((b) => array(b.citations)),
    id,
  );
  assertEquals(
    blocks.flatMap((b) =>
      b.type === "reasoning" && b.proof?.kind !== "redacted" ? [b.sections.join("")] : []
    ),
    of("thinking").map((b) => b.thinking),
    id,
  );
  assertEquals(
    blocks.flatMap((b) => b.type === "reasoning" ? [b.proof?.data ?? ""] : []),
    content.flatMap((b) =>
      b.type === "thinking" ? [b.signature ?? ""] : b.type === "redacted_thinking" ? [b.data] : []
    ),
    id,
  );
  assertEquals(
    blocks.flatMap((b) =>
      b.type === "call" ? [[b.id, b.name, parse(b.arguments || "{}") ?? b.arguments]] : []
    ),
    of("tool_use").map((b) => [b.id, b.name, b.input]),
    id,
  );
  const results = new Set(of("web_search_tool_result").map((b) => b.tool_use_id));
  const calls = content.filter((b) => b.type === "server_tool_use" && results.has(b.id) && isSearch(b));
  const paired = new Set(calls.map((b) => b.id));
  assertEquals(
    blocks.flatMap((b) => b.type === "search" ? [[b.id, b.query]] : []),
    calls.map((b) => [b.id, object(b.input).query ?? ""]),
    id,
  );
  assertEquals(
    blocks.flatMap((b) => b.type === "search" ? b.hits.map((h) => h.url) : []),
    of("web_search_tool_result").filter((b) => paired.has(b.tool_use_id))
      .flatMap((b) => array(b.content).map((h) => object(h).url)),
    id,
  );
  const worded = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);
  assertEquals(
    blocks.flatMap((b) => b.type === "opaque" ? [b.value] : []),
    content.filter((b) => !worded.has(String(b.type)) && !paired.has(b.id) && !paired.has(b.tool_use_id)),
    id,
  );

  const reasons: Record<string, string> = {
    end_turn: "stop",
    tool_use: "tool-calls",
    max_tokens: "length",
    stop_sequence: "stop-sequence",
    refusal: "refusal",
    pause_turn: "pause",
  };
  if (typeof message.stop_reason === "string") {
    assertEquals(choice.reason, reasons[message.stop_reason] ?? "stop", id);
  }
  assertEquals(choice.sequence ?? null, message.stop_sequence ?? null, id);

  const u = object(message.usage);
  const n = (v: unknown) => typeof v === "number" ? v : 0;
  const usage = answer.usage;
  if (!usage) throw new Error(`${id}: no usage`);
  const apart = array(u.iterations).map(object).filter(({ type }) =>
    type === "compaction" || type === "advisor_message"
  );
  const all = (field: string) => [u, ...apart].reduce((sum, counts) => sum + n(counts[field]), 0);
  assertEquals(usage.cached, all("cache_read_input_tokens"), id);
  assertEquals(usage.cacheWrite, all("cache_creation_input_tokens"), id);
  assertEquals(usage.input, all("input_tokens") + usage.cached + usage.cacheWrite, id);
  assertEquals(usage.output, all("output_tokens"), id);
  assertEquals(usage.reasoning, n(object(u.output_tokens_details).thinking_tokens), id);
  assertEquals(answer.searches ?? 0, n(object(u.server_tool_use).web_search_requests), id);
}

/** Every block is begun once, ended before the finish, and numbered by itself. */
function checkParts(id: string, all: readonly Part[]): void {
  const parts = withoutLive(all);
  assertEquals(parts.filter((p) => p.type === "start").length, 1, id);
  assertEquals(parts[0].type, "start", id);
  assertEquals(parts.at(-1)?.type, "finish", id);
  const seen = new Set<number>();
  const open = new Set<number>();
  for (const part of parts) {
    if (!("block" in part)) continue;
    if ("choice" in part) {
      assert(!seen.has(part.block), `${id}: block ${part.block} begins twice`);
      seen.add(part.block);
      if (part.type !== "opaque" && part.type !== "media") open.add(part.block);
    } else assert(open.has(part.block), `${id}: ${part.type} outside its block`);
    if (part.type.endsWith("-end")) open.delete(part.block);
  }
  assertEquals(open.size, 0, id);
}

sharedTest("corpus/", "decodeStream() reads every recorded stream", () => {
  assert(streams.length >= 80);
  for (const e of streams) {
    const parts = decodeFrames(framesOf(e.sse!));
    checkParts(e.id, parts);
    compare(e.id, readRecording(e.sse!), parts);
  }
});

sharedTest("corpus/", "decodeStream() gives the same parts wherever the bytes are cut", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (const e of streams) {
    const parts = decodeFrames(framesOf(e.sse!));
    assertEquals(decodeFrames(framesOf(e.sse!, 1 + Math.floor(random() * 300))), parts, e.id);
    if (e.sse!.length < 4000) assertEquals(decodeFrames(framesOf(e.sse!, 1)), parts, e.id);
  }
});

sharedTest("corpus/", "decodeStream() fails wherever a recorded stream is cut short", () => {
  for (const e of streams.filter((s) => s.sse!.length < 6000)) {
    const frames = framesOf(e.sse!);
    const end = frames.findIndex((f) => f.event === "message_stop");
    for (let k = 0; k < end; k++) {
      const failure = failureOf(() => decodeFrames(frames.slice(0, k)));
      assertEquals(failure.code, "provider_unavailable", `${e.id} after ${k}`);
    }
  }
});

sharedTest("corpus/", "decodeStream() refuses an answer that a proxy spliced into another", () => {
  for (
    const e of answers.filter((a) => a.tags.includes("intermediary-fault") && a.id.includes("bb70e854"))
  ) {
    assertEquals(failureOf(() => decodeFrames(framesOf(e.sse!))).code, "provider_unavailable");
  }
});

sharedTest("corpus/", "decodeAnswer() reads every recorded message", () => {
  assert(wholes.length >= 150);
  for (const e of wholes) {
    const parts = messages.decodeAnswer(e.response);
    checkParts(e.id, parts);
    compare(e.id, e.response as Loose, parts);
  }
});

sharedTest("corpus/", "encodeStream() and encodeAnswer() give a recorded answer back, and agree", () => {
  for (const e of answers.filter((a) => !a.tags.includes("intermediary-fault"))) {
    const parts = e.sse ? decodeFrames(framesOf(e.sse)) : messages.decodeAnswer(e.response);
    const stream = encodeParts(parts);
    checkStream(stream);
    const whole = encodeWhole(parts);
    assertEquals(encodeParts(parts, answering(), 50), stream, e.id);
    // Arguments that were cut are no JSON; a client of a stream has their pieces.
    if (e.id === CUT_ARGUMENTS) continue;
    assertEquals(fold(stream), whole, e.id);
    const message = e.sse ? readRecording(e.sse) : e.response as Loose;
    const content = whole.content as Loose[];
    assertEquals(content.map(plain), (message.content as Loose[]).filter(worthSaying).map(plain), e.id);
    for (const call of content.filter((b) => b.type === "tool_use")) assert(call.caller, e.id);
    if (message.stop_reason) assertEquals(whole.stop_reason, message.stop_reason, e.id);
    const declined = { type: "refusal", category: null, explanation: null };
    const details = message.stop_details ?? (message.stop_reason === "refusal" ? declined : null);
    assertEquals(whole.stop_details, details, e.id);
  }
});

const CUT_ARGUMENTS = "anthropic.msgs.fa2f7055.0";

const worthSaying = (b: Loose) => b.type !== "text" || b.text !== "" || array(b.citations).length > 0;

const DIRECT = { type: "direct" };

/** The block with the fields that clients' types want, which older answers have not. */
function plain(block: Loose): Loose {
  switch (block.type) {
    case "text": {
      const citations = array(block.citations).map((c) => ({ file_id: null, ...c as Loose }));
      return { ...block, citations: citations.length > 0 ? citations : null };
    }
    case "thinking":
      return { ...block, signature: block.signature ?? "" };
    case "tool_use":
    case "server_tool_use":
    case "web_search_tool_result":
    case "web_fetch_tool_result":
      // What has no place in the vocabulary is given back as it came.
      return { caller: DIRECT, ...block };
    default:
      return block;
  }
}

sharedTest("corpus/", "decodeFailure() finds a code for every recorded error", () => {
  const expected: Record<number, string[]> = {
    400: ["provider_bad_request", "provider_payload_too_large", "provider_unavailable"],
    401: ["provider_unavailable"],
    404: ["provider_model_down"],
  };
  for (const e of all.filter((x) => x.status !== 200)) {
    const text = e.sse ?? (typeof e.response === "string" ? e.response : JSON.stringify(e.response));
    const failure = decodeFailure({ status: e.status, header: () => null, text });
    assert(expected[e.status].includes(failure.code), `${e.id}: ${failure.code}`);
  }
});

/** Requests that a gateway without page fetching and code execution cannot serve. */
const isServerTool = (t: unknown) => /^(web_fetch|code_execution)_/.test(String(object(t).type));

const requests = all.filter((e) => e.status === 200 && e.request).map((e) => {
  const body = object(e.request);
  // Requests to Vertex name the model in the path.
  return { id: e.id, body: { ...body, model: body.model ?? "a/b" } as Loose };
});

sharedTest(
  "corpus/",
  "decodeRequest() takes every recorded request, and what is encoded reads the same again",
  () => {
    assert(requests.length >= 200);
    for (const { id, body } of requests) {
      if (array(body.tools).some(isServerTool)) {
        assertEquals(failureOf(() => decodeRequest(body)).code, "feature_not_supported", id);
        continue;
      }
      const prompt = decodeRequest(body);
      const context = encoding({ model: prompt.model, stream: prompt.stream });
      const { body: sent, dropped } = messages.encodeRequest(prompt, context);
      assertEquals(dropped, [], id);
      const again = decodeRequest(sent);
      assertEquals(messages.encodeRequest(again, context).body, sent, id);
      // The search is run by the gateway: no provider is told of it, of earlier ones, nor of a choice among no other tools.
      const { searchesLeftOut: _, ...kept } = prompt;
      if (!prompt.search) assertEquals(again, kept, id);
      else assertEquals(withoutSearch(again), withoutSearch(kept as Prompt), id);
      if (!prompt.search) assertEquals(normal(sent), normal(body), id);
    }
  },
);

function withoutSearch(prompt: Prompt): Partial<Prompt> {
  const { search: _1, toolChoice: _2, parallelCalls: _3, turns: _4, ...rest } = prompt;
  return rest;
}

/** A request without what the gateway may leave out: nulls, defaults, and blocks of searches past. */
function normal(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((v) =>
      !isSearch(object(v)) && object(v).text !== "" && object(v).type !== "web_search_result_location"
    );
    return kept.map((v) => normal(v));
  }
  if (typeof value !== "object" || value === null || key === "input" || key === "input_schema") return value;
  const out: Loose = {};
  for (const [k, v] of Object.entries(value)) {
    if (v === null || (k === "stream" && v === false) || (k === "is_error" && v === false)) continue;
    if ((k === "type" && v === "custom") || (k === "tools" && array(v).length === 0)) continue;
    if (
      k === "citations" && array(v).every((c) => object(c).type === "web_search_result_location") &&
      Array.isArray(v)
    ) {
      continue;
    }
    out[k] = normal(v, k);
  }
  return out;
}
