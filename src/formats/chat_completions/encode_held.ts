/**
 * A stream sent as a single event when it is complete, so that a broken connection has delivered all of the
 * answer or nothing; for clients that retry only if nothing arrived. Without `[DONE]`: the body ends with the
 * event.
 */
import { Collector } from "../../exchange/answer.ts";
import { array, type Loose, object } from "../../exchange/json.ts";
import type { EncodeAnswer, StreamEncoder } from "../format.ts";
import { dataFrame } from "../wire/sse.ts";
import { encodeAnswer } from "./encode_answer.ts";
import { encodeBreak } from "./encode_stream.ts";

export function encodeHeld(context: EncodeAnswer): StreamEncoder {
  const collector = new Collector();
  return {
    encode(parts) {
      collector.add(parts);
      return "";
    },
    end() {
      const answer = encodeAnswer(collector.answer, context);
      const choices = array(answer.choices).map(object).map(({ message, ...choice }) => ({
        ...choice,
        delta: deltaOf(object(message)),
      }));
      return dataFrame(JSON.stringify({ ...answer, object: "chat.completion.chunk", choices }));
    },
    fail: encodeBreak,
  };
}

function deltaOf({ tool_calls: calls, ...message }: Loose): Loose {
  if (calls === undefined) return message;
  return { ...message, tool_calls: array(calls).map((call, index) => ({ index, ...object(call) })) };
}
