/** How the bytes of a streamed answer are cut into frames. */
import { isObject, parse, string } from "../../exchange/json.ts";
import { decodeText } from "../../formats/media.ts";
import type { Frame } from "../../formats/format.ts";
import { EventStreamReader } from "../../formats/aws_event_stream.ts";
import { brokenAnswer } from "../../formats/decode_failure.ts";
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
  /** Bytes held that belong to no whole frame yet. */
  readonly pending: number;
  /** The next byte begins a server-sent event, and some have come before. Absent: it never does. */
  readonly atEvent?: boolean;
}

/** Small servers say nothing of what they send, or that it is text. A plain body is known by its first byte all the same. */
const MAYBE_EVENTS = /^$|event-stream|^text\/plain\b/i;

export const SERVER_SENT_EVENTS: Framing = {
  isStream: (contentType) => MAYBE_EVENTS.test(contentType),
  text: true,
  open: () => new FrameReader(),
};

const isEventStream = (contentType: string) => /vnd\.amazon\.eventstream/i.test(contentType);

export const AWS_EVENT_STREAM: Framing = {
  isStream: isEventStream,
  text: false,
  open: () => new EventStreamReader(),
};

/** InvokeModelWithResponseStream: each message holds one event of the model's own API, `{"bytes": base64 of its JSON}`. */
export const BEDROCK_CHUNKS: Framing = {
  isStream: isEventStream,
  text: false,
  open() {
    const messages = new EventStreamReader();
    return {
      push(bytes, out) {
        const chunks: Frame[] = [];
        try {
          messages.push(bytes, chunks);
        } finally {
          for (const { data } of chunks) out.push(chunk(data));
        }
      },
      end: () => messages.end(),
      get pending() {
        return messages.pending;
      },
    };
  },
};

function chunk(payload: string): Frame {
  const body = parse(payload);
  const bytes = isObject(body) ? string(body.bytes) : undefined;
  if (bytes === undefined) throw brokenAnswer("a chunk of its stream has no bytes");
  return { event: "", data: decodeText(bytes) };
}
