/** The end of an answer: `stop_reason` and related fields, decoded and encoded. */
import { isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { FinishReason, Part } from "../../exchange/part.ts";
import { extraOf } from "../../exchange/prompt.ts";

/** Fields of the final event beside those of its delta. */
const BESIDE = ["context_management", "input_transformations"] as const;

/** Other fields of answers, returned to callers of the same format. */
const CARRIED = ["stop_details", "container", ...BESIDE] as const;

/** Fields of a message that are decoded, or that the gateway has itself: `details` has its findings. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set(
  "id type role model content stop_reason stop_sequence stop_details container context_management usage details"
    .split(" "),
);
/** Fields of its end, in the last event or the whole message. Those about the request are at its start. */
const END_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS, ...BESIDE, "diagnostics"]);

function finishFromStopReason(stop: unknown, calls: boolean): FinishReason {
  switch (stop) {
    case "tool_use":
      return calls ? "tool-calls" : "stop";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "stop_sequence":
      return "stop-sequence";
    case "refusal":
      return "refusal";
    case "pause_turn":
      return "pause";
    case "end_turn":
      return "stop";
    default:
      return calls ? "tool-calls" : "stop";
  }
}

function stopReasonFromFinish(reason: FinishReason): string {
  switch (reason) {
    case "tool-calls":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "stop-sequence":
      return "stop_sequence";
    case "content-filter":
    case "refusal":
      return "refusal";
    case "pause":
      return "pause_turn";
    case "stop":
      return "end_turn";
  }
}

/**
 * @param end the fields of the whole message, or of the `delta` of all its `message_delta` events together
 * @param event fields of these events themselves
 */
export function decodeFinish(end: Loose, event: Loose, calls: boolean): Extract<Part, { type: "finish" }> {
  const reason = finishFromStopReason(end.stop_reason, calls);
  const fields: Loose = {};
  for (const key of CARRIED) {
    const value = event[key] ?? end[key];
    if (isObject(value) || Array.isArray(value)) fields[key] = value;
  }
  const others = rest(end, END_FIELDS);
  const beside = rest(event, END_FIELDS);
  if (others) fields.delta = others;
  if (beside) fields.event = beside;
  if (typeof end.stop_reason === "string" && end.stop_reason !== stopReasonFromFinish(reason)) {
    fields.stop_reason = end.stop_reason;
  }
  const explanation = isObject(end.stop_details) ? string(end.stop_details.explanation) : undefined;
  const sequence = string(end.stop_sequence);
  return {
    type: "finish",
    choice: 0,
    reason,
    ...(sequence !== undefined && { sequence }),
    ...(explanation !== undefined && { explanation }),
    ...(Object.keys(fields).length > 0 && { extra: { format: "messages", fields } }),
  };
}

export interface Ending {
  reason: FinishReason;
  sequence?: string;
  explanation?: string;
  extra?: Extract<Part, { type: "finish" }>["extra"];
}

/**
 * `delta`: fields of the message, and of `message_delta.delta`. `event`: of the message, and of the event
 * itself.
 */
export function encodeFinish(end: Ending): { delta: Loose; event: Loose } {
  const fields = extraOf(end.extra, "messages") ?? {};
  const declined = end.reason === "refusal" || end.reason === "content-filter";
  return {
    delta: {
      ...object(fields.delta),
      stop_reason: fields.stop_reason ?? stopReasonFromFinish(end.reason),
      stop_sequence: end.sequence ?? null,
      stop_details: fields.stop_details ??
        (declined ? { type: "refusal", category: null, explanation: end.explanation ?? null } : null),
      // Older answers do not list skills.
      container: isObject(fields.container) ? { skills: null, ...fields.container } : null,
    },
    event: {
      ...object(fields.event),
      ...Object.fromEntries(
        BESIDE.flatMap((name) => fields[name] === undefined ? [] : [[name, fields[name]]]),
      ),
    },
  };
}
