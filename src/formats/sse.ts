/**
 * Server-sent events: bytes to frames and back.
 *
 * The reader works on bytes and decodes only whole frames, so a network chunk may end anywhere, inside a character
 * included. Line ends are LF, CRLF or CR (WHATWG HTML, "Interpreting an event stream"); comments and fields other than
 * `event` and `data` are passed over.
 */
import { Failure } from "../exchange/failure.ts";
import type { Frame } from "./format.ts";

const LF = 10;
const CR = 13;

/** Largest frame taken from a provider, in bytes. Recorded ones stay under 1 MB; images that a model draws do not. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** Cuts a provider's bytes into frames. */
export class FrameReader {
  readonly #decoder = new TextDecoder();
  readonly #limit: number;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  /** The kept bytes end in a line end, so that one more at the start of the next chunk ends the frame. */
  #atLineStart = false;
  #lastWasCr = false;
  #first = true;

  constructor(limit: number = MAX_FRAME_BYTES) {
    this.#limit = limit;
  }

  /** Frames that these bytes complete. The bytes may be reused by the caller afterwards. */
  push(bytes: Uint8Array, out: Frame[]): void {
    const end = this.#lastBoundary(bytes);
    if (end === 0) return this.#keep(bytes);
    let text: string;
    if (this.#keptBytes === 0) text = this.#decoder.decode(bytes.subarray(0, end));
    else {
      this.#keep(bytes.subarray(0, end));
      text = this.#takeKept();
    }
    if (end < bytes.length) this.#keep(bytes.subarray(end));
    this.#split(text, out);
  }

  /** The frame that the end of the bytes completes, when a provider leaves out the last blank line. */
  end(out: Frame[]): void {
    if (this.#keptBytes > 0) this.#split(this.#takeKept(), out);
  }

  /** Bytes held that belong to no whole frame yet. */
  get pending(): number {
    return this.#keptBytes;
  }

  #keep(bytes: Uint8Array): void {
    if (this.#keptBytes + bytes.length > this.#limit) {
      this.#kept = [];
      this.#keptBytes = 0;
      throw new Failure(
        "provider_unavailable",
        `The provider sent a stream frame that is too large: expected at most ${this.#limit} bytes.`,
      );
    }
    if (bytes.length === 0) return;
    this.#kept.push(bytes.slice());
    this.#keptBytes += bytes.length;
  }

  #takeKept(): string {
    let whole = this.#kept[0];
    if (this.#kept.length > 1) {
      whole = new Uint8Array(this.#keptBytes);
      let at = 0;
      for (const piece of this.#kept) {
        whole.set(piece, at);
        at += piece.length;
      }
    }
    this.#kept = [];
    this.#keptBytes = 0;
    return this.#decoder.decode(whole);
  }

  /**
   * Index just behind the last blank line of these bytes, 0 when there is none. Remembers over chunks whether a line
   * has just ended, so that a boundary cut by the network is seen.
   */
  #lastBoundary(bytes: Uint8Array): number {
    let boundary = 0;
    let lineStart = this.#atLineStart;
    let wasCr = this.#lastWasCr;
    let i = 0;
    const length = bytes.length;
    while (i < length) {
      const byte = bytes[i];
      if (byte === LF) {
        if (wasCr) {
          wasCr = false;
          if (boundary === i) boundary = i + 1;
        } else {
          if (lineStart) boundary = i + 1;
          lineStart = true;
        }
        i++;
      } else if (byte === CR) {
        if (lineStart) boundary = i + 1;
        lineStart = true;
        wasCr = true;
        i++;
      } else {
        lineStart = false;
        wasCr = false;
        i = nextLineEnd(bytes, i + 1);
      }
    }
    this.#atLineStart = lineStart;
    this.#lastWasCr = wasCr;
    return boundary;
  }

  #split(text: string, out: Frame[]): void {
    if (this.#first) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    let at = 0;
    while (at < text.length) {
      let end = text.indexOf("\n\n", at);
      if (end < 0) end = text.length;
      if (end > at) readFrame(text, at, end, out);
      at = end + 2;
    }
  }
}

/** Index of the next CR or LF at or after `from`. Native search: most of a stream is inside lines. */
function nextLineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(LF, from);
  const end = lf < 0 ? bytes.length : lf;
  // A lone CR as a line end is legal and has never been seen; CRLF puts it just before the LF.
  if (end > from && bytes[end - 1] === CR) return end - 1;
  return end;
}

function readFrame(text: string, from: number, to: number, out: Frame[]): void {
  let event = "";
  let data: string | undefined;
  let at = from;
  while (at < to) {
    let end = text.indexOf("\n", at);
    if (end < 0 || end > to) end = to;
    if (text.startsWith("data:", at)) {
      const value = text.slice(text.charCodeAt(at + 5) === 32 ? at + 6 : at + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith("event:", at)) {
      event = text.slice(text.charCodeAt(at + 6) === 32 ? at + 7 : at + 6, end);
    } else if (end - at === 4 && text.startsWith("data", at)) data = data === undefined ? "" : `${data}\n`;
    at = end + 1;
  }
  if (data !== undefined) out.push({ event, data });
}

/** A frame without a name. The data must hold no line end, which JSON never does. */
export function dataFrame(data: string): string {
  return `data: ${data}\n\n`;
}

/** A named frame. */
export function eventFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export const DONE = "data: [DONE]\n\n";
