/** Pieces that many streamed answers are given: the bytes of a chunk around one are made once, not once for each connection. */

/** Null: not yet needed. */
const chunks = new WeakMap<Uint8Array, Uint8Array | null>();

/** Nobody may change the bytes any more. */
export function shareBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  chunks.set(bytes, null);
  return bytes;
}

/** The chunk of a shared piece; null: it is not one. */
export function sharedChunk(bytes: Uint8Array, make: () => Uint8Array): Uint8Array | null {
  const made = chunks.get(bytes);
  if (made === undefined) return null;
  if (made !== null) return made;
  const chunk = make();
  chunks.set(bytes, chunk);
  return chunk;
}
