/**
 * Reads frames from a connection into buffers that are never overwritten, so that views of them stay valid. Removes padding, and joins
 * and decodes header blocks.
 *
 * A read of a TLS connection returns about 4 KB, even if much more has arrived. Reads that succeed without waiting form a batch, so that
 * a stream can process all its frames of a batch together. At a high rate of frames there is a wait between batches, which fills them.
 */
import { Buffer } from "node:buffer";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import { WireError } from "../../transport/body_framing.ts";
import { settled } from "../../timing/waits.ts";
import { CODE, ConnectionError } from "./connection_error.ts";
import { FLAG, FRAME, FRAME_BYTES, FRAME_HEAD_BYTES, readUint32 } from "./frames.ts";
import { type Field, HeadDecoder } from "./hpack.ts";

/** Size of a buffer, which several reads fill. */
const SLAB_BYTES = 64 << 10;

/** Maximum size of a batch: while it is read, which takes some milliseconds, nothing is delivered. */
const MOST_BATCH_BYTES = 512 << 10;

export interface FrameHandlers {
  /** @param counted bytes of the flow-control windows, padding included */
  data(
    id: number,
    bytes: Uint8Array,
    place: { from: number; to: number },
    counted: number,
    ended: boolean,
  ): void;
  head(id: number, fields: readonly Field[], ended: boolean): void;
  other(type: number, flags: number, id: number, payload: Uint8Array): void;
  /**
   * Called after all frames of one batch.
   *
   * @param frames how many of them were DATA frames
   * @returns how long to wait before the next batch is read, in milliseconds; null: not at all
   */
  taken(frames: number): number | null;
  /** Waits so many milliseconds. */
  pause(ms: number): Promise<void>;
}

export class FrameReader {
  readonly #conn: Deno.Conn;
  readonly #handlers: FrameHandlers;
  readonly #decoder = new HeadDecoder();
  /** The first frame, SETTINGS, has arrived. */
  #begun = false;
  /** A header block that is not complete. */
  #block: { id: number; pieces: Uint8Array[]; bytes: number; ended: boolean } | null = null;
  /** DATA frames of this batch. */
  #dataFrames = 0;
  #stopped = false;

  constructor(conn: Deno.Conn, handlers: FrameHandlers) {
    this.#conn = conn;
    this.#handlers = handlers;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Rejects with the error that ends the connection. */
  async readAll(): Promise<void> {
    let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    let from = 0;
    let to = 0;
    let batchBytes = 0;
    let waitMs: number | null = null;
    while (!this.#stopped) {
      // The rest of the buffer must have room for a whole frame.
      if (SLAB_BYTES - from < FRAME_HEAD_BYTES + FRAME_BYTES) {
        const next = Buffer.allocUnsafeSlow(SLAB_BYTES);
        slab.copy(next, 0, from, to);
        [slab, from, to] = [next, 0, to - from];
      }
      const reading = this.#conn.read(slab.subarray(to));
      // First `settled`, which handles a rejection of the read: `taken` may throw, and then nothing awaits it.
      if (batchBytes > 0 && (!await settled(reading) || batchBytes >= MOST_BATCH_BYTES)) {
        const isFull = batchBytes >= MOST_BATCH_BYTES;
        batchBytes = 0;
        waitMs = this.#handlers.taken(this.#dataFrames);
        this.#dataFrames = 0;
        // The server sends faster than its frames are processed. A read with TLS that succeeds at once lets neither timers nor other
        // sockets have a turn (Deno 2.9.6).
        if (isFull) waitMs ??= 0;
      }
      const n = await reading;
      // After the batch was processed, which may take as long.
      if (waitMs !== null) {
        await this.#handlers.pause(waitMs);
        waitMs = null;
      }
      if (n === null) throw new WireError("the connection was closed");
      to += n;
      batchBytes += n;
      from = this.#take(slab, from, to);
    }
  }

  /** Processes all complete frames. Returns where the rest begins. */
  #take(slab: Buffer, from: number, to: number): number {
    while (to - from >= FRAME_HEAD_BYTES && !this.#stopped) {
      const length = (slab[from] << 16) | (slab[from + 1] << 8) | slab[from + 2];
      const type = slab[from + 3];
      // Checked before the frame is complete, because it may be no frame at all.
      if (!this.#begun && type !== FRAME.settings) {
        throw new ConnectionError(CODE.protocolError, "the first frame is not SETTINGS");
      }
      if (length > FRAME_BYTES) throw new ConnectionError(CODE.frameSizeError, "a frame is too large");
      const start = from + FRAME_HEAD_BYTES;
      const end = start + length;
      if (end > to) return from;
      this.#begun = true;
      this.#frame(type, slab, start, end);
      from = end;
    }
    return from;
  }

  /** @param start where the payload begins */
  #frame(type: number, slab: Buffer, start: number, end: number): void {
    const flags = slab[start - 5];
    const id = readUint32(slab, start - 4) & 0x7fffffff;
    if (this.#block !== null && (type !== FRAME.continuation || id !== this.#block.id)) {
      throw new ConnectionError(CODE.protocolError, "a header block was interrupted by another frame");
    }
    const ended = (flags & FLAG.endStream) !== 0;
    if (type === FRAME.data) {
      this.#dataFrames++;
      const place = flags & FLAG.padded ? unpadded(slab, start, end) : { from: start, to: end };
      this.#handlers.data(id, slab, place, end - start, ended);
    } else if (type === FRAME.headers) {
      const block = slab.subarray(start, end);
      const { from, to } = flags & FLAG.padded
        ? unpadded(block, 0, block.length)
        : { from: 0, to: block.length };
      const fields = flags & FLAG.priority ? from + 5 : from;
      if (fields > to) throw new ConnectionError(CODE.frameSizeError, "a HEADERS frame is too short");
      this.#block = { id, pieces: [], bytes: 0, ended };
      this.#part(block.subarray(fields, to), flags);
    } else if (type === FRAME.continuation) {
      if (this.#block === null) {
        throw new ConnectionError(CODE.protocolError, "CONTINUATION follows no header block");
      }
      this.#part(slab.subarray(start, end), flags);
    } else this.#handlers.other(type, flags, id, slab.subarray(start, end));
  }

  #part(bytes: Uint8Array, flags: number): void {
    const block = this.#block!;
    block.pieces.push(bytes);
    block.bytes += bytes.length;
    // Also limits the number of empty parts.
    if (block.bytes > MAX_HEAD_BYTES || block.pieces.length > MAX_HEAD_BYTES / 64) {
      throw new ConnectionError(CODE.enhanceYourCalm, "the headers are too long");
    }
    if (!(flags & FLAG.endHeaders)) return;
    this.#block = null;
    const whole = block.pieces.length === 1 ? bytes : Buffer.concat(block.pieces);
    let fields;
    try {
      fields = this.#decoder.decode(whole);
    } catch (cause) {
      throw new ConnectionError(CODE.compressionError, (cause as Error).message);
    }
    this.#handlers.head(block.id, fields, block.ended);
  }
}

function unpadded(bytes: Uint8Array, start: number, end: number): { from: number; to: number } {
  const padding = start < end ? bytes[start] : Infinity;
  if (start + 1 + padding > end) {
    throw new ConnectionError(CODE.protocolError, "a frame has more padding than payload");
  }
  return { from: start + 1, to: end - padding };
}
