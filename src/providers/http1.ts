/**
 * One HTTP/1.1 exchange over a plain connection, by `node:http`.
 *
 * `fetch` hands every transfer chunk of HTTP/1.1 to JavaScript with a promise of its own; this client hands over all that
 * one read of the socket brought, which is what makes a stream of small frames cheap. Behind TLS `fetch` speaks HTTP/2,
 * where it coalesces by itself, and is the better of the two.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { Buffer } from "node:buffer";
import type { Exchange, Reply } from "./send.ts";
import { broken, timeout, unreachable } from "./send.ts";
import type { Ticker, Watch } from "./ticker.ts";

const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

/** Bytes that wait for the reader before the provider is told to pause. */
const HIGH_WATER = 256 * 1024;

export async function sendPlain(exchange: Exchange, ticker: Ticker): Promise<Reply> {
  try {
    return await attempt(exchange, ticker);
  } catch (thrown) {
    // The provider closed an idle connection just as the request went out on it: nothing of it was read.
    if (thrown instanceof StaleConnection) return await attempt(exchange, ticker);
    throw thrown;
  }
}

class StaleConnection extends Error {}

function attempt(exchange: Exchange, ticker: Ticker): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(exchange.body);
    let late = false;
    const outgoing: ClientRequest = request(exchange.url, {
      agent,
      method: "POST",
      headers: { ...exchange.headers, "content-length": body.length },
    });
    const watch = ticker.watch(() => {
      late = true;
      outgoing.destroy();
    });
    watch.arm(exchange.firstByteMs);
    let reply: PlainReply | undefined;
    outgoing.on(
      "response",
      (incoming) => resolve(reply = new PlainReply(incoming, outgoing, exchange, watch, () => late)),
    );
    outgoing.on("error", (cause) => {
      if (reply) return reply.fail(cause);
      watch.close();
      const stale = outgoing.reusedSocket && (cause as { code?: string }).code === "ECONNRESET";
      reject(late ? timeout(exchange.firstByteMs) : stale ? new StaleConnection() : unreachable(cause));
    });
    outgoing.end(body);
  });
}

class PlainReply implements Reply {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ClientRequest;
  readonly #exchange: Exchange;
  readonly #watch: Watch;
  readonly #late: () => boolean;
  #queue: Buffer[] = [];
  #queued = 0;
  #begun = false;
  #ended = false;
  #failure: unknown;
  /** Who waits for the next bytes. */
  #wake: (() => void) | null = null;

  constructor(
    incoming: IncomingMessage,
    outgoing: ClientRequest,
    exchange: Exchange,
    watch: Watch,
    late: () => boolean,
  ) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#exchange = exchange;
    this.#watch = watch;
    this.#late = late;
    incoming.on("data", (bytes: Buffer) => {
      this.#queue.push(bytes);
      this.#queued += bytes.length;
      if (this.#queued > HIGH_WATER) incoming.pause();
      this.#rouse();
    });
    incoming.on("end", () => {
      this.#ended = true;
      this.#rouse();
    });
    incoming.on("error", (cause) => this.fail(cause));
    incoming.on("close", () => {
      if (!this.#ended) this.fail(new Error("closed"));
    });
  }

  get status(): number {
    return this.#incoming.statusCode ?? 0;
  }

  header(name: string): string | null {
    const value = this.#incoming.headers[name];
    return value === undefined ? null : String(value);
  }

  fail(cause: unknown): void {
    this.#failure ??= cause;
    this.#rouse();
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#queued === 0 && !this.#ended && this.#failure === undefined) {
      const { firstByteMs, idleMs } = this.#exchange;
      this.#watch.arm(this.#begun ? idleMs : firstByteMs);
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#watch.disarm();
    }
    if (this.#queued > 0) {
      this.#begun = true;
      const bytes = this.#queue.length === 1 ? this.#queue[0] : Buffer.concat(this.#queue);
      this.#queue = [];
      if (this.#queued > HIGH_WATER) this.#incoming.resume();
      this.#queued = 0;
      return bytes;
    }
    if (this.#failure !== undefined) {
      const { firstByteMs, idleMs } = this.#exchange;
      const begun = this.#begun;
      throw this.#late() ? timeout(begun ? idleMs : firstByteMs, begun) : broken(this.#failure, begun);
    }
    return null;
  }

  close(): void {
    this.#watch.close();
    if (!this.#ended) this.#outgoing.destroy();
  }
}
