/**
 * Sends an event to the URL of a receiver, as JSON. Redirects are not followed, since the receiver would choose their target.
 *
 * The header `x-svc-signature` is `sha256=` and the HMAC-SHA256 of the body with the receiver's secret, in hexadecimal digits.
 */
import { hmacSha256 } from "../exchange/hashes.ts";
import { ask } from "./ask.ts";

/** Maximum size of an answer's body that is read to reuse the connection, in bytes; only the status matters. */
const MOST_UNREAD_BYTES = 16 << 10;

export interface PostedEvent {
  /** JSON. */
  body: string;
  /** Absent: the receiver is not told the event's name and id in headers. */
  delivery?: { id: string; event: string };
  /** Absent: not signed. */
  secret?: string;
  signal: AbortSignal;
}

/** Resolves with null if the receiver accepted the event, else with the reason. */
export async function postEvent(
  url: string,
  { body, delivery, secret, signal }: PostedEvent,
): Promise<unknown> {
  try {
    const answer = await ask(url, {
      method: "POST",
      most: MOST_UNREAD_BYTES,
      cuts: true,
      headers: {
        "content-type": "application/json",
        "user-agent": "sluice",
        ...(delivery && { "x-svc-event": delivery.event, "x-svc-delivery": delivery.id }),
        ...(secret && { "x-svc-signature": `sha256=${hmacSha256(secret, body).toHex()}` }),
      },
      body,
      signal,
    });
    return answer.ok ? null : `it answered with status ${answer.status}`;
  } catch (error) {
    return error;
  }
}
