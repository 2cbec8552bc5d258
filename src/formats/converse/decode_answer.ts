/** Decodes a complete answer of `Converse`, with the same reader as a stream. */
import { array, isObject, object } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import { MessageReader } from "./decode_blocks.ts";

export function decodeAnswer(body: unknown): Part[] {
  if (!isObject(body)) throw brokenAnswer("it is no message");
  const message = object(body.output).message;
  if (!isObject(message) || !Array.isArray(message.content)) throw brokenAnswer("it has no content");
  const out: Part[] = [];
  const reader = new MessageReader();
  reader.start(out);
  array(message.content).forEach((block, index) => {
    if (isObject(block)) reader.whole(index, block, out);
  });
  reader.stop(body, out);
  reader.count(body, out);
  return out;
}
