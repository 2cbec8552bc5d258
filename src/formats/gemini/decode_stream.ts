/** Decodes chunks of `streamGenerateContent`. There is no end marker: the stream ends with the bytes. */
import { unread } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import type { Frame, StreamDecoder } from "../format.ts";
import { frameValue } from "../wire/frame_value.ts";
import { ChunkReader } from "./decode_blocks.ts";

export function decodeStream(): StreamDecoder {
  const reader = new ChunkReader();
  return {
    get complete() {
      return reader.complete;
    },
    push(frame: Frame, out: Part[]): void {
      const data = frame.data.trim();
      if (data === "" || data === "[DONE]") return;
      const chunk = frameValue(frame, true);
      if (chunk === undefined) throw brokenAnswer(`a frame of its stream ${unread(data)}`);
      reader.push(chunk, out);
    },
    counted: () => reader.counted(),
    end: (out) => reader.end(out),
  };
}
