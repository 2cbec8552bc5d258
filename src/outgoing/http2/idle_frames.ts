/**
 * Counts the frames of a server that neither carry data for a stream nor allow more of a request to be sent. Too many of them within a
 * short time are a flood; an idle connection may be tested with PINGs for days.
 */
import { CODE, ConnectionError } from "./connection_error.ts";

const MOST_FRAMES = 10_000;
/**
 * So many more for each frame of content: a server needs two WINDOW_UPDATE frames for each DATA frame that it receives, and may send PING
 * with each that it sends.
 */
const FRAMES_OF_CONTENT = 4;
/** Frames beyond the maximum within this time, in milliseconds, are a flood. */
const FLOOD_MS = 10_000;

export class IdleFrames {
  readonly #now: () => number;
  #count = 0;
  /** When the first of them arrived. */
  #from = 0;

  /** @param now the time in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** So many frames of content have been received or sent. */
  content(frames: number): void {
    if (this.#count > 0) this.#count = Math.max(0, this.#count - FRAMES_OF_CONTENT * frames);
  }

  /** Counts a frame. Throws {@link ConnectionError} if it belongs to a flood. */
  add(): void {
    if (this.#count++ === 0) this.#from = this.#now();
    if (this.#count <= MOST_FRAMES) return;
    if (this.#now() - this.#from < FLOOD_MS) {
      throw new ConnectionError(CODE.enhanceYourCalm, "the server sends too many frames without content");
    }
    this.#count = 0;
  }
}
