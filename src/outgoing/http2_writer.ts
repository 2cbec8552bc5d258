/** Writes what a connection has to say, and all of one turn with one write. */

/** What the other side may leave untaken: answers to its frames, and heads of requests. */
const MOST_BYTES = 4 * 1024 * 1024;

interface Told {
  /** All has been written. */
  wrote(): void;
  /** The other side takes nothing. */
  stuck(): void;
}

export class FrameWriter {
  readonly #conn: Deno.Conn;
  readonly #told: Told;
  #waiting: Uint8Array[] = [];
  #writing = false;
  /** What is not written yet. */
  bytes = 0;
  closed = false;

  constructor(conn: Deno.Conn, told: Told) {
    this.#conn = conn;
    this.#told = told;
  }

  /** The bytes must stay as they are. */
  write(bytes: Uint8Array): void {
    if (this.closed) return;
    this.#waiting.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes > MOST_BYTES) return this.#told.stuck();
    if (this.#writing) return;
    this.#writing = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // What else is written in this turn goes with it.
    await undefined;
    try {
      while (this.#waiting.length > 0 && !this.closed) {
        const bytes = this.#waiting.length === 1 ? this.#waiting[0] : joined(this.#waiting);
        this.#waiting = [];
        for (let done = 0; done < bytes.length;) {
          done += await this.#conn.write(done === 0 ? bytes : bytes.subarray(done));
        }
        this.bytes -= bytes.length;
        this.#told.wrote();
      }
    } catch {
      // What is read tells why.
    }
    this.#writing = false;
  }
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
