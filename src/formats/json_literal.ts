/** Strings in the text of JSON, read without a parser. */

const QUOTE = 34;
const BACKSLASH = 92;

/** Where a string that begins there ends, at its quote or where it is not one any more; negative: it has escapes. */
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

/** Null: it is no string. */
export function unescaped(literal: string): string | null {
  try {
    return JSON.parse(`"${literal}"`);
  } catch {
    return null;
  }
}
