/**
 * How often the connections over HTTP/2 are read. At tens of thousands of frames a second it saves time to read less often: a stream then
 * gets several frames as one part, which costs little more than one frame. Below that rate each frame is delivered at once.
 */
import { pause } from "../../timing/waits.ts";

/** How long frames are counted, in milliseconds. */
const WINDOW_MS = 100;
/** Frames per millisecond, on all connections together, from which on connections wait: about a third of a core. */
const FREE_FRAMES = 30;
/** For so many frames per millisecond more, connections wait one millisecond longer. */
const FRAMES_PER_MS = 10;
/** Maximum time to wait, in milliseconds. */
const MOST_WAIT_MS = 8;
/** After a batch of fewer frames a connection does not wait: it has few streams. */
const FEW_FRAMES = 16;

export class FramePace {
  #frames = 0;
  #from = -Infinity;
  #waitMs = 0;

  /**
   * Counts the frames of a batch.
   *
   * @param now the time in milliseconds
   * @returns how long to wait before the next batch is read, in milliseconds; null: not at all
   */
  after(frames: number, now: number): number | null {
    this.#frames += frames;
    const passed = now - this.#from;
    if (passed >= WINDOW_MS) {
      const above = Math.max(0, this.#frames / passed - FREE_FRAMES);
      this.#waitMs = Math.min(MOST_WAIT_MS, Math.floor(above / FRAMES_PER_MS));
      this.#frames = 0;
      this.#from = now;
    }
    return this.#waitMs === 0 || frames < FEW_FRAMES ? null : this.#waitMs;
  }

  /** Waits so many milliseconds. */
  pause(ms: number): Promise<void> {
    return pause(ms);
  }
}
