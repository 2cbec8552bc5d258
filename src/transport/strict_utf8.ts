/** Strict decoding of UTF-8. */

const strict = new TextDecoder("utf-8", { fatal: true });
/**
 * Replaces invalid bytes by U+FFFD. Takes a third of the time of the strict decoder, and a fiftieth for 100
 * KB of ASCII.
 */
const lenient = new TextDecoder();

/** Decodes UTF-8 and removes a byte order mark. Null: invalid UTF-8. */
export function strictUtf8(bytes: ArrayBuffer | Uint8Array): string | null {
  const text = lenient.decode(bytes);
  if (!text.includes("\ufffd")) return text;
  // U+FFFD may also have been sent, so the result is verified.
  try {
    return strict.decode(bytes);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    return null;
  }
}
