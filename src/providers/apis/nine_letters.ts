/** Ids of tool calls as Mistral requires them: nine letters and digits. */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Deterministic, so that a repeated prompt matches a prompt cache. */
export function nineLettersOf(id: unknown): unknown {
  if (typeof id !== "string" || /^[a-zA-Z\d]{9}$/.test(id)) return id;
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let i = 0; i < id.length; i++) {
    a = Math.imul(a ^ id.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ id.charCodeAt(id.length - 1 - i), 0x01000193);
  }
  return letters(a >>> 0, 5) + letters(b >>> 0, 4);
}

function letters(number: number, count: number): string {
  let text = "";
  for (let rest = number; text.length < count; rest = Math.floor(rest / DIGITS.length)) {
    text += DIGITS[rest % DIGITS.length];
  }
  return text;
}
