/** Byte arrays that are sent on many streams: the encoded chunk is created once instead of once per connection. */

/** Null: not encoded yet. */
const chunks = new WeakMap<Uint8Array, Uint8Array | null>();

/** Registers bytes, which must not be modified afterwards. */
export function shareBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  chunks.set(bytes, null);
  return bytes;
}

/** The encoded chunk of shared bytes; null: the bytes are not shared. */
export function sharedChunk(bytes: Uint8Array, make: () => Uint8Array): Uint8Array | null {
  const made = chunks.get(bytes);
  if (made === undefined) return null;
  if (made !== null) return made;
  const chunk = make();
  chunks.set(bytes, chunk);
  return chunk;
}
