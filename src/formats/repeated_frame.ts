/**
 * A stream's frames that differ in nothing but the text they bring: thousands of them follow one another, and to parse the JSON of each
 * takes ten times as long as to see that it is the frame before with another text.
 *
 * Padding against the guessing of tokens by their lengths, of OpenAI, may differ too.
 */
import type { Frame } from "./format.ts";
import { literalEnd, unescaped } from "./json_literal.ts";

const PADDING = '"obfuscation":"';
/** Where so many frames in a row were learnt for nothing, each is another: no more of them are learnt. */
const MOST_IN_VAIN = 16;
/** A longer frame is not kept. */
const MOST_CHARACTERS = 8192;

/** Bytes that were looked at in vain so often come otherwise than they are known: they are not looked at any more. */
const MOST_UNKNOWN = 16;

/** A longer text is decoded. */
const FEW_LETTERS = 24;

const QUOTE = 34;
const BACKSLASH = 92;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class RepeatedFrame {
  #event = "";
  /** Up to the text; null: no frame is known. */
  #before: string | null = null;
  /** From the text on, or up to the padding. */
  #behind = "";
  /** Behind the padding; null: there is none. */
  #end: string | null = null;
  #inVain = 0;
  /** The frame learnt, as most providers write it; null: it is not needed yet, or no more. */
  #bytes: KnownBytes | null = null;
  #unknown = 0;
  /** Of the memory that the bytes of the last read are in. */
  #view: DataView | null = null;
  /** Of the frame that {@link knows} found. */
  text = "";
  /** Where that ends. */
  end = 0;

  /**
   * Whether a whole server-sent event begins there in the bytes that is the one learnt last but for its text, which is in `text` then. Of
   * texts with escapes, and of all other frames, nothing is said.
   */
  knows(bytes: Uint8Array, from: number): boolean {
    const known = this.#bytes;
    if (known === null || !this.#reads(known, bytes, from)) return false;
    this.#unknown = 0;
    return true;
  }

  #reads({ before, behind, end }: KnownBytes, bytes: Uint8Array, from: number): boolean {
    const { buffer, byteOffset, length } = bytes;
    // The reads of a stream are mostly of one buffer.
    if (this.#view?.buffer !== buffer) this.#view = new DataView(buffer);
    const view = this.#view;
    const limit = byteOffset + length;
    const start = from + before.bytes.length;
    if (!isAt(before, view, byteOffset + from, limit)) return false;
    const quote = plainEnd(bytes, start);
    let to = quote + behind.bytes.length;
    if (!isAt(behind, view, byteOffset + quote, limit)) return false;
    if (end !== null) {
      const close = plainEnd(bytes, to);
      if (!isAt(end, view, byteOffset + close, limit)) return false;
      to = close + end.bytes.length;
    }
    this.text = letters(bytes, start, quote);
    this.end = to;
    return true;
  }

  /** The frame learnt came once more, and its bytes were not known. */
  #learnBytes(): void {
    if (++this.#unknown > MOST_UNKNOWN) return void (this.#bytes = null);
    if (this.#bytes !== null) return;
    const name = this.#event === "" ? "" : `event: ${this.#event}\n`;
    const end = this.#end;
    this.#bytes = {
      before: known(`${name}data: ${this.#before}`),
      behind: known(end === null ? `${this.#behind}\n\n` : this.#behind),
      end: end === null ? null : known(`${end}\n\n`),
    };
  }

  /**
   * The text of a frame that is the one learnt last but for it, as it would be parsed. Null: it is another frame, and as long as nothing
   * new is learnt, so is every later one.
   */
  textOf({ event, data, value }: Frame): string | null {
    const before = this.#before;
    if (before === null) return null;
    const from = before.length;
    // Of slices: `startsWith` goes letter by letter.
    if (value === undefined && event === this.#event && data.slice(0, from) === before) {
      const to = literalEnd(data, from);
      if (this.#goesOn(data, Math.abs(to))) {
        const text = to >= 0 ? data.slice(from, to) : unescaped(data.slice(from, -to));
        if (text !== null) {
          this.#inVain = 0;
          this.#learnBytes();
          return text;
        }
      }
    }
    this.#before = this.#bytes = null;
    return null;
  }

  /**
   * @param field names the text, at whichever depth; what else the frame says must mean nothing new when it comes once more
   */
  learn({ event, data }: Frame, field: string): void {
    if (++this.#inVain > MOST_IN_VAIN || data.length > MOST_CHARACTERS || data.includes("\\")) return;
    // Of several lines: their bytes have "data:" before each.
    if (data.includes("\n")) return;
    const name = `"${field}"`;
    const at = data.indexOf(name);
    const from = at + name.length + 2;
    // Without escapes a name in quotes is nothing else. Where it is there once, and the frame has the field, it is that field.
    if (at < 0 || !data.startsWith(':"', at + name.length) || data.indexOf(name, from) >= 0) return;
    const to = data.indexOf('"', from);
    this.#event = event;
    this.#bytes = null;
    this.#before = data.slice(0, from);
    const padding = data.indexOf(PADDING, to);
    const start = padding + PADDING.length;
    this.#behind = padding < 0 ? data.slice(to) : data.slice(to, start);
    this.#end = padding < 0 ? null : data.slice(data.indexOf('"', start));
  }

  /** Whether the frame goes on as the one learnt behind its text, which ends there. */
  #goesOn(data: string, at: number): boolean {
    const behind = this.#behind;
    const end = this.#end;
    if (end === null) return data.length === at + behind.length && data.slice(at) === behind;
    const padding = at + behind.length;
    if (data.slice(at, padding) !== behind) return false;
    const close = literalEnd(data, padding);
    return close >= 0 && data.length === close + end.length && data.slice(close) === end;
  }
}

interface KnownBytes {
  /** Up to the text. */
  before: Known;
  /** From the text on, or up to the padding. */
  behind: Known;
  /** Behind the padding; null: there is none. */
  end: Known | null;
}

/** Bytes to compare with, four at a time: one by one takes three times as long. */
interface Known {
  bytes: Uint8Array;
  view: DataView;
}

function known(text: string): Known {
  const bytes = encoder.encode(text);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** @param at where in the view the bytes may stand, which end at `to` at the latest */
function isAt({ bytes, view: known }: Known, view: DataView, at: number, to: number): boolean {
  const { length } = bytes;
  if (at + length > to) return false;
  let i = 0;
  for (; i + 4 <= length; i += 4) if (known.getInt32(i) !== view.getInt32(at + i)) return false;
  for (; i < length; i++) if (bytes[i] !== view.getUint8(at + i)) return false;
  return true;
}

/** Where letters end that a string of JSON has as they are. */
function plainEnd(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE || byte === BACKSLASH || byte < 32) break;
  }
  return at;
}

function letters(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > FEW_LETTERS) return decoder.decode(bytes.subarray(from, to));
  for (let at = from; at < to; at++) if (bytes[at] > 126) return decoder.decode(bytes.subarray(from, to));
  // For few letters of ASCII this is many times as fast as the decoder.
  let text = "";
  let at = from;
  for (; at + 4 <= to; at += 4) {
    text += String.fromCharCode(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
  }
  for (; at < to; at++) text += String.fromCharCode(bytes[at]);
  return text;
}
