/**
 * Secrets of keys: how one is made, and the keyed hash that is all the store ever holds.
 *
 * A secret has 40 characters of 62, 238 bits, so no slow hash is needed: the pepper is there so that a copied database
 * alone cannot even confirm a guess.
 */
import { base64url, hmacSha256, randomBytes } from "../../exchange/hashes.ts";

const PREFIX = "sk_live_";
const TOKEN_PREFIX = "sk_admin_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The secret of a new API key: the prefix of keys and 40 random characters. */
export function newSecret(): string {
  return PREFIX + randomText(40);
}

/** A secret of a token of the administration. */
export function newTokenSecret(): string {
  return TOKEN_PREFIX + randomText(40);
}

/** A prefix and 20 random characters. */
export function newId(prefix: string): string {
  return prefix + randomText(20);
}

/** Bytes from 248 on are thrown away, since 256 is no multiple of 62 and the first letters would come more often. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** What can be a secret at all; anything else is refused without hashing it. */
export function looksLikeSecret(text: string): boolean {
  return text.length > PREFIX.length && text.length <= 512 && text.startsWith(PREFIX);
}

/** Whether a text has the form of an administration token. It need not be one. */
export function looksLikeToken(text: string): boolean {
  return text.length > TOKEN_PREFIX.length && text.length <= 512 && text.startsWith(TOKEN_PREFIX);
}

/** HMAC-SHA-256 under the pepper, as base64url without padding: 43 characters. */
export function hashSecret(secret: string, pepper: string): string {
  return base64url(hmacSha256(pepper, secret));
}

/** A key for something else than secrets: whoever has it knows nothing of the pepper. */
export function derive(pepper: string, purpose: string): Uint8Array {
  return hmacSha256(pepper, `key for ${purpose}`);
}

/** 256 random bits as base64url. */
export function newPepper(): string {
  return base64url(randomBytes(32));
}
