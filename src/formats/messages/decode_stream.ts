/**
 * A provider's answer in the messages format to parts: a stream of events, and a whole message through the same reader.
 *
 * Events belong to blocks by `index`. A second `message_start` is the work of something between the provider and here:
 * repeated at the beginning it is passed over, inside an open message it joins two answers and is a failure. Only
 * `message_stop` ends a good answer.
 */
import { brokenAnswer } from "../decode_failure.ts";
import type { StreamDecoder } from "../format.ts";
import { MessageReader } from "./decode_blocks.ts";

export function decodeStream(): StreamDecoder {
  const reader = new MessageReader();
  return {
    push(frame, out) {
      reader.push(frame, out);
    },
    end() {
      if (!reader.stopped) throw brokenAnswer("it ended without message_stop");
    },
  };
}
