/**
 * Secrets of keys: generation, and the keyed hash, which is all that is stored.
 *
 * A secret has 40 of 62 possible characters, 238 bits, so a slow hash is not needed. The pepper prevents that
 * a copied database alone suffices to verify a guess.
 */
import { base64url, hmacSha256, randomBytes } from "../../exchange/hashes.ts";

const PREFIX = "sk_live_";
const TOKEN_PREFIX = "sk_admin_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The secret of a new API key: a prefix and 40 random characters. */
export function newSecret(): string {
  return PREFIX + randomText(40);
}

/** The secret of an administration token. */
export function newTokenSecret(): string {
  return TOKEN_PREFIX + randomText(40);
}

/** A prefix and 20 random characters. */
export function newId(prefix: string): string {
  return prefix + randomText(20);
}

/** Bytes from 248 on are discarded: 256 is not a multiple of 62, so the first letters would be more frequent. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** Whether the text can be a secret; anything else is rejected without hashing. */
export function looksLikeSecret(text: string): boolean {
  return text.length > PREFIX.length && text.length <= 512 && text.startsWith(PREFIX);
}

/** Whether a text has the form of an administration token. */
export function looksLikeToken(text: string): boolean {
  return text.length > TOKEN_PREFIX.length && text.length <= 512 && text.startsWith(TOKEN_PREFIX);
}

/** HMAC-SHA-256 under the pepper, as base64url without padding: 43 characters. */
export function hashSecret(secret: string, pepper: string): string {
  return base64url(hmacSha256(pepper, secret));
}

/** A key for another purpose; it reveals nothing about the pepper. */
export function derive(pepper: string, purpose: string): Uint8Array {
  return hmacSha256(pepper, `key for ${purpose}`);
}

/** 256 random bits as base64url. */
export function newPepper(): string {
  return base64url(randomBytes(32));
}
