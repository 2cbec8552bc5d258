/** A provider's stream of chat-completions chunks as parts. */
import { array, isObject, type Loose, object, unread } from "../../exchange/json.ts";
import { brokenAnswer, decodeLateFailure } from "../decode_failure.ts";
import type { StreamDecoder } from "../format.ts";
import { frameValue } from "../frame_value.ts";
import { RepeatedFrame } from "../repeated_frame.ts";
import { ChunkReader } from "./decode_blocks.ts";

/** Frames to parts. A good end is `[DONE]`, or a finish reason of every choice where a provider leaves it out. */
export function decodeStream(): StreamDecoder {
  const reader: ChunkReader = new ChunkReader();
  const repeated = new RepeatedFrame();
  /** What {@link repeated} says more of. */
  let block = 0;
  let done = false;
  return {
    push(frame, out) {
      const { event, data } = frame;
      if (done || data === "") return;
      const text = repeated.textOf(frame);
      if (text !== null) {
        if (text !== "") out.push({ type: "text-delta", block, text });
        return;
      }
      if (data.startsWith("[DONE]")) {
        done = true;
        return reader.finish(out, true);
      }
      const chunk = frameValue(frame);
      if (event === "error") reader.fail(decodeLateFailure(chunk ?? data), out);
      if (chunk === undefined) reader.fail(brokenAnswer(`a frame of its stream ${unread(data)}`), out);
      if (!isObject(chunk)) reader.fail(brokenAnswer("a frame is no JSON object"), out);
      if (isBareError(chunk)) reader.fail(decodeLateFailure(chunk), out);
      const from = out.length;
      reader.push(chunk, false, out);
      const part = out[from];
      if (out.length !== from + 1 || part.type !== "text-delta" || !saysTextAlone(chunk)) return;
      block = part.block;
      repeated.learn(frame, "content");
    },
    end(out) {
      if (done) return;
      done = true;
      reader.finish(out, false);
    },
  };
}

/** Whether a chunk brings nothing but a piece of text, so that another like it changes nothing else. */
function saysTextAlone(chunk: Loose): boolean {
  const choices = array(chunk.choices);
  const { delta, logprobs, finish_reason } = object(choices[0]);
  if (choices.length !== 1 || logprobs || finish_reason) return false;
  const fields = object(delta);
  for (const name in fields) {
    if (name !== "content" && name !== "role" && !isEmpty(fields[name])) return false;
  }
  return typeof fields.content === "string";
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** An error without an `error` field: `{detail}` of Mistral, `{object: "error", message}` of vLLM. */
function isBareError(chunk: Loose): boolean {
  if (chunk.object === "error") return true;
  return !("choices" in chunk) && !("id" in chunk) && ("detail" in chunk || "message" in chunk);
}
