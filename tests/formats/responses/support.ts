/** What the tests of the responses format share: recordings, both ways through the codec, and a checker of streams. */
import { type Answer, collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import type { DecodeRequest, EncodeAnswer, EncodeRequest, Frame } from "../../../src/formats/format.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { FrameReader } from "../../../src/formats/wire/sse.ts";
import { readRunEvent } from "../../support/live.ts";
import { readRecordings } from "../../support/recordings.ts";

export interface Exchange {
  id: string;
  provider: string;
  stream: boolean;
  status: number;
  request: Loose | null;
  response: unknown;
  sse: string | null;
}

/** Recorded exchanges of the responses API. */
export const exchanges = () => readRecordings<Exchange>("resp");

const UTF8 = new TextEncoder();

/** Parts of a stream whose bytes arrive in pieces of these sizes, the last one for all the rest. */
export function decodeSse(sse: string, sizes: Iterable<number> = []): Part[] {
  const bytes = UTF8.encode(sse);
  const reader = new FrameReader();
  const decoder = responses.decodeStream();
  const parts: Part[] = [];
  const feed = (piece: Uint8Array) => {
    const frames: Frame[] = [];
    reader.push(piece, frames);
    for (const frame of frames) decoder.push(frame, parts);
  };
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) break;
    feed(bytes.subarray(at, at + size));
    at += size;
  }
  if (at < bytes.length) feed(bytes.subarray(at));
  const last: Frame[] = [];
  reader.end(last);
  for (const frame of last) decoder.push(frame, parts);
  decoder.end(parts);
  return parts;
}

export function decodeExchange(exchange: Exchange): Part[] {
  return exchange.sse === null ? responses.decodeAnswer(exchange.response) : decodeSse(exchange.sse);
}

/** Parts of a stream given as events. */
export function decodeEvents(events: readonly Loose[]): Part[] {
  const decoder = responses.decodeStream();
  const parts: Part[] = [];
  for (const event of events) decoder.push({ event: String(event.type), data: JSON.stringify(event) }, parts);
  decoder.end(parts);
  return parts;
}

/** An answer whose texts of different pieces compare equal. */
export function answerOf(parts: readonly Part[]): Answer {
  return collect(parts);
}

export const SEALED = "sealed:";
export const seal = (proof: Proof) => SEALED + JSON.stringify(proof);
export const unseal = (text: string) =>
  text.startsWith(SEALED) ? JSON.parse(text.slice(SEALED.length)) as Proof : null;

export const DECODING: DecodeRequest = { unseal, headers: () => ({}) };

export function decode(body: unknown): Prompt {
  return responses.decodeRequest(body, DECODING);
}

export function encoding(more: Partial<EncodeRequest> = {}): EncodeRequest {
  return { model: "model", stream: false, maxOutput: null, features: null, efforts: null, ...more };
}

export function answering(request: Loose = {}, more: Partial<EncodeAnswer> = {}): EncodeAnswer {
  const prompt = decode({ model: "a/b", input: "Hello", ...request });
  return { id: "gen_0123abcd", created: 1_700_000_000, model: () => "a/b", prompt, seal, ...more };
}

export interface WireEvent {
  name: string;
  data: Loose;
}

/** The events of a stream's text; `[DONE]` must be its last frame and is left out. */
export function eventsOf(sse: string): WireEvent[] {
  const blocks = sse.split("\n\n");
  if (blocks.pop() !== "") throw new Error("the stream does not end with a blank line");
  if (blocks.pop() !== "data: [DONE]") throw new Error("the stream does not end with [DONE]");
  return blocks.map((block) => {
    const [event, data, ...more] = block.split("\n");
    if (!event.startsWith("event: ") || !data?.startsWith("data: ") || more.length > 0) {
      throw new Error(`not a named event: ${block.slice(0, 80)}`);
    }
    return { name: event.slice(7), data: JSON.parse(data.slice(6)) as Loose };
  });
}

/** The text of a whole stream of parts in one batch. */
export function streamText(parts: readonly Part[], context: EncodeAnswer = answering()): string {
  const encoder = responses.encodeStream(context);
  return encoder.encode(parts) + encoder.end();
}

interface OpenItem {
  item: Loose;
  parts: Map<number, { type: string; text: string; done: boolean; annotations: unknown[] }>;
  args: string;
  done: boolean;
}

/**
 * Walks a stream as the wire's grammar has it and gives the response that its events add up to, the last event's own
 * output left aside. Throws where an event is out of place.
 */
export function checkStream(events: readonly WireEvent[]): { folded: Loose[]; response: Loose | undefined } {
  const items: OpenItem[] = [];
  let response: Loose | undefined;
  let step: "new" | "created" | "running" | "error" | "ended" = "new";
  const need = (truth: boolean, what: string) => {
    if (!truth) throw new Error(`illegal stream: ${what}`);
  };
  for (const [i, { name, data }] of events.entries()) {
    need(data.type === name, `type of ${name}`);
    need(data.sequence_number === i, `sequence number of ${name}: ${data.sequence_number}, not ${i}`);
    need(step !== "ended", `${name} behind the end`);
    if (name === "error") {
      step = "error";
      continue;
    }
    if (name === "response.created") {
      need(step === "new", "created twice");
      step = "created";
      continue;
    }
    if (name === "response.in_progress") {
      need(step === "created", "in_progress out of place");
      step = "running";
      continue;
    }
    if (name === "response.completed" || name === "response.incomplete" || name === "response.failed") {
      response = data.response as Loose;
      need(`response.${response.status}` === name, "status of the last event");
      need(name === "response.failed" ? step === "error" : step === "running", `${name} out of place`);
      if (name !== "response.failed") need(items.every((item) => item.done), "an item was left open");
      step = "ended";
      continue;
    }
    need(step === "running", `${name} before in_progress or behind an error`);
    const index = data.output_index as number;
    if (name === "response.output_item.added") {
      const item = structuredClone(data.item) as Loose;
      need(index === items.length, `output_index ${index}, ${items.length} items so far`);
      need(typeof item.id === "string" && item.id !== "", "an item without id");
      need(items.every((other) => other.item.id !== item.id), `the id ${item.id} twice`);
      items.push({ item, parts: new Map(), args: "", done: false });
      continue;
    }
    const open = items[index];
    need(open !== undefined && !open.done, `${name} for an item that is not open`);
    if (name === "response.output_item.done") {
      const item = data.item as Loose;
      need(item.id === open.item.id && item.type === open.item.type, "another item at its end");
      for (const [key, part] of open.parts) need(part.done, `part ${key} was left open`);
      checkWhole(open, item, need);
      open.item = item;
      open.done = true;
      continue;
    }
    need(data.item_id === open.item.id, `item_id of ${name}`);
    checkInside(name, data, open, need);
  }
  need(step === "ended" || step === "error", "no end");
  return { folded: items.map((item) => item.item), response };
}

const SENT = new WeakMap<object, string>();

function checkInside(
  name: string,
  data: Loose,
  open: OpenItem,
  need: (truth: boolean, what: string) => void,
): void {
  const key = (data.content_index ?? data.summary_index) as number;
  const part = open.parts.get(key);
  switch (name) {
    case "response.content_part.added":
    case "response.reasoning_summary_part.added": {
      need(key === open.parts.size, `part index ${key}`);
      const { type } = data.part as Loose;
      open.parts.set(key, { type: String(type), text: "", done: false, annotations: [] });
      return;
    }
    case "response.output_text.delta":
    case "response.refusal.delta":
    case "response.reasoning_text.delta":
    case "response.reasoning_summary_text.delta":
      need(part !== undefined && !part.done, `${name} without its part`);
      need(name !== "response.output_text.delta" || Array.isArray(data.logprobs), "no logprobs");
      part!.text += String(data.delta);
      return;
    case "response.output_text.done":
    case "response.refusal.done":
    case "response.reasoning_text.done":
    case "response.reasoning_summary_text.done":
      need((data.text ?? data.refusal) === part?.text, `${name} says another text than its deltas`);
      return;
    case "response.content_part.done":
    case "response.reasoning_summary_part.done": {
      const whole = data.part as Loose;
      need(part?.type === whole.type, "another type at a part's end");
      need((whole.text ?? whole.refusal) === part!.text, "another text at a part's end");
      part!.done = true;
      return;
    }
    case "response.output_text.annotation.added":
      need(part !== undefined && data.annotation_index === part.annotations.length, "annotation index");
      part!.annotations.push(data.annotation);
      return;
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      open.args += String(data.delta);
      return;
    case "response.function_call_arguments.done":
      need(data.name === open.item.name, "no name at the arguments' end");
      need(data.arguments === open.args, "other arguments at their end");
      return;
    case "response.custom_tool_call_input.done":
      need(data.input === open.args, "another input at its end");
      return;
    default:
      if (!readRunEvent(name, data, open.item, SENT)) {
        throw new Error(`illegal stream: unknown event ${name}`);
      }
  }
}

function checkWhole(open: OpenItem, item: Loose, need: (truth: boolean, what: string) => void): void {
  const texts = [...open.parts.values()].map((p) => p.text);
  const wholeTexts = (list: unknown) => (list as Loose[] | undefined ?? []).map((p) => p.text ?? p.refusal);
  const same = (a: unknown, b: unknown, what: string) => need(JSON.stringify(a) === JSON.stringify(b), what);
  if (item.type === "message") {
    same(wholeTexts(item.content), texts, "other contents at a message's end");
    const annotations = [...open.parts.values()].filter((p) => p.type === "output_text").map((p) =>
      p.annotations
    );
    same(
      (item.content as Loose[]).filter((p) => p.type === "output_text").map((p) => p.annotations),
      annotations,
      "other annotations at a message's end",
    );
  } else if (item.type === "reasoning") {
    same(
      [...wholeTexts(item.summary), ...wholeTexts(item.content)],
      texts,
      "other texts at the end of reasoning",
    );
  } else if (item.type === "function_call") {
    same(item.arguments, open.args, "other arguments at a call's end");
  } else if (item.type === "custom_tool_call") same(item.input, open.args, "another input at a call's end");
}

/** What this request is refused with. */
export function failure(body: unknown): Failure {
  try {
    decode(body);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("it was taken");
}

/** Events as providers send them. */
export const created = { type: "response.created", response: { model: "m" } };
export const completed = (response: Loose = {}) => ({
  type: "response.completed",
  response: { status: "completed", ...response },
});
export const added = (output_index: number, item: Loose) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
export const done = (output_index: number, item: Loose) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
export const delta = (kind: string, output_index: number, text: string, more: Loose = {}) => ({
  type: `response.${kind}.delta`,
  output_index,
  content_index: 0,
  delta: text,
  ...more,
});
