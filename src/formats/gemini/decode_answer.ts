/** A whole answer of `generateContent` to parts; also the array of chunks that a stream without `alt=sse` is. */
import type { Part } from "../../exchange/part.ts";
import { ChunkReader } from "./decode_blocks.ts";

export function decodeAnswer(body: unknown): Part[] {
  const reader = new ChunkReader();
  const out: Part[] = [];
  reader.push(body, out);
  reader.end(out);
  return out;
}
