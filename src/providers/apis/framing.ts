/** Splits the bytes of a streamed answer into frames. */
import { isObject, parse, string } from "../../exchange/json.ts";
import { decodeText } from "../../formats/media.ts";
import type { Frame } from "../../formats/format.ts";
import { EventStreamReader } from "../../formats/wire/aws_event_stream.ts";
import { brokenAnswer } from "../../formats/failures/decode_failure.ts";
import { FrameReader } from "../../formats/wire/sse.ts";

export interface Framing {
  /**
   * Whether an answer is a stream.
   * @param first its first bytes
   */
  isStream(contentType: string, first: Uint8Array): boolean;
  /**
   * Frames are text. Some providers send a JSON body with the content type of a stream, which can be detected
   * by the first byte of text.
   */
  readonly text: boolean;
  /** A reader for one answer. */
  open(): FrameSource;
}

/** Converts bytes to frames. Both methods append to `out`, and throw a Failure for invalid framing. */
export interface FrameSource {
  /** Appends the frames completed by these bytes. The caller may reuse the bytes afterwards. */
  push(bytes: Uint8Array, out: Frame[]): void;
  /** Appends the frames completed by the end of the bytes. */
  end(out: Frame[]): void;
  /** Number of buffered bytes of an incomplete frame. */
  readonly pending: number;
  /** More bytes of the incomplete frame must follow. An SSE frame after a line end may lack only the empty line. */
  readonly inFrame: boolean;
  /** At the boundary of an SSE event, after at least one event. Absent: not supported. */
  readonly atEvent?: boolean;
}

/** Small servers send no content type, or plain text. A JSON body is still detected by its first byte. */
const MAYBE_EVENTS = /^$|event-stream|^text\/plain\b/i;

/** The beginning of an event stream: a comment, or the name of a field. JSON has no colon there. */
const EVENTS = /^[\s\ufeff]*(?:data|event|id|retry)?:/;

const OPENING_BRACE = 123;
const decoder = new TextDecoder();

/** Whether bytes begin an event stream: official clients do not look at the content type, so some servers state another one. */
function beginsEvents(first: Uint8Array): boolean {
  return first[0] !== OPENING_BRACE && EVENTS.test(decoder.decode(first.subarray(0, 64)));
}

export const SERVER_SENT_EVENTS: Framing = {
  isStream: (contentType, first) => MAYBE_EVENTS.test(contentType) || beginsEvents(first),
  text: true,
  open: () => new FrameReader(),
};

const isEventStream = (contentType: string) => /vnd\.amazon\.eventstream/i.test(contentType);

export const AWS_EVENT_STREAM: Framing = {
  isStream: isEventStream,
  text: false,
  open: () => new EventStreamReader(),
};

/**
 * InvokeModelWithResponseStream: each message contains one event of the model's own API, `{"bytes": base64 of
 * its JSON}`.
 */
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
      get inFrame() {
        return messages.inFrame;
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
