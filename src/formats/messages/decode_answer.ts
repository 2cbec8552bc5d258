/** Decodes a provider's complete message, with the same reader as a stream. */
import { isObject } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import { MessageReader } from "./decode_blocks.ts";

export function decodeAnswer(body: unknown): Part[] {
  if (!isObject(body)) throw brokenAnswer("it is no message");
  if (body.type === "error" || body.error) throw decodeLateFailure(body);
  if (!Array.isArray(body.content)) throw brokenAnswer("it has no content");
  const out: Part[] = [];
  const reader = new MessageReader();
  reader.start(body, out);
  body.content.forEach((block, index) => {
    if (!isObject(block)) return;
    reader.openBlock(index, block, out);
    reader.closeBlock(index, out);
  });
  reader.change({ delta: body }, out);
  reader.stop(out);
  return out;
}
