/** Bodies that are read as one text: whole answers, and what a provider says when it refuses. */
import { Buffer } from "node:buffer";
import { brokenAnswer } from "../formats/decode_failure.ts";
import type { Reply } from "../outgoing/reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Largest whole answer, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What is read of a body before it is told how much has come. */
const TELL_BYTES = 128 * 1024;
/** What is read of a refusal: its reasons stand at its beginning, and nobody's call should wait for more. */
const REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MS = 5000;

/**
 * The rest of a body after its `first` bytes, as bytes, which are valid until the reply is closed. Throws what reading throws, and
 * when it is too large.
 *
 * @param came told of so many bytes more; nothing more is read until it resolves
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
  // Copies, since bytes are valid until the next are read (and not `slice()`, which of a Buffer is no copy); to decode all
  // at once costs far less than to decode a stream.
  const pieces = [new Uint8Array(first)];
  let size = first.length;
  let told = 0;
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    pieces.push(new Uint8Array(bytes));
    size += bytes.length;
    if (size > MOST_BYTES) throw brokenAnswer(`its body is over ${MOST_BYTES} bytes`);
    if (size - told < TELL_BYTES) continue;
    await came(size - told);
    told = size;
  }
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, size);
}

/** The beginning of a refusal's body, as far as it comes; closes the reply. */
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
    // Cut off: the status has said the most of it.
  } finally {
    deadline.close();
    reply.close();
  }
  return text;
}
