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

/** Most lines of data of a frame: JSON that is written over lines has some thousands. */
const MOST_LINES = 100_000;

/** A buffer that a large frame made larger than this is given back once it is read. */
const KEPT_BYTES = 64 * 1024;

/** One for all streams: it is given whole frames, and keeps nothing between them. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Cuts a provider's bytes into frames. */
export class FrameReader {
  readonly #limit: number;
  #kept = new Uint8Array(0);
  #keptBytes = 0;
  /** The bytes so far end in a line end, so that one more at the start of the next chunk ends the frame. */
  #atLineStart = false;
  /** The bytes so far end in a CR: an LF behind it is no line end of its own. */
  #lastWasCr = false;
  #first = true;

  constructor(limit: number = MAX_FRAME_BYTES) {
    this.#limit = limit;
  }

  /** Frames that these bytes complete. The bytes may be reused by the caller afterwards. */
  push(bytes: Uint8Array, out: Frame[]): void {
    const end = this.#lastBoundary(bytes);
    if (end > 0) {
      const whole = end === bytes.length ? bytes : bytes.subarray(0, end);
      if (this.#keptBytes === 0) this.#split(decoder.decode(whole), out);
      else {
        this.#keep(whole);
        this.#split(this.#takeKept(), out);
      }
    }
    if (end === bytes.length) return;
    if (this.#keptBytes + bytes.length - end > this.#limit) {
      this.#keptBytes = 0;
      throw new Failure(
        "provider_unavailable",
        `The provider sent a stream frame that is too large: expected at most ${this.#limit} bytes.`,
      );
    }
    this.#keep(bytes.subarray(end));
  }

  /** The frame that the end of the bytes completes, when a provider leaves out the last blank line. */
  end(out: Frame[]): void {
    if (this.#keptBytes > 0) this.#split(this.#takeKept(), out);
  }

  /** Bytes held that belong to no whole frame yet. */
  get pending(): number {
    return this.#keptBytes;
  }

  /** The next byte begins an event, and it is not the first. */
  get atEvent(): boolean {
    return this.#keptBytes === 0 && !this.#first && !this.#lastWasCr;
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#keptBytes + bytes.length;
    if (length > this.#kept.length) {
      const larger = new Uint8Array(Math.max(length, this.#kept.length * 2));
      larger.set(this.#kept.subarray(0, this.#keptBytes));
      this.#kept = larger;
    }
    this.#kept.set(bytes, this.#keptBytes);
    this.#keptBytes = length;
  }

  #takeKept(): string {
    const text = decoder.decode(this.#kept.subarray(0, this.#keptBytes));
    this.#keptBytes = 0;
    if (this.#kept.length > KEPT_BYTES) this.#kept = new Uint8Array(0);
    return text;
  }

  /**
   * Index just behind the last blank line of these bytes, 0 when there is none. Remembers over chunks whether a line
   * has just ended, so that a boundary cut by the network is seen.
   */
  #lastBoundary(bytes: Uint8Array): number {
    const length = bytes.length;
    // As most reads end, which bring whole frames.
    if (length > 1 && bytes[length - 1] === LF && bytes[length - 2] === LF) {
      this.#atLineStart = true;
      this.#lastWasCr = false;
      return length;
    }
    let boundary = 0;
    let lineStart = this.#atLineStart;
    let wasCr = this.#lastWasCr;
    // The next ones at or behind i; found by native search, since most of a stream is inside lines.
    let lf = -1;
    let cr = -1;
    let i = 0;
    while (i < length) {
      const byte = bytes[i];
      if (byte === LF) {
        if (!wasCr) {
          if (lineStart) boundary = i + 1;
          lineStart = true;
        } else if (i > 0 && boundary === i) boundary = i + 1;
        wasCr = false;
        i++;
      } else if (byte === CR) {
        if (lineStart) boundary = i + 1;
        lineStart = true;
        wasCr = true;
        i++;
      } else {
        lineStart = false;
        wasCr = false;
        if (lf < i) lf = indexOr(bytes, LF, i, length);
        if (cr < i) cr = indexOr(bytes, CR, i, length);
        i = lf < cr ? lf : cr;
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

/** That of a Buffer takes twice as long. */
const { indexOf } = Uint8Array.prototype;

function indexOr(bytes: Uint8Array, byte: number, from: number, none: number): number {
  const at = indexOf.call(bytes, byte, from);
  return at < 0 ? none : at;
}

function readFrame(text: string, from: number, to: number, out: Frame[]): void {
  let event = "";
  let data: string | undefined;
  let lines = 0;
  let at = from;
  while (at < to) {
    let end = text.indexOf("\n", at);
    if (end < 0 || end > to) end = to;
    if (text.startsWith("data:", at)) {
      if (++lines > MOST_LINES) throw tooManyLines();
      const value = text.slice(text.charCodeAt(at + 5) === 32 ? at + 6 : at + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith("event:", at)) {
      event = text.slice(text.charCodeAt(at + 6) === 32 ? at + 7 : at + 6, end);
    } else if (end - at === 4 && text.startsWith("data", at)) data = data === undefined ? "" : `${data}\n`;
    at = end + 1;
  }
  if (data !== undefined) out.push({ event, data });
}

function tooManyLines(): Failure {
  return new Failure(
    "provider_unavailable",
    `The provider sent a stream frame that is too large: expected at most ${MOST_LINES} lines of data.`,
  );
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
