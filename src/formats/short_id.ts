/** Short replacements for identifiers that exceed an API's length limit. */

/** OpenAI's maximum length of `user`. */
const LONGEST_USER = 64;

/** OpenAI's maximum length of `prompt_cache_key`. */
const LONGEST_CACHE_KEY = 64;

/** An end user id within the API's length limit; default: OpenAI's. */
export function legalUser(user: string, longest = LONGEST_USER): string {
  return user.length <= longest ? user : `user_${digest(user)}`;
}

/** A `prompt_cache_key` within OpenAI's length limit. */
export function legalCacheKey(key: string): string {
  return key.length <= LONGEST_CACHE_KEY ? key : `key_${digest(key)}`;
}

/**
 * Sixteen hexadecimal digits derived from a text: two FNV-1a hashes with different initial values. Not
 * cryptographic.
 */
export function digest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}
