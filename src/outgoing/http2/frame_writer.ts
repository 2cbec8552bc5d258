/** Writes frames to a connection. Frames that are added during a write are sent together with the next one. */
import { Buffer } from "node:buffer";
import { writeAll } from "../../transport/write_all.ts";
import { goaway } from "./frames.ts";

/** Time for sending GOAWAY before the connection is closed, in milliseconds. */
const GOAWAY_MS = 1000;

export interface FrameWriterOptions {
  /** Called after each write, to add more frames. */
  more(): void;
  /** Called if a write fails. */
  failed(cause: unknown): void;
}

export class FrameWriter {
  readonly #conn: Deno.Conn;
  readonly #options: FrameWriterOptions;
  #frames: Uint8Array[] = [];
  /** Number of bytes that have not been written. */
  waiting = 0;
  /** Those of them that answer frames of the server. */
  waitingAnswers = 0;
  #writing = false;
  #closed = false;

  constructor(conn: Deno.Conn, options: FrameWriterOptions) {
    this.#conn = conn;
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    this.#frames.push(bytes);
    this.waiting += bytes.length;
  }

  /** Adds a frame that the server has caused. */
  answer(bytes: Uint8Array): void {
    this.push(bytes);
    this.waitingAnswers += bytes.length;
  }

  /** Starts writing in the next microtask, so that frames added until then are included. */
  flush(): void {
    if (this.#writing || this.#frames.length === 0) return;
    this.#writing = true;
    queueMicrotask(() => void this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#frames.length > 0 && !this.#closed) {
        const frames = this.#frames;
        const bytes = frames.length === 1 ? frames[0] : Buffer.concat(frames, this.waiting);
        this.#frames = [];
        this.waiting = this.waitingAnswers = 0;
        await writeAll(this.#conn, bytes);
        this.#options.more();
      }
      this.#writing = false;
    } catch (cause) {
      this.#options.failed(cause);
    }
  }

  /** Closes the connection. @param code error code of the GOAWAY frame; absent: no GOAWAY */
  close(code?: number): void {
    this.#closed = true;
    if (code === undefined) return this.#conn.close();
    const close = () => {
      clearTimeout(timer);
      try {
        this.#conn.close();
      } catch {
        // It is closed already.
      }
    };
    const timer = setTimeout(close, GOAWAY_MS);
    this.#conn.write(goaway(code)).then(close, close);
  }
}
