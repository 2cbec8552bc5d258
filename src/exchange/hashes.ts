/**
 * SHA-256, HMAC and random bytes without `node:crypto`, until that is loaded.
 *
 * Importing `node:crypto` also loads Node's streams, events and process object: 8 % of the work of a start. A
 * start hashes a dozen short texts, which takes less time without it. After the first use, its faster hashes
 * are used.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

type NodeCrypto = typeof import("node:crypto");

const UTF8 = new TextEncoder();

/** Number of hashes after which `node:crypto` is loaded, for example for the keys of a large configuration. */
const FEW = 100;

let library: NodeCrypto | null = null;
let made = 0;

/** To be called when the process is idle: it takes 10 ms. */
export async function loadNodeCrypto(): Promise<void> {
  library ??= await import("node:crypto");
}

/** Loaded synchronously. It is part of the runtime, so no file is opened. */
export function nodeCrypto(): NodeCrypto {
  // deno-lint-ignore no-process-global -- an import of it would load all of it with the start
  return library ??= process.getBuiltinModule("node:crypto");
}

/** Of the text as UTF-8; returns 64 lower-case hexadecimal digits. */
export function sha256Hex(text: string): string {
  const node = libraryOfMany();
  return node === null ? sha256(UTF8.encode(text)).toHex() : node.hash("sha256", text, "hex");
}

/** Of the text as UTF-8; a text key is encoded likewise. Returns 32 bytes. */
export function hmacSha256(key: string | Uint8Array, text: string): Uint8Array {
  const node = libraryOfMany();
  if (node !== null) return node.createHmac("sha256", key).update(text).digest();
  return hmac(sha256, typeof key === "string" ? UTF8.encode(key) : key, UTF8.encode(text));
}

/** Null: it is not loaded, and few hashes have been computed. */
function libraryOfMany(): NodeCrypto | null {
  return library ?? (++made > FEW ? nodeCrypto() : null);
}

/** Cryptographically secure random bytes. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
