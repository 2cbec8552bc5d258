/** A hash of a JSON value that does not depend on white space or the order of fields. */
import { createHash } from "node:crypto";
import { jsonPieces } from "../../exchange/json_pieces.ts";

/** Pieces hashed per slice. */
const PIECES = 8;

/** The hash of a value's canonical JSON, computed in slices. */
export function* canonicalDigest(value: unknown): Generator<void, string> {
  const hash = createHash("sha256");
  let pieces = 0;
  for (const piece of jsonPieces(value, { sorted: true })) {
    hash.update(piece);
    if (++pieces % PIECES === 0) yield;
  }
  return hash.digest("base64url");
}
