/** Values of request headers in error messages. */

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * A header's value as JSON, cut after so many characters. The bytes of a header arrive as Latin-1, but clients
 * write UTF-8.
 */
export function shownHeader(value: string, most: number): string {
  return JSON.stringify(written(value).slice(0, most).toWellFormed());
}

function written(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  try {
    return utf8.decode(Uint8Array.from(value, (character) => character.charCodeAt(0)));
  } catch {
    return value;
  }
}
