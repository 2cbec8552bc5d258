/** Converts an HTTP answer to WebSocket messages: one per event, or an `error` event for a failure. */
import { Failure } from "../exchange/failure.ts";
import { isObject, type Loose, parseExact } from "../exchange/json.ts";
import { RESPONSES } from "./surfaces.ts";

export interface SocketEvent {
  text: string;
  /** The answer that this event completes; null: none that can be continued. */
  ended: { id: string; output: readonly unknown[] } | null;
}

export interface AnsweredTurn {
  /** The answer that the turn continues. */
  previous: string | null;
  /** Label of the turn's events. */
  streamId: string | undefined;
}

/** Events that contain the whole response object. */
const OF_THE_RESPONSE = /^\{"type":"response\.(?:created|queued|in_progress|completed|incomplete|failed)"/;
const ENDS_WELL = /^\{"type":"response\.(?:completed|incomplete)"/;
/** Length of an event from which it is sent before the next one is read, so that other calls come in between. */
const LONG = 1 << 16;
/** Headers of a failure that are passed on: when to retry, and the request id. */
const TOLD = /^(?:retry-after|x-request-id|x-should-retry|x-ratelimit-.*)$/;

/**
 * The events of each read of the answer, as batches; a long event ends its batch. Cancels the answer when iteration ends.
 *
 * @param leaving aborts when the caller disconnects
 */
export async function* socketEvents(
  response: Response,
  turn: AnsweredTurn,
  leaving: AbortSignal,
): AsyncGenerator<SocketEvent[]> {
  if (response.status !== 200 || response.body === null) {
    const { error } = await response.json();
    const headers = Object.fromEntries([...response.headers].filter(([name]) => TOLD.test(name)));
    yield [{
      text: errorText(error, { status: response.status, headers, streamId: turn.streamId }),
      ended: null,
    }];
    return;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let over = false;
  // While the provider is silent, nothing else would report the disconnect.
  const leave = () => void reader.cancel().catch(() => {});
  if (leaving.aborted) leave();
  leaving.addEventListener("abort", leave);
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      text += decoder.decode(step.value, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop()!;
      let events: SocketEvent[] = [];
      for (const frame of frames) {
        const data = dataOf(frame);
        if (data === null) continue;
        events.push(eventOf(data, turn));
        if (data.length < LONG) continue;
        yield events;
        events = [];
      }
      if (events.length > 0) yield events;
    }
    over = true;
  } finally {
    if (!over) await reader.cancel().catch(() => {});
  }
}

/** Failures that exist only on WebSockets, in the terms of OpenAI's protocol. */
export class SocketRefusal extends Error {
  constructor(readonly code: string, message: string, readonly param: string | null = null) {
    super(message);
  }
}

/**
 * The JSON of an `error` event for a failed message.
 *
 * @param streamId id of the turn; absent: without multiplexing
 */
export function failureEvent(thrown: unknown, streamId?: string): string {
  if (thrown instanceof SocketRefusal) {
    const { code, message, param } = thrown;
    const error = { type: "invalid_request_error", code, message, param };
    return errorText(error, { status: 400, headers: {}, streamId });
  }
  const failure = Failure.from(thrown);
  const { error } = RESPONSES.format.encodeFailure(failure, "");
  return errorText(error, { status: failure.row.status, headers: {}, streamId });
}

/**
 * The error's fields occur twice: nested, as OpenAI sends them, and at the top level, as OpenAI's type
 * definitions have them.
 */
function errorText(
  error: unknown,
  { status, headers, streamId }: {
    status: number;
    headers: Record<string, string>;
    streamId: string | undefined;
  },
): string {
  const fields: Loose = isObject(error) ? error : {};
  const { code = null, message = "", param = null } = fields;
  return JSON.stringify({
    type: "error",
    status,
    code,
    message,
    param,
    error: fields,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(streamId !== undefined && { stream_id: streamId }),
  });
}

/** The data of an SSE frame as written by this gateway; null: a comment, or `[DONE]`. */
function dataOf(frame: string): string | null {
  const at = frame.indexOf("data: ");
  if (at < 0) return null;
  const data = frame.slice(at + 6);
  return data === "[DONE]" ? null : data;
}

function eventOf(data: string, { previous, streamId }: AnsweredTurn): SocketEvent {
  const named = streamId === undefined
    ? data
    : `${data.slice(0, -1)},"stream_id":${JSON.stringify(streamId)}}`;
  const ends = ENDS_WELL.test(data);
  if (!ends && (previous === null || !OF_THE_RESPONSE.test(data))) return { text: named, ended: null };
  const event = parseExact(named) as Loose & { response: Loose & { id: string; output: unknown[] } };
  const ended = ends ? { id: event.response.id, output: event.response.output } : null;
  if (previous === null) return { text: named, ended };
  event.response.previous_response_id = previous;
  return { text: JSON.stringify(event), ended };
}
