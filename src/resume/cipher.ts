/** Encryption of what is kept of streams: a key for each stream, made of a secret that is not in its rows. */
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

  /** @param place where in the stream the text stands: moved elsewhere, it cannot be read */
  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64");
  }

  /** Throws where it was sealed under another secret, or changed. */
  open(data: string, place: string): string {
    const bytes = Buffer.from(data, "base64");
    const cipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(place));
    cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const text = cipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([text, cipher.final()]).toString("utf8");
  }
}

/** A hash that nobody can make of a guess without the secret. */
export function hashOf(secret: Uint8Array, ...parts: string[]): string {
  const hash = createHmac("sha256", secret);
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest("hex");
}
