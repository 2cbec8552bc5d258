/** Short stand-ins for identifiers that an API would refuse for their length. */

/** Most characters that OpenAI takes of a user's name. */
const LONGEST_USER = 64;

/** A name of an end user within the length that an API allows; OpenAI's unless another is said. */
export function legalUser(user: string, longest = LONGEST_USER): string {
  return user.length <= longest ? user : `user_${digest(user)}`;
}

/** Sixteen hexadecimal digits that stand for a text: two FNV-1a sums with different starts. Not a secret. */
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
