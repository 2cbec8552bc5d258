/**
 * One short HTTP request to a service other than a model: a list of models, a token, an object in a storage, a web search, a webhook. The
 * answer is untrusted, so its header section, its body and its time are limited.
 *
 * The request uses the gateway's own HTTP client, like calls of models. `fetch` reads an unlimited number of interim (1xx) responses
 * and passes on each chunk separately, and both can block the event loop (Deno 2.9.6). Redirects are not followed, since the service
 * chooses their target. Compressed answers are not requested, to prevent decompression bombs.
 */
import { Ticker } from "../timing/ticker.ts";
import { pause } from "../timing/waits.ts";
import type { ClientTls } from "./client_tls.ts";
import type { Reply } from "./reply.ts";
import { whyUnreachable } from "./why_unreachable.ts";
import { openSend, type Send, type SendOptions } from "./send.ts";

export interface Question {
  /** Absent: GET. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Maximum size of the body, in bytes. */
  most: number;
  /** A larger body is truncated. Absent: a larger body is an error. */
  cuts?: true;
  /** Aborts the request. */
  signal: AbortSignal;
  /** As of an exchange. */
  tls?: ClientTls;
}

/** A complete answer. */
export interface Answer {
  status: number;
  /** The status is 2xx. */
  ok: boolean;
  header(name: string): string | null;
  bytes: Uint8Array<ArrayBuffer>;
  text(): string;
}

/** Upper limit of the timeouts, in milliseconds; usually the signal ends a request sooner. */
const LONGEST_MS = 600_000;
const FIRST_BYTES = 4096;
/** Chunks that are read before other tasks run. With `fetch` each chunk takes some 40 µs, however small it is (Deno 2.9.6). */
const TURN_PIECES = 16;

/** The same defaults as in `fetch`. Some services refuse clients without a `user-agent`. */
const USUAL_HEADERS = { accept: "*/*", "accept-encoding": "identity", "user-agent": "sluice" };

const ticker = new Ticker();
let usual: Send | undefined;

/** Sets how {@link ask} sends requests in this process (proxies, certificates). */
export function askThrough(options: SendOptions): void {
  usual = openSend(options);
}

/** The service cannot be reached. A TypeError, as `fetch` throws it, whose message contains no URL. */
class NoAnswer extends TypeError {
  /** The reason; null: unknown. */
  readonly reason: string | null;

  constructor(reason: string | null) {
    super(reason === null ? "there is no answer" : `there is no answer: ${reason}`);
    this.reason = reason;
  }
}

/** The message, followed by the reason if {@link ask} has thrown the error and its reason is known. */
export function withReason(words: string, thrown: unknown): string {
  return thrown instanceof NoAnswer && thrown.reason !== null ? `${words}: ${thrown.reason}` : words;
}

/** The reason of a failed delivery, for operators. Strings are returned unchanged; of errors not thrown by {@link ask}, only the name. */
export function deliveryError(trouble: unknown): string {
  if (typeof trouble === "string") return trouble;
  if (trouble instanceof NoAnswer) return withReason("it cannot be reached", trouble);
  if (!(trouble instanceof Error)) return "for an unknown reason";
  return trouble.name === "TimeoutError" ? "it did not answer in time" : trouble.name;
}

/**
 * Sends a request and reads the whole answer, whatever its status. Rejects with the signal's reason after an abort, with a RangeError
 * if the answer is too long, and with a TypeError, like `fetch`, if there is no answer. No message contains a URL.
 */
export function ask(url: string, question: Question): Promise<Answer> {
  return askBy(usual ??= openSend(), url, question);
}

/**
 * Sends a request and reads the whole answer, whatever its status. Rejects with `NoAnswer` if the service cannot be reached, with a
 * RangeError if the answer is longer than `most` bytes and may not be truncated, and with the signal's reason after an abort.
 */
export async function askBy(
  send: Send,
  url: string,
  { method = "GET", headers, body = "", most, cuts, signal, tls }: Question,
): Promise<Answer> {
  signal.throwIfAborted();
  const address = new URL(url);
  if (!/^https?:$/.test(address.protocol)) throw new TypeError("the address is none of HTTP");
  const login = address.username === "" && address.password === "" ? undefined : {
    authorization: `Basic ${
      btoa(`${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`)
    }`,
  };
  address.username = address.password = "";
  let reply: Reply | undefined;
  try {
    reply = await send({
      method,
      url: address.href,
      once: true,
      headers: { ...USUAL_HEADERS, ...login, ...lowered(headers) },
      body,
      firstByteMs: LONGEST_MS,
      idleMs: LONGEST_MS,
      signal,
      tls,
    }, ticker);
    return answerOf(reply, await bodyOf(reply, most, cuts === true));
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown instanceof RangeError ? thrown : new NoAnswer(whyUnreachable(thrown));
  } finally {
    reply?.close();
  }
}

function lowered(headers: Question["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function answerOf(reply: Reply, bytes: Uint8Array<ArrayBuffer>): Answer {
  const { status } = reply;
  return {
    status,
    ok: status >= 200 && status < 300,
    header: (name) => reply.header(name),
    bytes,
    text: () => new TextDecoder().decode(bytes),
  };
}

/** Reads the body into one growing buffer: the service chooses the size of the chunks, so a list of chunks could be very long. */
async function bodyOf(reply: Reply, most: number, cuts: boolean): Promise<Uint8Array<ArrayBuffer>> {
  let body = new Uint8Array(Math.min(most, FIRST_BYTES));
  let size = 0;
  let pieces = 0;
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    const fits = Math.min(bytes.length, most - size);
    if (fits < bytes.length && !cuts) throw new RangeError(`the answer is longer than ${most} bytes`);
    if (size + fits > body.length) {
      const larger = new Uint8Array(Math.min(most, Math.max(size + fits, 2 * body.length)));
      larger.set(body.subarray(0, size));
      body = larger;
    }
    body.set(fits < bytes.length ? bytes.subarray(0, fits) : bytes, size);
    size += fits;
    if (fits < bytes.length) break;
    if (++pieces % TURN_PIECES === 0) await pause(0);
  }
  return body.subarray(0, size);
}
