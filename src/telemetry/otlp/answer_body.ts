/** The body of a collector's HTTP answer, within limits of size and time. */
import { BodyFraming } from "../../transport/body_framing.ts";
import { headLines } from "../../transport/head.ts";

/** A longer body is ignored: it contains at most a short message. */
const MOST_BYTES = 65_536;
/** The longest time for the body, in milliseconds: the status is known, and the next export waits. */
const LONGEST_MS = 1000;

/** The next bytes of a connection or stream; null: its end. */
type Read = () => Promise<Uint8Array | null>;

/**
 * Resolves with an empty body if it is invalid, too long, or does not arrive in time.
 * @param head without the empty line
 * @param came the bytes after the head that were read with it
 */
export async function answerBody(
  { head, status, came, signal }: { head: string; status: number; came: Uint8Array; signal: AbortSignal },
  read: Read,
): Promise<Uint8Array> {
  return await withinLimits(signal, async (chunks) => {
    const { first, fields } = headLines(`${head}\r\n\r\n`);
    const framing = BodyFraming.ofAnswer(
      status,
      (name) => fields.get(name),
      first.startsWith("HTTP/1.0") ? 0 : 1,
    );
    let bytes: Uint8Array | null = came;
    while (!framing.ended) {
      const end = framing.take(bytes, 0, bytes.length);
      if (!chunks.add(bytes.slice(0, end))) return false;
      if (!framing.ended) bytes = await read();
      if (bytes === null) return framing.untilClose;
    }
    return true;
  });
}

/** The body of an answer of `fetch`. The rest of a body that is too long or late is cancelled. */
export async function fetchedBody({ body }: Response, signal: AbortSignal): Promise<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    return await withinLimits(signal, async (chunks) => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return true;
        if (!chunks.add(value)) return false;
      }
    });
  } finally {
    void reader.cancel().catch(() => {});
  }
}

class Chunks {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  /** False: the limit is exceeded. */
  add(bytes: Uint8Array): boolean {
    this.#size += bytes.length;
    this.#chunks.push(bytes);
    return this.#size <= MOST_BYTES;
  }

  whole(): Uint8Array {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }
}

/** @param read resolves with true when the body is complete */
async function withinLimits(
  signal: AbortSignal,
  read: (to: Chunks) => Promise<boolean>,
): Promise<Uint8Array> {
  const chunks = new Chunks();
  const late = Promise.withResolvers<boolean>();
  const give = () => late.resolve(false);
  const timer = setTimeout(give, LONGEST_MS);
  signal.addEventListener("abort", give, { once: true });
  try {
    const complete = await Promise.race([read(chunks).catch(() => false), late.promise]);
    return complete ? chunks.whole() : new Uint8Array();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", give);
  }
}
