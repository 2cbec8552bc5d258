/** Decodes the events of `ConverseStream`. A stream is complete only with `messageStop`. */
import { isObject, object, unread } from "../../exchange/json.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import type { StreamDecoder } from "../format.ts";
import { frameValue } from "../wire/frame_value.ts";
import { openaiReasoning } from "../restrictions/refused_parameters.ts";
import { MessageReader } from "./decode_blocks.ts";

export function decodeStream(model = ""): StreamDecoder {
  const reader = new MessageReader(openaiReasoning(model) !== null);
  return {
    get marked() {
      return reader.finished;
    },
    get complete() {
      return reader.stopped;
    },
    push(frame, out) {
      if (reader.finished) return;
      const { event, data } = frame;
      const body = frameValue(frame);
      if (body === undefined) throw brokenAnswer(`a message of its stream ${unread(data)}`);
      if (!isObject(body)) throw brokenAnswer("a message of its stream is not a JSON object");
      switch (event) {
        case "contentBlockDelta":
          if (!reader.stopped) reader.delta(body.contentBlockIndex, object(body.delta), out);
          return;
        case "contentBlockStart":
          if (!reader.stopped) reader.openBlock(body.contentBlockIndex, object(body.start), out);
          return;
        case "contentBlockStop":
          return reader.closeBlock(body.contentBlockIndex, out);
        case "messageStart":
          return reader.start(out);
        case "messageStop":
          return reader.stop(body, out);
        case "metadata":
          return reader.count(body, out);
      }
    },
    end(out) {
      if (!reader.stopped) throw brokenAnswer("it ended without messageStop");
      reader.finish(out);
    },
  };
}
