/** Reads strings in JSON text without a parser. */

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * The end of a string literal that starts at a position: its quote, or the first invalid character; negative:
 * it contains escapes.
 */
export function literalEnd(data: string, from: number): number {
  let escapes = false;
  for (let at = from; at < data.length; at++) {
    const code = data.charCodeAt(at);
    if (code === QUOTE || code < 32) return escapes ? -at : at;
    if (code !== BACKSLASH) continue;
    escapes = true;
    at++;
  }
  return data.length;
}

/** Null: not a string. */
export function unescaped(literal: string): string | null {
  try {
    return JSON.parse(`"${literal}"`);
  } catch {
    return null;
  }
}
