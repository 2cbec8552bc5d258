/** What reads a stream: the client that asked for it, and those that come back to it. */
import { Failure } from "../exchange/failure.ts";

export interface Follower {
  /** What comes next, some events; null: the stream has ended. Throws when it cannot be gone on with. */
  next(): Promise<string | null>;
  /** Nobody reads any more. */
  leave(): void;
}

/** Status and headers that an answer began with, and its body where it never was a stream. */
export interface Head {
  status: number;
  headers: Record<string, string>;
  body?: string;
}

/** Characters that a follower takes at a time, and that a stream may be ahead of the quickest of them. */
export const WINDOW = 64 << 10;

/** What a caller hears whose generation ended with its process. */
export function interrupted(): Failure {
  return new Failure(
    "service_unavailable",
    "The generation was interrupted: the gateway that ran it has ended. Ask again, with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}

/** Of a generation that went on without anybody, until its place was needed or its time was over. */
export function cutShort(): Failure {
  return new Failure(
    "service_unavailable",
    "The generation was ended before its time, because nobody read its stream. Ask again, with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}

/** Of a stream that was not kept to its end. */
export function notKept(): Failure {
  return new Failure(
    "service_unavailable",
    "The stream cannot be resumed: it was not kept to its end. Ask again, with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}
