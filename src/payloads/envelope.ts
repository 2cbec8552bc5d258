/**
 * The stored form of payloads: compressed, then encrypted with AES-256-GCM under the operator's key.
 *
 * The layout is `SLPL`, a version, 8 bytes that identify the key, 12 random bytes of the nonce, and the
 * ciphertext with its tag. The header and the id of the generation are authenticated too, so that an object
 * that was stored under another name cannot be decrypted.
 */

const MAGIC = [0x53, 0x4c, 0x50, 0x4c];
const VERSION = 1;
const KEY_ID = { at: 5, bytes: 8 };
const NONCE = { at: 13, bytes: 12 };
const HEAD = 25;
const TAG = 16;

type Bytes = Uint8Array<ArrayBuffer>;

export interface PayloadKey {
  /** In hexadecimal digits. */
  id: string;
  key: CryptoKey;
}

/** A stored payload cannot be decrypted: it was changed or truncated, or its key is not configured. */
export class UnreadablePayload extends Error {
  override readonly name = "UnreadablePayload";
}

const text = new TextEncoder();

/**
 * AES-256-GCM keys, derived from the secrets of the configuration.
 * @param secrets the first encrypts, all decrypt
 */
export function payloadKeys(secrets: readonly string[]): Promise<PayloadKey[]> {
  return Promise.all(secrets.map(async (secret) => {
    const source = await crypto.subtle.importKey("raw", text.encode(secret.trim()), "HKDF", false, [
      "deriveKey",
      "deriveBits",
    ]);
    const derive = (info: string) => ({
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: text.encode(info),
    });
    const id = await crypto.subtle.deriveBits(derive("sluice payload key id"), source, KEY_ID.bytes * 8);
    const aes = { name: "AES-GCM", length: 256 };
    const key = await crypto.subtle.deriveKey(derive("sluice payload"), source, aes, false, [
      "encrypt",
      "decrypt",
    ]);
    return { id: new Uint8Array(id).toHex(), key };
  }));
}

/** Encrypts a payload and authenticates the id of its generation. */
export async function seal(content: Bytes, id: string, { id: keyId, key }: PayloadKey): Promise<Bytes> {
  const head = new Uint8Array(HEAD);
  head.set(MAGIC);
  head[4] = VERSION;
  head.set(Uint8Array.fromHex(keyId), KEY_ID.at);
  crypto.getRandomValues(head.subarray(NONCE.at));
  const sealed = await crypto.subtle.encrypt(cipher(head, id), key, content);
  const all = new Uint8Array(HEAD + sealed.byteLength);
  all.set(head);
  all.set(new Uint8Array(sealed), HEAD);
  return all;
}

/** Throws {@link UnreadablePayload}. */
export async function open(sealed: Bytes, id: string, keys: readonly PayloadKey[]): Promise<Bytes> {
  if (sealed.length < HEAD + TAG || MAGIC.some((byte, i) => sealed[i] !== byte)) {
    throw new UnreadablePayload("it is damaged: it was truncated, or was not written by Sluice");
  }
  if (sealed[4] !== VERSION) {
    throw new UnreadablePayload("it is damaged, or was written by a newer release");
  }
  const keyId = sealed.subarray(KEY_ID.at, KEY_ID.at + KEY_ID.bytes).toHex();
  const found = keys.find((key) => key.id === keyId);
  if (found === undefined) {
    throw new UnreadablePayload(`it was encrypted with another key (${keyId}) than those of payloads.key`);
  }
  const head = sealed.slice(0, HEAD);
  try {
    return new Uint8Array(await crypto.subtle.decrypt(cipher(head, id), found.key, sealed.subarray(HEAD)));
  } catch {
    throw new UnreadablePayload(
      "it is damaged: it was truncated or changed, or belongs to another generation",
    );
  }
}

function cipher(head: Bytes, id: string): AesGcmParams {
  const name = text.encode(id);
  const additionalData = new Uint8Array(HEAD + name.length);
  additionalData.set(head);
  additionalData.set(name, HEAD);
  return {
    name: "AES-GCM",
    iv: head.subarray(NONCE.at, NONCE.at + NONCE.bytes),
    additionalData,
    tagLength: TAG * 8,
  };
}
