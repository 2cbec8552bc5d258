/** Decodes a complete answer of `generateContent`; also an array of chunks, which is a stream without `alt=sse`. */
import type { Part } from "../../exchange/part.ts";
import { ChunkReader } from "./decode_blocks.ts";

export function decodeAnswer(body: unknown): Part[] {
  const reader = new ChunkReader();
  const out: Part[] = [];
  reader.push(body, out);
  reader.end(out);
  return out;
}
