/** How the bytes of a streamed answer are cut into frames. */
import type { Frame } from "../../formats/format.ts";
import { FrameReader } from "../../formats/sse.ts";

export interface Framing {
  /** Whether an answer of this content type is a stream. */
  isStream(contentType: string): boolean;
  /**
   * Frames are text. Some providers put a plain JSON body under the content type of a stream, and in text its first byte
   * gives it away.
   */
  readonly text: boolean;
  /** A reader for one answer. */
  open(): FrameSource;
}

/** Bytes in, frames out. Both methods append to `out`, and throw a Failure when the bytes are not framed rightly. */
export interface FrameSource {
  /** Frames that these bytes complete. The bytes may be reused by the caller afterwards. */
  push(bytes: Uint8Array, out: Frame[]): void;
  /** What the end of the bytes completes. */
  end(out: Frame[]): void;
}

export const SERVER_SENT_EVENTS: Framing = {
  isStream: (contentType) => contentType.includes("event-stream"),
  text: true,
  open: () => new FrameReader(),
};
