/** What the tests of this format share: contexts, streams of frames, and a client's reading of chunks. */
import { assert, assertEquals } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { joinBase64 } from "../../../src/formats/media.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import type { DecodeRequest, EncodeAnswer, EncodeRequest, Frame } from "../../../src/formats/format.ts";
import { FrameReader } from "../../../src/formats/wire/sse.ts";

export const DECODE: DecodeRequest = { unseal, headers: () => ({}) };

/** Readable in a failing test, and as little to be confused with a provider's own text as the real seal. */
export function seal(proof: Proof): string {
  return `sealed:${JSON.stringify(proof)}`;
}

export function unseal(text: string): Proof | null {
  return text.startsWith("sealed:") ? JSON.parse(text.slice(7)) : null;
}

/** A request of a caller, with what every one has. */
export function request(more: Loose = {}): Prompt {
  return chatCompletions.decodeRequest(
    { model: "acme/one", messages: [{ role: "user", content: "Hi" }], ...more },
    DECODE,
  );
}

export function refusal(more: Loose): Failure {
  try {
    request(more);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("the request was accepted");
}

export const ENCODE: EncodeRequest = {
  model: "one",
  stream: false,
  maxOutput: null,
  features: null,
  efforts: null,
};

export function encode(
  prompt: Prompt,
  more: Partial<EncodeRequest> = {},
): { body: Loose; dropped: string[] } {
  return chatCompletions.encodeRequest(prompt, { ...ENCODE, ...more });
}

/** A prompt of a caller of another format. */
export function foreign(more: Partial<Prompt>): Prompt {
  return {
    format: "messages",
    model: "acme/one",
    stream: false,
    turns: [],
    tools: [],
    verbatim: {},
    unknown: {},
    ...more,
  };
}

export function context(prompt: Prompt = request()): EncodeAnswer {
  return { id: "gen_1", created: 1700000000, model: () => "acme/one", prompt, seal };
}

/** Parts of chunks as a provider streams them. A string stands for its own data. */
export function decodeChunks(chunks: readonly (Loose | string)[]): Part[] {
  const decoder = chatCompletions.decodeStream();
  const out: Part[] = [];
  for (const chunk of chunks) {
    decoder.push({ event: "", data: typeof chunk === "string" ? chunk : JSON.stringify(chunk) }, out);
  }
  decoder.end(out);
  return out;
}

/** One choice's delta as a chunk. */
export function delta(fields: Loose, more: Loose = {}, index = 0): Loose {
  return { id: "c1", model: "m", choices: [{ index, delta: fields, finish_reason: null, ...more }] };
}

export function decodePieces(pieces: Iterable<Uint8Array>, out: Part[] = []): Part[] {
  const decoder = chatCompletions.decodeStream();
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (const piece of pieces) {
    reader.push(piece, frames);
    for (const frame of frames.splice(0)) decoder.push(frame, out);
  }
  reader.end(frames);
  for (const frame of frames) decoder.push(frame, out);
  decoder.end(out);
  return out;
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** All that a caller gets for these parts, one batch a part. */
export function encodeAll(parts: readonly Part[], ctx: EncodeAnswer = context()): string {
  const encoder = chatCompletions.encodeStream(ctx);
  return parts.map((part) => encoder.encode([part])).join("") + encoder.end();
}

/** The data of a stream's frames; checks that nothing but frames is in it. */
export function dataOf(sse: string): string[] {
  assert(sse.endsWith("\n\n"));
  return sse.slice(0, -2).split("\n\n").map((frame) => {
    assert(frame.startsWith("data: ") && !frame.includes("\n"), frame);
    return frame.slice(6);
  });
}

/**
 * The answer that a caller makes of a stream, by the rules of the official SDK: texts and arguments add up, most
 * lists are whole when they come. Checks on the way that the stream is a legal one.
 */
export function foldChunks(sse: string): Loose {
  const data = dataOf(sse);
  assertEquals(data.pop(), "[DONE]");
  const answer: Loose = {};
  const messages = new Map<number, Loose>();
  const ends = new Map<number, Loose>();
  data.forEach((text, i) => {
    const chunk = JSON.parse(text);
    assertEquals(chunk.object, "chat.completion.chunk");
    for (const key of Object.keys(chunk)) if (key !== "choices") answer[key] = chunk[key];
    if ("usage" in chunk || "extra" in chunk) assertEquals(i, data.length - 1, "usage on the last chunk");
    for (const choice of chunk.choices) {
      const { index, delta, finish_reason, logprobs, ...others } = choice;
      let message = messages.get(index);
      if (!message) {
        assertEquals(delta.role, "assistant", "the first delta of a choice names its role");
        message = { role: "assistant", content: "", refusal: "" };
        messages.set(index, message);
        ends.set(index, { logprobs: null, finish_reason: null });
      } else assert(!("role" in delta), "one role a choice");
      const end = ends.get(index)!;
      if (end.finish_reason !== null) assertEquals(delta, {}, "nothing after the finish");
      foldDelta(message, delta);
      if (finish_reason !== null) Object.assign(end, { finish_reason }, others);
      if (logprobs) {
        const now = end.logprobs as Loose | null;
        end.logprobs = {
          content: add(now?.content, logprobs.content),
          refusal: add(now?.refusal, logprobs.refusal),
        };
      }
    }
  });
  answer.choices = [...messages].sort(([a], [b]) => a - b).map(([index, message]) => {
    const silent = message.tool_calls || message.function_call || message.audio || message.refusal !== "";
    if (message.content === "" && silent) message.content = null;
    if (message.refusal === "") message.refusal = null;
    return { index, message, ...ends.get(index) };
  });
  return { ...answer, object: "chat.completion" };
}

/** Audio with a further piece. The official clients join texts and add up numbers: all but these two must come once. */
function withSound(now: Loose | undefined, { data, transcript, ...once }: Loose): Loose {
  for (const key of Object.keys(once)) assert(now === undefined || !(key in now), `audio.${key} comes once`);
  return {
    ...now,
    ...once,
    data: joinBase64([now?.data, data].filter((piece) => typeof piece === "string")),
    transcript: `${now?.transcript ?? ""}${transcript ?? ""}`,
  };
}

function add(now: unknown, more: unknown): unknown {
  return more === null ? now ?? null : [...(now as unknown[] ?? []), ...more as unknown[]];
}

function foldDelta(message: Loose, delta: Loose): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === "role" || value === null) continue;
    if (key === "tool_calls") {
      const calls = (message.tool_calls ??= []) as Loose[];
      for (const { index, ...piece } of value as (Loose & { index: number })[]) {
        if (!calls[index]) {
          assertEquals(index, calls.length, "calls are numbered in order");
          assert(typeof piece.id === "string" && piece.id !== "" && piece.type);
          calls[index] = structuredClone(piece);
        } else foldText(calls[index], piece);
      }
    } else if (key === "function_call") {
      if (message.function_call) foldText(message, { function_call: value });
      else message.function_call = structuredClone(value);
    } else if (key === "audio") {
      message.audio = withSound(message.audio as Loose | undefined, value as Loose);
    } else if (key === "images") {
      message.images = [...(message.images as unknown[] ?? []), ...value as unknown[]];
    } else if (key === "annotations") {
      // The official Python client wants a place in the list of all but the first entries.
      const late = message.annotations !== undefined;
      const list = (message.annotations ??= []) as unknown[];
      for (const { index, ...annotation } of value as Loose[]) {
        if (late) assertEquals(index, list.length, "place of a later annotation");
        list.push(annotation);
      }
    } else if (typeof value === "string" && key !== "thought_signature") {
      message[key] = `${message[key] ?? ""}${value}`;
    } else {
      assert(!(key in message), `${key} comes once`);
      message[key] = value;
    }
  }
}

function foldText(target: Loose, piece: Loose): void {
  for (const [key, value] of Object.entries(piece)) {
    if (typeof value === "string") target[key] = `${target[key] ?? ""}${value}`;
    else foldText(target[key] as Loose, value as Loose);
  }
}

/** As a whole answer looks, but for the role chunk's and the fold's order of keys. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
