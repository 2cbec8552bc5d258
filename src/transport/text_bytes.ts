/**
 * Encodes texts as UTF-8 into shared memory blocks: allocating and freeing memory for each text costs more
 * than encoding it.
 */

/** Size of a shared block. It is freed when no text in it is used any more. */
const SHARED_BYTES = 64 * 1024;
/** Longer texts get their own memory. */
const MOST_CHARACTERS = 4096;
/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const MOST_BYTES = 3;
/** Maximum bytes of a code unit in a JSON string, where it may be an escape sequence. */
const MOST_LITERAL_BYTES = 6;

const QUOTE = 34;
const QUESTION_MARK = 63;
const BACKSLASH = 92;

const encoder = new TextEncoder();
let shared = new Uint8Array(0);
let used = 0;

/** The returned bytes belong to the caller and are never overwritten. */
function utf8Of(text: string): Uint8Array {
  const most = text.length * MOST_BYTES;
  if (text.length > MOST_CHARACTERS) return encoder.encode(text);
  if (used + most > shared.length) {
    shared = new Uint8Array(SHARED_BYTES);
    used = 0;
  }
  const from = used;
  used += encoder.encodeInto(text, shared.subarray(from)).written;
  return shared.subarray(from, used);
}

/**
 * Concatenates pieces of bytes and text in the shared memory. The result must be taken before anything else
 * is encoded here.
 */
export class JoinedBytes {
  #from = -1;

  /** @param text written as a JSON string; must be short */
  addString(before: Uint8Array, text: string, behind: Uint8Array): void {
    const most = before.length + behind.length + text.length * MOST_LITERAL_BYTES + 2;
    if (this.#from < 0) this.#from = used;
    if (used + most > shared.length) {
      const begun = shared.subarray(this.#from, used);
      const larger = new Uint8Array(Math.max(SHARED_BYTES, 2 * (begun.length + most)));
      larger.set(begun);
      this.#from = 0;
      used = begun.length;
      shared = larger;
    }
    shared.set(before, used);
    const at = used + before.length;
    let to = putPlain(text, at);
    if (to < 0) to = at + encoder.encodeInto(JSON.stringify(text), shared.subarray(at)).written;
    shared.set(behind, to);
    used = to + behind.length;
  }

  take(): Uint8Array<ArrayBuffer> {
    const bytes = shared.subarray(this.#from, used);
    this.#from = -1;
    return bytes;
  }
}

/** Writes an ASCII text without escapes in quotes. Returns its end; negative: another kind of text. */
function putPlain(text: string, at: number): number {
  const bytes = shared;
  bytes[at++] = QUOTE;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code > 126 || code === QUOTE || code === BACKSLASH) return -1;
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  return at;
}

/** A head, one byte per character, followed by a text in UTF-8. */
export function headAndText(head: string, text: string, textBytes: number): Uint8Array {
  const bytes = utf8Of(head + text);
  if (bytes.length === head.length + textBytes) return bytes;
  // The head has non-ASCII characters.
  const joined = new Uint8Array(head.length + textBytes);
  putBytes(joined, head, 0);
  encoder.encodeInto(text, joined.subarray(head.length));
  return joined;
}

/** A head as bytes, one per character, as in HTTP. */
export function headBytes(head: string): Uint8Array {
  return headAndText(head, "", 0);
}

/**
 * Writes one byte per character. A character above U+00FF becomes a question mark, since its lower byte could
 * be a line break. For short texts a loop is faster than any function of Buffer.
 */
export function putBytes(into: Uint8Array, letters: string, at: number): void {
  for (let i = 0; i < letters.length; i++) {
    const code = letters.charCodeAt(i);
    into[at + i] = code < 256 ? code : QUESTION_MARK;
  }
}
