/**
 * Decodes frames of a stream that differ only in their text: thousands of them follow one another, and
 * parsing each takes ten times as long as detecting this.
 *
 * OpenAI's padding, which hides token lengths, may differ too.
 */
import type { Frame } from "../format.ts";
import { literalEnd, unescaped } from "./json_literal.ts";

const PADDING = '"obfuscation":"';
/** After this many remembered frames in a row without a match, no more are remembered. */
const MOST_IN_VAIN = 16;
/** Maximum length of remembered frames. */
const MOST_CHARACTERS = 8192;

/** After this many reads without a match, bytes are no longer compared. */
const MOST_UNKNOWN = 16;

/** Longer texts are decoded with TextDecoder. */
const FEW_LETTERS = 24;

const QUOTE = 34;
const BACKSLASH = 92;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class RepeatedFrame {
  #event = "";
  /** The frame up to its text; null: no frame is remembered. */
  #before: string | null = null;
  /** The frame after its text, or up to the padding. */
  #behind = "";
  /** The frame after the padding; null: no padding. */
  #end: string | null = null;
  #inVain = 0;
  /** The frame as bytes, as most providers write it; null: not needed yet, or given up. */
  #bytes: KnownBytes | null = null;
  #unknown = 0;
  /** A view of the buffer of the last read. */
  #view: DataView | null = null;
  /** The text of the frame matched by {@link knows}. */
  text = "";
  /** The end of that frame. */
  end = 0;

  /**
   * Whether the bytes contain, from a position on, a complete server-sent event that equals the remembered
   * one except for its text, which is stored in `text`. False for texts with escapes and all other frames.
   */
  knows(bytes: Uint8Array, from: number): boolean {
    const known = this.#bytes;
    if (known === null || !this.#reads(known, bytes, from)) return false;
    this.#unknown = 0;
    return true;
  }

  #reads({ before, behind, end }: KnownBytes, bytes: Uint8Array, from: number): boolean {
    const { buffer, byteOffset, length } = bytes;
    // Reads of a stream mostly use the same buffer.
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

  /** Called when the frame occurred again but its bytes did not match. */
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
   * The parsed text of a frame that otherwise equals the remembered one. Null: another frame; then, until a
   * new one is remembered, so are all later ones.
   */
  textOf({ event, data, value }: Frame): string | null {
    const before = this.#before;
    if (before === null) return null;
    const from = before.length;
    // Compares slices: `startsWith` compares character by character.
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

  /** @param field name of the text field, at any depth; repeating the frame's other fields must have no effect */
  learn({ event, data }: Frame, field: string): void {
    if (++this.#inVain > MOST_IN_VAIN || data.length > MOST_CHARACTERS || data.includes("\\")) return;
    // Data in several lines is not supported.
    if (data.includes("\n")) return;
    const name = `"${field}"`;
    const at = data.indexOf(name);
    const from = at + name.length + 2;
    // A quoted name without escapes can only be a field. If it occurs once, and the frame has the field, it
    // is that field.
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

  /** Whether the frame continues like the remembered one after its text. */
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
  /** After the text, or up to the padding. */
  behind: Known;
  /** After the padding; null: no padding. */
  end: Known | null;
}

/** Bytes to compare, four at a time: comparing single bytes takes three times as long. */
interface Known {
  bytes: Uint8Array;
  view: DataView;
}

function known(text: string): Known {
  const bytes = encoder.encode(text);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** @param at position in the view; the bytes must end at `to` or before */
function isAt({ bytes, view: known }: Known, view: DataView, at: number, to: number): boolean {
  const { length } = bytes;
  if (at + length > to) return false;
  let i = 0;
  for (; i + 4 <= length; i += 4) if (known.getInt32(i) !== view.getInt32(at + i)) return false;
  for (; i < length; i++) if (bytes[i] !== view.getUint8(at + i)) return false;
  return true;
}

/** The end of characters that need no escape in a JSON string. */
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
  // For short ASCII texts this is many times faster than TextDecoder.
  let text = "";
  let at = from;
  for (; at + 4 <= to; at += 4) {
    text += String.fromCharCode(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
  }
  for (; at < to; at++) text += String.fromCharCode(bytes[at]);
  return text;
}
