/**
 * Inspects HTTP/2 frames (RFC 9113) as they are relayed.
 *
 * Those of a client: the HTTP/2 implementation processes everything that has arrived at once, so unbounded
 * header blocks and floods of frames without effect must be limited before it. Those of the server: only a part
 * of an answer is progress for the client.
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
/** Limit for frames that carry no part of a request and no needed flow-control window: this many at once, and per second. */
const MOST_EMPTY = 2000;
/**
 * A client sends at most two WINDOW_UPDATE frames for each DATA frame that it receives, for the stream and for the connection, and as
 * many when it opens a stream. Further ones have no effect.
 */
const WINDOWS = 2;

/** The work of frames that reach the gateway, in frames that the HTTP/2 implementation processes by itself. */
const WORK_OF_REQUEST = 48;
const WORK_OF_DATA = 16;

export class Http2Watch {
  readonly #now: () => number;
  /** Number of bytes received of the connection preface. */
  #preface = 0;
  /** Remaining bytes of the current frame's payload. */
  #skip = 0;
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES);
  #headBytes = 0;
  /** Size of the current header block. */
  #block = 0;
  /** Id of the last stream that the client has opened. */
  #lastId = 0;
  /** WINDOW_UPDATE frames that it may send without being counted. */
  #windows = 0;
  #empty = 0;
  #since = -Infinity;
  #reset = false;
  #cost = 0;

  /** @param now clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the last bytes contained RST_STREAM. */
  get reset(): boolean {
    return this.#reset;
  }

  /** The work that the frames make which began in the last bytes, in the unit of {@link InputPace}. */
  get cost(): number {
    return this.#cost;
  }

  /** False: the client sends what no regular client sends, and must be disconnected. */
  allows(bytes: Uint8Array): boolean {
    this.#reset = false;
    this.#cost = 0;
    let at = 0;
    // Without the preface, the HTTP/2 implementation would fall back to HTTP/1.1.
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

  /** Called when the client has been sent so many DATA frames. */
  sent(frames: number): void {
    this.#windows += WINDOWS * frames;
  }

  #frame(): boolean {
    const [high, middle, low, type, flags] = this.#head;
    const length = this.#skip = (high << 16) | (middle << 8) | low;
    this.#cost += type === HEADERS ? WORK_OF_REQUEST : type === DATA ? WORK_OF_DATA : 1;
    if (type === HEADERS || type === CONTINUATION) {
      // The frame header counts too, so that empty frames are limited.
      this.#block = (type === HEADERS ? 0 : this.#block) + FRAME_HEAD_BYTES + length;
      if (this.#block > MAX_HEAD_BYTES) return false;
      return type === HEADERS
        ? this.#opens() || this.#counts()
        : (flags & END_HEADERS) !== 0 || this.#counts();
    }
    this.#reset ||= type === RST_STREAM;
    if (type === DATA) return length > 0 || (flags & END_STREAM) !== 0 || this.#counts();
    if (type !== WINDOW_UPDATE || this.#windows === 0) return this.#counts();
    this.#windows--;
    return true;
  }

  /** Whether a header block opens a stream: another one is a trailer, or is of a stream that has ended. */
  #opens(): boolean {
    const [, , , , , first, second, third, fourth] = this.#head;
    const id = ((first & 0x7f) << 24) | (second << 16) | (third << 8) | fourth;
    if (id <= this.#lastId) return false;
    this.#lastId = id;
    this.#windows += WINDOWS;
    return true;
  }

  /** Counts a frame without effect. */
  #counts(): boolean {
    if (++this.#empty <= MOST_EMPTY) return true;
    const now = this.#now();
    if (now - this.#since < 1000) return false;
    this.#since = now;
    this.#empty = 1;
    return true;
  }
}

/** Follows the frames that the HTTP/2 implementation sends to a client. */
export class AnswerFrames {
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES);
  #headBytes = 0;
  /** Remaining bytes of the current frame's payload, and whether they belong to an answer. */
  #skip = 0;
  #carries = false;
  #dataFrames = 0;

  /** Number of DATA frames that began in the last bytes. */
  get dataFrames(): number {
    return this.#dataFrames;
  }

  /** Whether the bytes contain a part of an answer. */
  carry(bytes: Uint8Array): boolean {
    let carry = false;
    this.#dataFrames = 0;
    for (let at = 0; at < bytes.length;) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        this.#skip -= skipped;
        at += skipped;
        carry ||= this.#carries;
        continue;
      }
      this.#head[this.#headBytes++] = bytes[at++];
      if (this.#headBytes < FRAME_HEAD_BYTES) continue;
      this.#headBytes = 0;
      const [high, middle, low, type] = this.#head;
      this.#skip = (high << 16) | (middle << 8) | low;
      if (type === DATA) this.#dataFrames++;
      this.#carries = type === DATA || type === HEADERS || type === CONTINUATION;
      carry ||= this.#carries;
    }
    return carry;
  }
}
