/** A hash of what a request means: fields in another order, and other blanks, make no difference. */
import { createHash } from "node:crypto";
import { jsonPieces } from "../exchange/json_pieces.ts";

/** Pieces from one slice to the next. */
const PIECES = 8;

/** A hash that is the same for values that mean the same, in slices. */
export function* canonicalDigest(value: unknown): Generator<void, string> {
  const hash = createHash("sha256");
  let pieces = 0;
  for (const piece of jsonPieces(value, { sorted: true })) {
    hash.update(piece);
    if (++pieces % PIECES === 0) yield;
  }
  return hash.digest("base64url");
}
