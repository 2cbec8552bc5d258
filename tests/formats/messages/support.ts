/** What the tests of this folder share: the recordings, a fold of events as clients do it, and a checker of streams. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import { isObject, type Loose, object } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import type { DecodeRequest, EncodeAnswer, EncodeRequest, Frame } from "../../../src/formats/format.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { FrameReader } from "../../../src/formats/wire/sse.ts";
import { readRecordings } from "../../support/recordings.ts";

export interface Exchange {
  id: string;
  stream: boolean;
  status: number;
  tags: string[];
  request: unknown;
  response: unknown;
  sse: string | null;
}

/** Recorded exchanges of this format. */
export const exchanges = () => readRecordings<Exchange>("msgs");

/** Stands in for the real sealing: readable, and refuses what it did not make. */
export const seal = (proof: Proof) => `sealed:${JSON.stringify(proof)}`;
export const unseal = (text: string): Proof | null =>
  text.startsWith("sealed:") ? JSON.parse(text.slice(7)) : null;

export function decoding(headers: Record<string, string> = {}): DecodeRequest {
  return {
    unseal,
    headers: (prefix) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix))),
  };
}

export function decodeRequest(body: unknown, headers?: Record<string, string>): Prompt {
  return messages.decodeRequest(body, decoding(headers));
}

/** A request of the least that is needed, and more. */
export function request(fields: Loose = {}): Loose {
  return { model: "a/b", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...fields };
}

/** A request with this as what the user says. */
export const user = (...content: unknown[]) => request({ messages: [{ role: "user", content }] });

/** A request with this as what the assistant has answered. */
export const assistant = (...content: unknown[]) =>
  request({ messages: [{ role: "user", content: "Hi" }, { role: "assistant", content }] });

/** What a provider of the format gets of a caller's request. */
export const own = (body: Loose) => messages.encodeRequest(decodeRequest(body), encoding()).body;

export function encoding(fields: Partial<EncodeRequest> = {}): EncodeRequest {
  return { model: "claude-x", stream: false, maxOutput: null, features: null, efforts: null, ...fields };
}

/** A prompt of another format, as its decoder would make it. */
export function foreign(fields: Partial<Prompt> = {}): Prompt {
  return {
    format: "chat_completions",
    model: "a/b",
    stream: false,
    turns: [{ role: "user", content: [{ type: "text", text: "Hi" }], plain: true }],
    tools: [],
    verbatim: {},
    unknown: {},
    ...fields,
  };
}

export function answering(fields: Partial<EncodeAnswer> = {}): EncodeAnswer {
  return { id: "gen_1", created: 1, model: () => "a/b", prompt: decodeRequest(request()), seal, ...fields };
}

export function failureOf(run: () => unknown): Failure {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("expected a Failure");
}

export function framesOf(text: string, size = Infinity): Frame[] {
  const bytes = new TextEncoder().encode(text);
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size), frames);
  reader.end(frames);
  return frames;
}

export function decodeFrames(frames: readonly Frame[]): Part[] {
  const decoder = messages.decodeStream();
  const out: Part[] = [];
  for (const frame of frames) decoder.push(frame, out);
  decoder.end(out);
  return out;
}

/** Parts through a stream, batch by batch. */
export function encodeParts(parts: readonly Part[], context = answering(), batch = 1): string {
  const encoder = messages.encodeStream(context);
  let text = "";
  for (let i = 0; i < parts.length; i += batch) text += encoder.encode(parts.slice(i, i + batch));
  return text + encoder.end();
}

export function encodeWhole(parts: readonly Part[], context = answering()): Loose {
  return messages.encodeAnswer(collect(parts), context);
}

/** Events that make a message, added up as the official client does it. */
export function fold(text: string): Loose {
  let message: Loose = {};
  const pieces = new Map<number, string>();
  for (const frame of framesOf(text)) {
    const event = JSON.parse(frame.data) as Loose;
    const content = message.content as Loose[];
    const index = event.index as number;
    switch (event.type) {
      case "message_start":
        message = event.message as Loose;
        break;
      case "content_block_start":
        content[index] = { ...(event.content_block as Loose) };
        break;
      case "content_block_delta": {
        const block = content[index];
        const delta = event.delta as Loose;
        if (delta.type === "text_delta") block.text = `${block.text}${delta.text}`;
        else if (delta.type === "thinking_delta") block.thinking = `${block.thinking}${delta.thinking}`;
        else if (delta.type === "signature_delta") block.signature = delta.signature;
        else if (delta.type === "input_json_delta") {
          pieces.set(index, (pieces.get(index) ?? "") + delta.partial_json);
        } else if (delta.type === "citations_delta") {
          block.citations = [...((block.citations ?? []) as Loose[]), delta.citation];
        } else if (delta.type === "compaction_delta") {
          Object.assign(block, delta, { type: "compaction" });
        } else throw new Error(`unknown delta ${delta.type}`);
        break;
      }
      case "content_block_stop":
        if (pieces.has(index)) content[index].input = JSON.parse(pieces.get(index) || "{}");
        break;
      case "message_delta": {
        const { usage, delta, type: _, ...beside } = event;
        message = {
          ...message,
          ...object(delta),
          ...beside,
          usage: { ...object(message.usage), ...object(usage) },
        };
      }
    }
  }
  return message;
}

/** Throws when a stream is not one that the format allows. */
export function checkStream(text: string): void {
  const frames = framesOf(text);
  let open: Loose | undefined;
  let next = 0;
  let state: "new" | "message" | "ended" | "stopped" = "new";
  for (const { event, data } of frames) {
    const value = JSON.parse(data);
    assert(isObject(value));
    assertEquals(value.type, event, "the event's name and its type");
    switch (event) {
      case "ping":
        break;
      case "message_start":
        assertEquals(state, "new");
        state = "message";
        assertEquals((value.message as Loose).content, []);
        assertEquals(((value.message as Loose).usage as Loose).output_tokens, 0);
        break;
      case "content_block_start":
        assertEquals(state, "message");
        assertEquals(open, undefined, "one block at a time");
        assertEquals(value.index, next);
        open = object(value.content_block);
        break;
      case "content_block_delta": {
        if (!open) throw new Error("a delta outside a block");
        assertEquals(value.index, next);
        const wanted: Record<string, string[]> = {
          text_delta: ["text"],
          citations_delta: ["text"],
          thinking_delta: ["thinking"],
          signature_delta: ["thinking"],
          input_json_delta: ["tool_use", "server_tool_use", "mcp_tool_use"],
          compaction_delta: ["compaction"],
        };
        const { type } = object(value.delta);
        assert(wanted[String(type)]?.includes(String(open.type)), `${type} in a block of ${open.type}`);
        break;
      }
      case "content_block_stop":
        assert(open, "a stop outside a block");
        assertEquals(value.index, next++);
        open = undefined;
        break;
      case "message_delta":
        assertEquals(state, "message");
        assertEquals(open, undefined, "a block is open at the end");
        assertEquals(typeof object(value.delta).stop_reason, "string");
        assertEquals(typeof object(value.usage).output_tokens, "number");
        state = "ended";
        break;
      case "message_stop":
        assertEquals(state, "ended");
        state = "stopped";
        break;
      default:
        throw new Error(`unknown event ${event}`);
    }
  }
  assertEquals(state, "stopped");
}
