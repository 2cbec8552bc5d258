/** Sends request bodies within the flow-control windows of the server (RFC 9113, section 5.2). */
import { CODE, ConnectionError } from "./connection_error.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { FLAG, FRAME, FRAME_BYTES, frameHead, MOST_WINDOW_BYTES, WINDOW_BYTES } from "./frames.ts";
import type { Http2Stream } from "./stream.ts";

/** No more DATA frames are queued while so many bytes have not been written. */
const MOST_WAITING_BYTES = 256 << 10;

export class RequestBodies {
  readonly #writer: FrameWriter;
  /** Streams whose body has not been queued completely. */
  readonly #unsent = new Set<Http2Stream>();
  /** Initial send window of a stream, and the send window of the connection. */
  #streamWindow = WINDOW_BYTES;
  #window = WINDOW_BYTES;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  /** Begins to send the body of a stream. */
  open(stream: Http2Stream, body: Uint8Array): void {
    stream.sendWindow = this.#streamWindow;
    if (body.length === 0) return;
    stream.unsent = body;
    this.#unsent.add(stream);
    this.send();
  }

  /** Drops the unsent part of a body. */
  forget(stream: Http2Stream): void {
    this.#unsent.delete(stream);
    stream.unsent = null;
  }

  /** Makes bodies into frames, a piece of each in turn. Returns the number of frames. */
  send(): number {
    let sent = 0;
    // A stream that is deleted and added again comes once more, after the others.
    for (const stream of this.#unsent) {
      if (this.#window <= 0 || this.#writer.waiting >= MOST_WAITING_BYTES) break;
      if (stream.sendWindow <= 0) continue;
      const unsent = stream.unsent!;
      const bytes = Math.min(FRAME_BYTES, this.#window, stream.sendWindow, unsent.length);
      const ends = bytes === unsent.length;
      this.#writer.push(frameHead(bytes, FRAME.data, ends ? FLAG.endStream : 0, stream.id));
      this.#writer.push(unsent.subarray(0, bytes));
      sent++;
      this.#window -= bytes;
      stream.sendWindow -= bytes;
      stream.unsent = ends ? null : unsent.subarray(bytes);
      this.#unsent.delete(stream);
      if (!ends) this.#unsent.add(stream);
    }
    return sent;
  }

  /** Enlarges a send window. Throws {@link ConnectionError}. @param stream absent: the window of the connection */
  widen(more: number, stream?: Http2Stream): void {
    if (stream === undefined) this.#window = sum(this.#window, more);
    else stream.sendWindow = sum(stream.sendWindow, more);
  }

  /** Changes the initial send window, and with it the windows of open streams. Throws {@link ConnectionError}. */
  resize(window: number, streams: Iterable<Http2Stream>): void {
    const more = window - this.#streamWindow;
    this.#streamWindow = sum(0, window);
    for (const stream of streams) this.widen(more, stream);
  }
}

function sum(window: number, more: number): number {
  if (window + more > MOST_WINDOW_BYTES) {
    throw new ConnectionError(CODE.flowControlError, "a flow-control window is too large");
  }
  return window + more;
}
