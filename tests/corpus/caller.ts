/**
 * What a caller gets, read as strictly as the strictest client: order of events, required fields, ids that agree. A
 * breach throws with the place where it was found.
 *
 * The rules are those of the API description (streams and bodies), of the formats' own documentation, and of what
 * clients were seen to break on.
 */
import { chatObject, chatStream } from "./caller_chat.ts";
import { envelope } from "./caller_errors.ts";
import { messageObject, messageStream } from "./caller_messages.ts";
import { responseObject, responseStream } from "./caller_responses.ts";
import type { CallReading, Cited } from "./reading.ts";
import { framesOf } from "./sse_text.ts";
import { must } from "./strict.ts";
import { wild } from "./wild.ts";

export type CallerName = "chat_completions" | "messages" | "responses";

export const PATHS: Readonly<Record<CallerName, string>> = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

export interface CallerChoice {
  text: string;
  /** Text in the format's own place for refusals; messages has none. */
  refusal: string;
  reasoning: string[];
  calls: CallReading[];
  /** The format's own word; for responses `completed`, or `incomplete: <reason>`. */
  stop: string;
  citations: Cited[];
}

/** Canonical counts, as far as the format shows them; undefined: it has no place for the kind, or left it out. */
export interface CallerCounts {
  input: number;
  output: number;
  cached?: number;
  cacheWrite?: number;
  reasoning?: number;
}

export interface CallerAnswer {
  kind: "answer";
  model: string;
  /** Types of the items or blocks, in order. */
  kinds: string[];
  /** `usage.server_tool_use.web_search_requests` */
  searches?: number;
  choices: CallerChoice[];
  usage: CallerCounts | null;
}
export interface CallerError {
  kind: "error";
  /** HTTP status; 200 for an error inside a stream. */
  status: number;
  code: string;
  message: string;
}
export type CallerReading = CallerAnswer | CallerError;

export async function readCaller(
  format: CallerName,
  response: Response,
  streamed: boolean,
): Promise<CallerReading> {
  const body = await response.text();
  const type = response.headers.get("content-type") ?? "";
  if (response.status !== 200) {
    must(type.startsWith("application/json"), `content-type of an error: ${type}`);
    return envelope(format, JSON.parse(body), response.status);
  }
  if (!streamed) {
    must(type.startsWith("application/json"), `content-type: ${type}`);
    const value = wild(JSON.parse(body));
    return format === "chat_completions"
      ? chatObject(value)
      : format === "messages"
      ? messageObject(value)
      : responseObject(value);
  }
  must(type.startsWith("text/event-stream"), `content-type: ${type}`);
  must(body.endsWith("\n\n"), "the stream does not end with a whole frame");
  const frames = framesOf(body);
  must(frames.length > 0, "the stream is empty");
  return format === "chat_completions"
    ? chatStream(frames)
    : format === "messages"
    ? messageStream(frames)
    : responseStream(frames);
}
