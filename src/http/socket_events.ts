/** An answer over HTTP as the messages that a socket sends: each event by itself, a refusal as an `error` event. */
import { Failure } from "../exchange/failure.ts";
import { isObject, type Loose, parseExact } from "../exchange/json.ts";
import { RESPONSES } from "./surfaces.ts";

export interface SocketEvent {
  text: string;
  /** The answer that this event ends; null: it ends none that could go on. */
  ended: { id: string; output: readonly unknown[] } | null;
}

export interface AnsweredTurn {
  /** The answer that the turn goes on from. */
  previous: string | null;
  /** Label of the turn's events. */
  streamId: string | undefined;
}

/** Events that hold the whole response. */
const OF_THE_RESPONSE = /^\{"type":"response\.(?:created|queued|in_progress|completed|incomplete|failed)"/;
const ENDS_WELL = new Set(["response.completed", "response.incomplete"]);
/** Headers of a refusal that say when to come back, and to whom to complain. */
const TOLD = /^(?:retry-after|x-request-id|x-should-retry|x-ratelimit-.*)$/;

/**
 * Batches of events: what one read of the answer brought. Ends the answer when it is ended.
 *
 * @param leaving aborts when the caller has left
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
  // While the provider says nothing, nobody else would tell that the caller has left.
  const leave = () => void reader.cancel().catch(() => {});
  if (leaving.aborted) leave();
  leaving.addEventListener("abort", leave);
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      text += decoder.decode(step.value, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop()!;
      const events = frames.map(dataOf).filter((data) => data !== null).map((data) => eventOf(data, turn));
      if (events.length > 0) yield events;
    }
    over = true;
  } finally {
    if (!over) await reader.cancel().catch(() => {});
  }
}

/** What only a connection can refuse, in the words of OpenAI's protocol. */
export class SocketRefusal extends Error {
  constructor(readonly code: string, message: string, readonly param: string | null = null) {
    super(message);
  }
}

/**
 * The event with which a message fails on a WebSocket, as JSON.
 *
 * @param streamId of the turn; absent: there are no several at once
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

/** The error's fields stand twice: nested, where the wire of OpenAI has them, and beside it, where its types do. */
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

/** The data of a frame as this gateway writes it; null: a comment, or the mark of the end. */
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
  if (!OF_THE_RESPONSE.test(data)) return { text: named, ended: null };
  const event = parseExact(named) as Loose & { response: Loose & { id: string; output: unknown[] } };
  const ended = ENDS_WELL.has(String(event.type))
    ? { id: event.response.id, output: event.response.output }
    : null;
  if (previous === null) return { text: named, ended };
  event.response.previous_response_id = previous;
  return { text: JSON.stringify(event), ended };
}
