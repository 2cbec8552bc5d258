/** Cuts bytes at places that a seed decides, so that a failure can be run again. */

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Pieces of 1 to `most` bytes. */
export function rechunk(
  bytes: Uint8Array<ArrayBuffer>,
  most: number,
  next: () => number,
): Uint8Array<ArrayBuffer>[] {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(next() * most);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
