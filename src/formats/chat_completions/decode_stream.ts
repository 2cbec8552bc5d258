/** A provider's stream of chat-completions chunks as parts. */
import { isObject, type Loose, unread } from "../../exchange/json.ts";
import { brokenAnswer, decodeLateFailure } from "../decode_failure.ts";
import type { StreamDecoder } from "../format.ts";
import { frameValue } from "../frame_value.ts";
import { ChunkReader } from "./decode_blocks.ts";

/** Frames to parts. A good end is `[DONE]`, or a finish reason of every choice where a provider leaves it out. */
export function decodeStream(): StreamDecoder {
  const reader: ChunkReader = new ChunkReader();
  let done = false;
  return {
    push(frame, out) {
      const { event, data } = frame;
      if (done || data === "") return;
      if (data.startsWith("[DONE]")) {
        done = true;
        return reader.finish(out, true);
      }
      const chunk = frameValue(frame);
      if (event === "error") reader.fail(decodeLateFailure(chunk ?? data), out);
      if (chunk === undefined) reader.fail(brokenAnswer(`a frame of its stream ${unread(data)}`), out);
      if (!isObject(chunk)) reader.fail(brokenAnswer("a frame is no JSON object"), out);
      if (isBareError(chunk)) reader.fail(decodeLateFailure(chunk), out);
      reader.push(chunk, false, out);
    },
    end(out) {
      if (done) return;
      done = true;
      reader.finish(out, false);
    },
  };
}

/** An error without an `error` field: `{detail}` of Mistral, `{object: "error", message}` of vLLM. */
function isBareError(chunk: Loose): boolean {
  if (chunk.object === "error") return true;
  return !("choices" in chunk) && !("id" in chunk) && ("detail" in chunk || "message" in chunk);
}
