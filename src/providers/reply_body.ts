/** Reads bodies as a whole: complete answers, and error responses. */
import { GatheredBytes } from "../exchange/gathered_bytes.ts";
import { brokenAnswer } from "../formats/failures/decode_failure.ts";
import type { Reply } from "../outgoing/reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Maximum size of a complete answer, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Bytes read before progress is reported. */
const REPORT_BYTES = 128 * 1024;
/** Maximum size read of an error response: the reason is at its beginning, and calls should not wait for more. */
const REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MS = 5000;

/**
 * The rest of a body after its `first` bytes, as bytes that are valid until the reply is closed. Throws read
 * errors, and if it is too large.
 *
 * @param came called with the number of new bytes; reading continues when it resolves
 */
export function readBody(
  reply: Reply,
  first: Uint8Array,
  came: (bytes: number) => Promise<void>,
): Uint8Array | Promise<Uint8Array> {
  return reply.ended === true ? first : readOn(reply, first, came);
}

async function readOn(
  reply: Reply,
  first: Uint8Array,
  came: (bytes: number) => Promise<void>,
): Promise<Uint8Array> {
  // Copied, since bytes are valid only until the next read. Decoding all at once is far cheaper than decoding a stream.
  const gathered = new GatheredBytes(MOST_BYTES);
  gathered.add(first);
  let reported = 0;
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    gathered.add(bytes);
    if (gathered.length > MOST_BYTES) throw brokenAnswer(`its body is over ${MOST_BYTES} bytes`);
    if (gathered.length - reported < REPORT_BYTES) continue;
    await came(gathered.length - reported);
    reported = gathered.length;
  }
  return gathered.bytes;
}

/** The beginning of an error body, as far as it arrives; closes the reply. */
export async function readRefusal(reply: Reply, ticker: Ticker): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const deadline = ticker.deadline(() => reply.close());
  deadline.arm(REFUSAL_MS);
  try {
    for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
      size += bytes.length;
      text += decoder.decode(bytes, { stream: true });
      if (size >= REFUSAL_BYTES) break;
    }
  } catch {
    // Truncated: the status is the essential information.
  } finally {
    deadline.close();
    reply.close();
  }
  return text;
}
