/**
 * Looks at the frames that a caller sends over HTTP/2 (RFC 9113), as they pass by. Whoever reads them behind takes as many as are
 * there in one go: heads without an end, and frames that ask for nothing but work, have to be bounded before.
 */
import { MAX_HEAD_BYTES } from "./head.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME_HEAD_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const END_STREAM = 1;
const END_HEADERS = 4;
/** Frames that carry nothing of a request, and no room for an answer: so many at once, and each second. */
const MOST_EMPTY = 2000;

export class Http2Watch {
  readonly #now: () => number;
  /** Bytes of the preface that have come. */
  #preface = 0;
  /** Bytes of a frame's payload that are still to come. */
  #skip = 0;
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES);
  #headBytes = 0;
  /** Of the head that has begun. */
  #block = 0;
  #empty = 0;
  #since = -Infinity;
  #reset = false;

  /** @param now milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the bytes that were looked at last end a request before its answer. */
  get reset(): boolean {
    return this.#reset;
  }

  /** False: the caller sends what no client sends, and is to be left. */
  allows(bytes: Uint8Array): boolean {
    this.#reset = false;
    let at = 0;
    // Without it, whoever reads behind would take all that comes for HTTP/1.1.
    while (this.#preface < PREFACE.length && at < bytes.length) {
      if (bytes[at++] !== PREFACE[this.#preface++]) return false;
    }
    while (at < bytes.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      this.#head[this.#headBytes++] = bytes[at++];
      if (this.#headBytes < FRAME_HEAD_BYTES) continue;
      this.#headBytes = 0;
      if (!this.#frame()) return false;
    }
    return true;
  }

  #frame(): boolean {
    const [high, middle, low, type, flags] = this.#head;
    const length = this.#skip = (high << 16) | (middle << 8) | low;
    if (type === HEADERS || type === CONTINUATION) {
      // A frame counts also where it is empty.
      this.#block = (type === HEADERS ? 0 : this.#block) + FRAME_HEAD_BYTES + length;
      if (this.#block > MAX_HEAD_BYTES) return false;
      return type === HEADERS || (flags & END_HEADERS) !== 0 || this.#counts();
    }
    this.#reset ||= type === RST_STREAM;
    const carries = type === DATA && (length > 0 || (flags & END_STREAM) !== 0);
    return carries || type === WINDOW_UPDATE || this.#counts();
  }

  /** One more that carries nothing. */
  #counts(): boolean {
    if (++this.#empty <= MOST_EMPTY) return true;
    const now = this.#now();
    if (now - this.#since < 1000) return false;
    this.#since = now;
    this.#empty = 1;
    return true;
  }
}
