/** Decodes a provider's complete answer. */
import { isObject } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import { ChunkReader } from "./decode_blocks.ts";

/** All parts of a provider's response body. */
export function decodeAnswer(body: unknown): Part[] {
  const answer = Array.isArray(body) && body.length === 1 ? body[0] : body;
  if (!isObject(answer)) throw brokenAnswer("it is no JSON object");
  if (!Array.isArray(answer.choices)) throw decodeLateFailure(answer);
  const out: Part[] = [];
  const reader = new ChunkReader();
  reader.push(answer, true, out);
  reader.finish(out, true);
  return out;
}
