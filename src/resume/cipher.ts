/** Encryption of stored streams: each has its own key, derived from a secret that is not stored with it. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { Buffer } from "node:buffer";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class StreamCipher {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array, stream: string) {
    this.#key = createHmac("sha256", secret).update(`stream ${stream}`).digest();
  }

  /**
   * @param place position in the stream, as additional authenticated data: text moved elsewhere cannot be
   * decrypted
   */
  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64");
  }

  /** Throws if it was encrypted under another secret, or modified. */
  open(data: string, place: string): string {
    const bytes = Buffer.from(data, "base64");
    const cipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(place));
    cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const text = cipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([text, cipher.final()]).toString("utf8");
  }
}

/** A keyed hash: a guess cannot be verified without the secret. */
export function hashOf(secret: Uint8Array, ...parts: string[]): string {
  const hash = createHmac("sha256", secret);
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest("hex");
}
