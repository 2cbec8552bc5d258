/**
 * A stream that is held back until all of it is there, and then is one event: a connection that breaks has brought all of the
 * answer or nothing. For clients that ask again only where nothing has come. Without `[DONE]`: the body ends with the event.
 */
import { Collector } from "../../exchange/answer.ts";
import { array, type Loose, object } from "../../exchange/json.ts";
import type { EncodeAnswer, StreamEncoder } from "../format.ts";
import { dataFrame } from "../sse.ts";
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
