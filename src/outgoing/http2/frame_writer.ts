/** Writes frames to a connection: what is added while a write is under way leaves together with the next one. */
import { Buffer } from "node:buffer";
import { writeAll } from "../../transport/write_all.ts";
import { goaway } from "./frames.ts";

/** How long the reason for leaving a server may take to leave, in milliseconds. */
const GOODBYE_MS = 1000;

export interface FrameWriterOptions {
  /** Adds more, after each write. */
  more(): void;
  /** The connection takes nothing any more. */
  failed(cause: unknown): void;
}

export class FrameWriter {
  readonly #conn: Deno.Conn;
  readonly #options: FrameWriterOptions;
  #frames: Uint8Array[] = [];
  /** Bytes that wait for the socket. */
  waiting = 0;
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

  /** Writes what waits, with what is added until then. */
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
        this.waiting = 0;
        await writeAll(this.#conn, bytes);
        this.#options.more();
      }
      this.#writing = false;
    } catch (cause) {
      this.#options.failed(cause);
    }
  }

  /** Closes the connection. @param code the reason that the server is told; absent: none */
  close(code?: number): void {
    this.#closed = true;
    if (code === undefined) return this.#conn.close();
    const close = () => {
      clearTimeout(timer);
      try {
        this.#conn.close();
      } catch {
        // The other one of the two has closed it.
      }
    };
    const timer = setTimeout(close, GOODBYE_MS);
    this.#conn.write(goaway(code)).then(close, close);
  }
}
