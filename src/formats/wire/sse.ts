/**
 * Server-sent events: parses bytes to frames, and serializes.
 *
 * The parser works on bytes and decodes only complete frames, so network chunks may be split anywhere, even
 * within a character. Line ends are LF, CRLF or CR (WHATWG HTML, "Interpreting an event stream"); comments
 * and fields other than `event` and `data` are ignored.
 */
import { Failure } from "../../exchange/failure.ts";
import type { Frame } from "../format.ts";

const LF = 10;
const CR = 13;

/** Maximum frame size from a provider, in bytes. Observed frames are below 1 MB, except generated images. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** Maximum number of lines per frame: multi-line JSON has some thousands. */
const MOST_LINES = 100_000;

/** Buffers larger than this are released after use. */
const KEPT_BYTES = 64 * 1024;

/** Shared by all streams: it decodes complete frames and has no state between them. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Parses a provider's bytes to frames. */
export class FrameReader {
  readonly #limit: number;
  #kept = new Uint8Array(0);
  #keptBytes = 0;
  /** The bytes so far end with a line end, so that another one at the start of the next chunk ends the frame. */
  #atLineStart = false;
  /** The bytes so far end with CR: a following LF is not a separate line end. */
  #lastWasCr = false;
  /** Number of lines of the incomplete frame. */
  #lines = 0;
  #first = true;

  constructor(limit: number = MAX_FRAME_BYTES) {
    this.#limit = limit;
  }

  /** Appends the frames completed by these bytes. The caller may reuse the bytes afterwards. */
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
    const tooMany = this.#lines > MOST_LINES;
    if (tooMany || this.#keptBytes + bytes.length - end > this.#limit) {
      this.#keptBytes = 0;
      throw tooMany ? tooLarge(MOST_LINES, "lines") : tooLarge(this.#limit, "bytes");
    }
    this.#keep(bytes.subarray(end));
  }

  /** Appends the last frame, for providers that omit the final empty line. */
  end(out: Frame[]): void {
    if (this.#keptBytes > 0) this.#split(this.#takeKept(), out);
  }

  /** Number of buffered bytes of an incomplete frame. */
  get pending(): number {
    return this.#keptBytes;
  }

  /** The bytes so far end inside a line. */
  get inFrame(): boolean {
    return this.#keptBytes > 0 && !this.#atLineStart;
  }

  /** At the start of an event other than the first. */
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
   * Index after the last empty line in these bytes, 0: none. Keeps state between chunks, so that boundaries
   * split by the network are recognised.
   */
  #lastBoundary(bytes: Uint8Array): number {
    const length = bytes.length;
    // Fast path: most reads end with a complete frame.
    if (length > 1 && bytes[length - 1] === LF && bytes[length - 2] === LF) {
      this.#atLineStart = true;
      this.#lastWasCr = false;
      this.#lines = 0;
      return length;
    }
    let boundary = 0;
    let lines = this.#lines;
    let lineStart = this.#atLineStart;
    let wasCr = this.#lastWasCr;
    // The next line ends from i on, found by native search, since most bytes are within lines.
    let lf = -1;
    let cr = -1;
    let i = 0;
    while (i < length) {
      const byte = bytes[i];
      if (byte === LF) {
        if (!wasCr) {
          lines++;
          if (lineStart) {
            boundary = i + 1;
            lines = 0;
          }
          lineStart = true;
        } else if (i > 0 && boundary === i) boundary = i + 1;
        wasCr = false;
        i++;
      } else if (byte === CR) {
        lines++;
        if (lineStart) {
          boundary = i + 1;
          lines = 0;
        }
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
    this.#lines = lines;
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

/** The method of Buffer takes twice as long. */
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
      if (++lines > MOST_LINES) throw tooLarge(MOST_LINES, "lines");
      const value = text.slice(text.charCodeAt(at + 5) === 32 ? at + 6 : at + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith("event:", at)) {
      event = text.slice(text.charCodeAt(at + 6) === 32 ? at + 7 : at + 6, end);
    } else if (end - at === 4 && text.startsWith("data", at)) data = data === undefined ? "" : `${data}\n`;
    at = end + 1;
  }
  if (data !== undefined) out.push({ event, data });
}

function tooLarge(most: number, what: string): Failure {
  return new Failure(
    "provider_unavailable",
    `The provider sent a stream frame that is too large: expected at most ${most} ${what}.`,
  );
}

/** A frame without a name. The data must not contain line ends, as in JSON. */
export function dataFrame(data: string): string {
  return `data: ${data}\n\n`;
}

/** A named frame. */
export function eventFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export const DONE = "data: [DONE]\n\n";
