/** What a collector's answer says: which data it rejected, and when to try again. */
import { Buffer } from "node:buffer";
import { bytesOf, numberOf, protobufFields } from "./protobuf_fields.ts";

/** `partial_success` of an answer: the collector accepted the request, but not all data in it. */
export interface PartialSuccess {
  /** Number of spans or measurements. 0: all were accepted, and the message is a warning. */
  rejected: number;
  message: string;
}

const MOST_MESSAGE_CHARS = 200;
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

/** Null: everything was accepted, or the body cannot be read. */
export function partialSuccess(body: Uint8Array, encoding: "json" | "protobuf"): PartialSuccess | null {
  const { rejected, message } = encoding === "json" ? ofJson(body) : ofProtobuf(body);
  if (!(rejected > 0) && message === "") return null;
  return { rejected: rejected > 0 ? rejected : 0, message: message.slice(0, MOST_MESSAGE_CHARS) };
}

function ofProtobuf(body: Uint8Array): PartialSuccess {
  const fields = protobufFields(bytesOf(protobufFields(body), 1) ?? new Uint8Array());
  return { rejected: numberOf(fields, 1), message: textOf(bytesOf(fields, 2)) };
}

/** Numbers of 64 bits may be strings, and both spellings of a name are allowed. */
function ofJson(body: Uint8Array): PartialSuccess {
  const answer = parsed(body);
  const partial = recordOf(answer.partialSuccess ?? answer.partial_success);
  const rejected = partial.rejectedSpans ?? partial.rejected_spans ?? partial.rejectedDataPoints ??
    partial.rejected_data_points;
  const message = partial.errorMessage ?? partial.error_message;
  return { rejected: Math.floor(Number(rejected)), message: typeof message === "string" ? message : "" };
}

/**
 * The delay that a gRPC service asks for (`RetryInfo` in `google.rpc.Status`); undefined: none.
 * @param details the trailer `grpc-status-details-bin`
 */
export function retryDelayMs(details: unknown): number | undefined {
  if (typeof details !== "string") return undefined;
  const status = protobufFields(Buffer.from(details, "base64"));
  for (const { number, value } of status ?? []) {
    if (number !== 3 || typeof value === "number") continue;
    const any = protobufFields(value);
    if (textOf(bytesOf(any, 1)) !== RETRY_INFO) continue;
    const delay = protobufFields(
      bytesOf(protobufFields(bytesOf(any, 2) ?? new Uint8Array()), 1) ?? new Uint8Array(),
    );
    return numberOf(delay, 1) * 1000 + numberOf(delay, 2) / 1e6;
  }
  return undefined;
}

/** `Retry-After`, which is a number of seconds or a date. The clock of the service counts, if it sends it. */
export function retryAfterMs(header: (name: string) => string | null): number | undefined {
  const written = header("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(written)) return Number(written) * 1000;
  const now = Date.parse(header("date") ?? "");
  const ms = Date.parse(written) - (Number.isNaN(now) ? Date.now() : now);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

function parsed(body: Uint8Array): Record<string, unknown> {
  try {
    return recordOf(JSON.parse(textOf(body)));
  } catch {
    return {};
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
