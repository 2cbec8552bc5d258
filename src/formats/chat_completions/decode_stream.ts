/** Decodes a provider's stream of chat-completions chunks. */
import { array, isObject, type Loose, object, unread } from "../../exchange/json.ts";
import { brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import type { Part } from "../../exchange/part.ts";
import type { StreamDecoder } from "../format.ts";
import { frameValue } from "../wire/frame_value.ts";
import { RepeatedFrame } from "../wire/repeated_frame.ts";
import { ChunkReader } from "./decode_blocks.ts";
import { TEXT_FIELDS } from "./reasoning.ts";

type Delta = Extract<Part, { type: "text-delta" | "reasoning-delta" }>;

/** Fields of a delta that are plain text. */
const TEXTS: ReadonlySet<string> = new Set(["content", ...TEXT_FIELDS]);

/**
 * Converts frames to parts. A stream is complete with `[DONE]`, or, for providers without it, with a finish
 * reason of every choice. If no usage has come before `[DONE]`, it may still follow, until the bytes end.
 */
export function decodeStream(): StreamDecoder {
  const reader: ChunkReader = new ChunkReader();
  const repeated = new RepeatedFrame();
  /** The delta part that {@link repeated} produces. */
  let delta: Delta | undefined;
  let marked = false;
  let done = false;
  const finish = (out: Part[]) => {
    done = true;
    reader.finish(out, marked);
  };
  return {
    get marked() {
      return marked;
    },
    get complete() {
      return !marked && reader.complete;
    },
    counted: () => reader.counted(),
    pushKnown(bytes, out, withhold) {
      let at = 0;
      while (!marked && !done && repeated.knows(bytes, at)) {
        const text = withhold(repeated.text);
        if (text !== "") out.push({ ...delta!, text });
        at = repeated.end;
      }
      return at;
    },
    push(frame, out) {
      const { event, data } = frame;
      if (done || data === "") return;
      if (marked) {
        if (reader.lateUsage(frameValue(frame), out)) finish(out);
        return;
      }
      const text = repeated.textOf(frame);
      if (text !== null) {
        if (text !== "") out.push({ ...delta!, text });
        return;
      }
      if (data.startsWith("[DONE]")) {
        marked = true;
        return reader.hasUsage ? finish(out) : undefined;
      }
      const chunk = frameValue(frame);
      if (event === "error") reader.fail(decodeLateFailure(chunk ?? data), out);
      if (chunk === undefined) reader.fail(brokenAnswer(`a frame of its stream ${unread(data)}`), out);
      if (!isObject(chunk)) reader.fail(brokenAnswer("a frame is no JSON object"), out);
      if (isBareError(chunk)) reader.fail(decodeLateFailure(chunk), out);
      const from = out.length;
      reader.push(chunk, false, out);
      const part = out[from];
      if (out.length !== from + 1 || (part.type !== "text-delta" && part.type !== "reasoning-delta")) return;
      const field = onlyField(chunk);
      if (field === null) return;
      delta = part;
      repeated.learn(frame, field);
    },
    end(out) {
      if (!done) finish(out);
    },
  };
}

/**
 * The field of a chunk that contains nothing but a piece of text or reasoning, so that a similar chunk
 * changes nothing else. Null: it contains more.
 */
function onlyField(chunk: Loose): string | null {
  const choices = array(chunk.choices);
  const { delta, logprobs, finish_reason } = object(choices[0]);
  if (choices.length !== 1 || logprobs || finish_reason) return null;
  const fields = object(delta);
  let only: string | null = null;
  for (const name in fields) {
    if (name === "role" || isEmpty(fields[name])) continue;
    if (only !== null || !TEXTS.has(name) || typeof fields[name] !== "string") return null;
    only = name;
  }
  return only;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** An error without an `error` field: `{detail}` (Mistral), `{object: "error", message}` (vLLM). */
function isBareError(chunk: Loose): boolean {
  if (chunk.object === "error") return true;
  return !("choices" in chunk) && !("id" in chunk) && ("detail" in chunk || "message" in chunk);
}
