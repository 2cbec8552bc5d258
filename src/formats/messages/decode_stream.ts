/** A provider's stream of events in the messages format as parts. Only `message_stop` ends a good answer. */
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
