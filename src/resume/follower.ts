/** Readers of a stream: the client that requested it, and those that resume it. */
import { Failure } from "../exchange/failure.ts";

export interface Follower {
  /** The next events; null: end of the stream. Throws if it cannot be continued. */
  next(): Promise<string | null>;
  /** The reader has disconnected. */
  leave(): void;
}

/** Status and headers of an answer, and the body of one that never was a stream. */
export interface Head {
  status: number;
  headers: Record<string, string>;
  body?: string;
}

/** Characters per read, and how far a stream may be ahead of its fastest follower. */
export const WINDOW = 64 << 10;

/** The failure of a generation that ended with its process. */
export function interrupted(): Failure {
  return new Failure(
    "service_unavailable",
    "The generation was interrupted: the gateway that ran it has stopped. Send the request again with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}

/** The failure of an abandoned generation that was ended because its place was needed or its time was over. */
export function cutShort(): Failure {
  return new Failure(
    "service_unavailable",
    "The generation was ended because nobody read its stream. Send the request again with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}

/** The failure of a stream that was not stored completely. */
export function notKept(): Failure {
  return new Failure(
    "service_unavailable",
    "The stream cannot be resumed: it was not stored to its end. Send the request again with another Idempotency-Key.",
    { headers: { "x-should-retry": "false" } },
  );
}
