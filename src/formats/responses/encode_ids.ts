/**
 * Identifiers that an API of this format accepts: at most 64 characters, and those of items with the prefix of their
 * kind (OpenAI refuses others by name: "Expected an ID that begins with 'fc'").
 */

const LONGEST = 64;
const LEGAL = /^[\w.:-]{1,64}$/;

/** A call id as it is, or a short stand-in that is the same wherever the same id occurs. */
export function legalCallId(id: string): string {
  return LEGAL.test(id) ? id : `call_${digest(id)}`;
}

/** A name of an end user within the length that the format allows. */
export function legalUser(user: string): string {
  return user.length <= LONGEST ? user : `user_${digest(user)}`;
}

/** The item id if an API of this format would take it back. */
export function legalItemId(id: unknown, prefix: string): string | undefined {
  return typeof id === "string" && id.startsWith(prefix) && LEGAL.test(id) ? id : undefined;
}

/** Sixteen hexadecimal digits that stand for a text: two FNV-1a sums with different starts. Not a secret. */
function digest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}
