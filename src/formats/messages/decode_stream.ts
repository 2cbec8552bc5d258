/** Decodes a provider's event stream in the messages format. A stream is complete only with `message_stop`. */
import { brokenAnswer } from "../failures/decode_failure.ts";
import type { StreamDecoder } from "../format.ts";
import type { Part } from "../../exchange/part.ts";
import { RepeatedFrame } from "../wire/repeated_frame.ts";
import { MessageReader } from "./decode_blocks.ts";

/** The event field with the text of a delta. */
const FIELDS = { "text-delta": "text", "reasoning-delta": "thinking", "call-delta": "partial_json" } as const;

type Delta = Extract<Part, { type: keyof typeof FIELDS }>;

export function decodeStream(): StreamDecoder {
  const reader = new MessageReader();
  const repeated = new RepeatedFrame();
  /** The delta part that {@link repeated} produces. */
  let delta: Delta | undefined;
  return {
    get marked() {
      return reader.stopped;
    },
    push(frame, out) {
      const text = repeated.textOf(frame);
      if (text !== null) {
        if (text !== "") out.push({ ...delta!, text });
        return;
      }
      const from = out.length;
      reader.push(frame, out);
      const part = out[from];
      if (out.length !== from + 1 || !isDelta(part)) return;
      delta = part;
      repeated.learn(frame, FIELDS[part.type]);
    },
    counted: () => reader.counted(),
    end() {
      if (!reader.stopped) throw brokenAnswer("it ended without message_stop");
    },
  };
}

function isDelta(part: Part): part is Delta {
  return part.type in FIELDS && !("estimate" in part);
}
