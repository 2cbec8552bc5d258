/**
 * One short exchange with a service beside the conversations: a list of models, a token, an object of a storage, a search, an
 * event for a receiver. What it answers is a stranger's, so its head, its body and its time are bounded.
 *
 * By the own client, like calls of models: `fetch` reads any number of interim answers before it tells anything, and hands over
 * each chunk by itself, both of which hold up everybody (Deno 2.9.6). Redirects, which would be the service's choice, are not
 * followed, and no coding is asked for that could make much of little.
 */
import { Ticker } from "../timing/ticker.ts";
import { pause } from "../timing/waits.ts";
import type { Reply } from "./reply.ts";
import { whyUnreachable } from "./why_unreachable.ts";
import { openSend, type Send, type SendOptions } from "./send.ts";

export interface Question {
  /** Absent: GET. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Bytes of the answer's body. */
  most: number;
  /** What the answer has beyond them is left out. Absent: such an answer is refused. */
  cuts?: true;
  /** Ends the exchange at any time. */
  signal: AbortSignal;
}

/** An answer that has come whole. */
export interface Answer {
  status: number;
  /** The status says that it was done. */
  ok: boolean;
  header(name: string): string | null;
  bytes: Uint8Array<ArrayBuffer>;
  text(): string;
}

/** The signal ends an exchange sooner. */
const LONGEST_MS = 600_000;
const FIRST_BYTES = 4096;
/** Pieces that are read before others have their turn: through `fetch` each takes some 40 µs, however small it is (Deno 2.9.6). */
const TURN_PIECES = 16;

/** Sent by `fetch` too. Some services refuse clients that do not say who they are. */
const USUAL_HEADERS = { accept: "*/*", "accept-encoding": "identity", "user-agent": "sluice" };

const ticker = new Ticker();
let usual: Send | undefined;

/** How {@link ask} reaches services in this process. */
export function askThrough(options: SendOptions): void {
  usual = openSend(options);
}

/** A TypeError, as `fetch` throws it. It tells no address. */
class NoAnswer extends TypeError {
  /** Null: it is not known. */
  readonly reason: string | null;

  constructor(reason: string | null) {
    super(reason === null ? "there is no answer" : `there is no answer: ${reason}`);
    this.reason = reason;
  }
}

/** The same words with the reason behind them, where {@link ask} has thrown it and the reason is known. */
export function withReason(words: string, thrown: unknown): string {
  return thrown instanceof NoAnswer && thrown.reason !== null ? `${words}: ${thrown.reason}` : words;
}

/** Why something was not taken, for the operator: a text is told as it is, of errors that {@link ask} does not throw the name alone. */
export function whyNotTaken(trouble: unknown): string {
  if (typeof trouble === "string") return trouble;
  if (trouble instanceof NoAnswer) return withReason("it cannot be reached", trouble);
  if (!(trouble instanceof Error)) return "for an unknown reason";
  return trouble.name === "TimeoutError" ? "it did not answer in time" : trouble.name;
}

/**
 * Throws the signal's reason when that has ended it, a RangeError for an answer that is too long, and a TypeError, as `fetch`
 * does, when there is no answer. None tells an address.
 */
export function ask(url: string, question: Question): Promise<Answer> {
  return askBy(usual ??= openSend(), url, question);
}

/**
 * Asks a service and reads its answer, whatever its status. Rejects with `NoAnswer` where it cannot be reached, with a
 * RangeError where the answer is longer than `most` bytes and may not be cut, and with the signal's reason once that is
 * aborted.
 */
export async function askBy(
  send: Send,
  url: string,
  { method = "GET", headers, body = "", most, cuts, signal }: Question,
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

/** In one piece of memory that grows: a stranger chooses how small the pieces are that come. */
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
