/**
 * SHA-256, its keyed form and random bytes, and `node:crypto` for all else.
 *
 * `node:crypto` comes with streams, events and the process object of Node: 8 % of what a start executes. A start hashes
 * a dozen short texts, which takes less without it. Once somebody has needed it, hashes are its own, which are faster.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

type NodeCrypto = typeof import("node:crypto");

const UTF8 = new TextEncoder();

/** Whoever hashes more, the keys of a large configuration, needs `node:crypto`. */
const FEW = 100;

let library: NodeCrypto | null = null;
let made = 0;

/** To be asked for when there is nothing else to do: it takes 10 ms. */
export async function loadNodeCrypto(): Promise<void> {
  library ??= await import("node:crypto");
}

/** It is part of the runtime, so that no file is opened for it. */
export function nodeCrypto(): NodeCrypto {
  // deno-lint-ignore no-process-global -- an import of it would load all of it with the start
  return library ??= process.getBuiltinModule("node:crypto");
}

/** Of the text as UTF-8: 64 hexadecimal digits in lower case. */
export function sha256Hex(text: string): string {
  const node = libraryOfMany();
  return node === null ? sha256(UTF8.encode(text)).toHex() : node.hash("sha256", text, "hex");
}

/** Of the text as UTF-8, and of a key that is a text as well: 32 bytes. */
export function hmacSha256(key: string | Uint8Array, text: string): Uint8Array {
  const node = libraryOfMany();
  if (node !== null) return node.createHmac("sha256", key).update(text).digest();
  return hmac(sha256, typeof key === "string" ? UTF8.encode(key) : key, UTF8.encode(text));
}

/** Null: it is not loaded, and few hashes have been asked for. */
function libraryOfMany(): NodeCrypto | null {
  return library ?? (++made > FEW ? nodeCrypto() : null);
}

/** So many bytes, fit for secrets. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Base64 for URLs, without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
