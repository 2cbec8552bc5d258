/**
 * Texts as UTF-8, side by side in a piece of memory that many share: to make and free the memory of each text by itself costs
 * more than to write it.
 */

/** What is shared at a time. It is free once no text in it is needed any more. */
const SHARED_BYTES = 64 * 1024;
/** A longer text has memory of its own. */
const MOST_CHARACTERS = 4096;
/** Of one UTF-16 unit. */
const MOST_BYTES = 3;
/** The same in a string of JSON, where it may have to be written as an escape. */
const MOST_LITERAL_BYTES = 6;

const QUOTE = 34;
const QUESTION_MARK = 63;
const BACKSLASH = 92;

const encoder = new TextEncoder();
let shared = new Uint8Array(0);
let used = 0;

/** The bytes are the caller's to keep; nothing else is written to them. */
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
 * Pieces of bytes and text between them, one after the other in the shared memory. What is added is to be taken before anything else is
 * written here.
 */
export class JoinedBytes {
  #from = -1;

  /** @param text is written as a string of JSON; not a long one */
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

/** A text of ASCII that needs no escapes, in quotes. Gives where it ends; negative: it is another text. */
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

/** A head, a byte for each of its letters, and the text behind it in UTF-8. */
export function headAndText(head: string, text: string, textBytes: number): Uint8Array {
  const bytes = utf8Of(head + text);
  if (bytes.length === head.length + textBytes) return bytes;
  // The head has letters beyond ASCII.
  const joined = new Uint8Array(head.length + textBytes);
  putBytes(joined, head, 0);
  encoder.encodeInto(text, joined.subarray(head.length));
  return joined;
}

/** A head as bytes: one for each character, as HTTP has it. */
export function headBytes(head: string): Uint8Array {
  return headAndText(head, "", 0);
}

/**
 * Letters as a byte each. One that takes two bytes becomes a question mark: the lower byte of some is a line break. For few letters a
 * loop is faster than any function of Buffer.
 */
export function putBytes(into: Uint8Array, letters: string, at: number): void {
  for (let i = 0; i < letters.length; i++) {
    const code = letters.charCodeAt(i);
    into[at + i] = code < 256 ? code : QUESTION_MARK;
  }
}
