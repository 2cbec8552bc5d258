/** Sound and images that a model makes. */
import { Buffer } from "node:buffer";

/** Samples without a container: pieces of them join to a longer sound, which pieces of a WAV or MP3 file do not. */
export function isRawAudio(mediaType: string): boolean {
  return /^audio\/(?:l16|l24|pcm)\b/i.test(mediaType);
}

/** One base64 text of what several encode. */
export function joinBase64(pieces: readonly string[]): string {
  if (pieces.length === 1) return pieces[0];
  return Buffer.concat(pieces.map((p) => Buffer.from(p, "base64"))).toString("base64");
}
