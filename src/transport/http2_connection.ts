/**
 * An HTTP/2 client connection. The server accepts and limits it; its bytes are relayed to an HTTP/2
 * implementation.
 */
import { LARGE_BYTES } from "./unsent_answers.ts";
import { HeldBody } from "./held_body.ts";
import type { Host, Hosted, Phase } from "./host.ts";
import { Http2Request } from "./http2_request.ts";
import { AnswerFrames, Http2Watch } from "./http2_watch.ts";
import { type InputPace, LITTLE_WORK } from "./input_pace.ts";
import type { Conn } from "./listener.ts";
import { PlainResponse } from "./plain_response.ts";
import type { BodyReader } from "./pulled_body.ts";
import { isStream, refusal } from "./response_bytes.ts";
import { Upgrade } from "./websocket/upgrade_request.ts";
import { writeAll } from "./write_all.ts";
import { within } from "../timing/within.ts";

const BUFFER_BYTES = 16 * 1024;
/** Bytes whose frames make more work than this, in the unit of {@link InputPace}, are relayed in pieces. */
const MUCH = 2000;
const PIECE_BYTES = 1024;
/** How long the rest of a request is read after its answer, in milliseconds. */
const LINGER_MS = 2000;

/** A connection to the HTTP/2 implementation. */
export interface Inner {
  readonly conn: Deno.TcpConn;
  leave(): void;
}

/** The HTTP/2 implementation. */
export interface Http2Reader {
  readonly pace: Pick<InputPace, "enter">;
  connect(connection: Http2Connection): Promise<Inner>;
  /** Sends GOAWAY on all connections. */
  stop(): void;
}

export class Http2Connection implements Hosted {
  /** The client's socket, and both ends of the loopback connection. */
  readonly files = 3;
  readonly #conn: Conn;
  readonly #host: Host;
  readonly #server: Http2Reader;
  readonly #watch = new Http2Watch();
  /** Number of current requests. */
  #requests = 0;
  /** Requests received from the HTTP/2 implementation. */
  readonly #read = new Set<Http2Request>();
  /** Number of requests whose complete answers the client has not fully received. */
  #answered = 0;
  /** Number of requests that wait for bytes of their bodies. */
  #unsent = 0;
  #writing = false;
  /** The client has reset a stream before its answer. */
  #resets = false;
  /** The client has closed the connection. */
  #left = false;
  #closed = false;
  #inner: Inner | null = null;
  phase: Phase = "head";
  due = Infinity;
  steps = 0;

  constructor(conn: Conn, host: Host, server: Http2Reader) {
    this.#conn = conn;
    this.#host = host;
    this.#server = server;
  }

  async serve(): Promise<void> {
    try {
      this.#conn.setNoDelay(true);
      this.#enter("head");
      const inner = this.#inner = await this.#server.connect(this);
      if (this.#closed) inner.leave();
      else await Promise.race([this.#asks(inner.conn), this.#answers(inner.conn)]);
    } catch {
      // The client has disconnected, or was disconnected.
    }
    this.close();
  }

  /** @param completed resolves when the client has the answer, rejects if it will not get it */
  async handle(request: Request, completed: Promise<void>): Promise<Response> {
    this.#requests++;
    this.#look();
    let over = () => {
      this.#requests--;
    };
    let isOver = false;
    const read = Http2Request.of(request, (waits) => this.#waits(waits));
    if (read !== null) {
      this.#read.add(read);
      // The connection may have been closed together with the request.
      if (this.#left) read.leave();
      else if (this.#resets) read.mayLeave();
    }
    completed.catch(() => {}).finally(() => {
      isOver = true;
      if (read !== null) this.#read.delete(read);
      over();
      this.#look();
    });
    if (read === null) return refusal(400, "expected one host");
    const response = await this.#host.handle(read, { remoteAddr: this.#conn.remoteAddr as Deno.NetAddr });
    if (response instanceof Upgrade) {
      response.user.over?.();
      return refusal(400, "a WebSocket begins over HTTP/1.1");
    }
    const held = heldOf(response);
    const streams = isStream(response);
    const answered = () => {
      if (!isOver && !this.#closed) over = this.#answer(held?.length ?? 0);
    };
    if (!streams) answered();
    response.headers.delete("connection");
    if (streams) return followed(response, answered);
    if (read.hasRest && response.body !== null) return await beforeRest(response, read);
    if (held === null || PlainResponse.heldOf(response) !== null) return PlainResponse.forHost(response);
    const { status, headers } = response;
    headers.set("content-length", String(held.length));
    return new Response(held.stream(), { status, headers });
  }

  #waits(waits: boolean): void {
    this.#unsent += waits ? 1 : -1;
    this.#look();
  }

  /** Tracks a complete answer that the client has not received. Returns a function to call when it is over. */
  #answer(size: number): () => void {
    const { unsent } = this.#host;
    this.#answered++;
    if (size > 0) unsent.add(this, size);
    this.#look();
    return () => {
      this.#requests--;
      this.#answered--;
      unsent.taken(this, size);
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = this.#left = true;
    this.#mayLeave();
    this.#conn.close();
    this.#inner?.leave();
    this.#host.unsent.end(this);
    this.#host.closed(this);
  }

  expire(): void {
    this.close();
  }

  turnAway(): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  closeSocket(): void {}

  stop(): void {
    this.#server.stop();
  }

  #enter(phase: Phase): void {
    this.phase = phase;
    this.#host.entered(this);
  }

  /** Determines the current phase. */
  #look(): void {
    if (this.#closed) return;
    const phase = this.#writing || (this.#requests > 0 && this.#requests === this.#answered)
      ? "writing"
      : this.#requests > 0
      ? this.#unsent === this.#requests - this.#answered ? "body" : "handling"
      // The last answer may still be in transit.
      : this.#host.stopping
      ? "lingering"
      : "idle";
    if (phase !== this.phase && !(phase === "idle" && this.phase === "head")) this.#enter(phase);
  }

  #mayLeave(): void {
    for (const request of this.#read) request.mayLeave();
  }

  /** Relays bytes from the client. */
  async #asks(inner: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(BUFFER_BYTES);
    const watch = this.#watch;
    for (let n = await this.#conn.read(buffer); n !== null; n = await this.#conn.read(buffer)) {
      const bytes = buffer.subarray(0, n);
      if (!watch.allows(bytes)) return;
      if (watch.reset) {
        this.#resets = true;
        this.#mayLeave();
      }
      const { pace } = this.#server;
      const { cost } = watch;
      const step = cost > MUCH ? PIECE_BYTES : n;
      for (let at = 0; at < n; at += step) {
        const turn = cost > LITTLE_WORK ? pace.enter(cost * step / n) : null;
        if (turn !== null) await turn;
        await writeAll(inner, bytes.subarray(at, at + step));
      }
    }
    this.#left = true;
    this.#mayLeave();
    // Requests received before are still answered.
    await inner.closeWrite();
    await new Promise<void>(() => {});
  }

  /** Relays bytes to the client. */
  async #answers(inner: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(BUFFER_BYTES);
    const frames = new AnswerFrames();
    for (let n = await inner.read(buffer); n !== null; n = await inner.read(buffer)) {
      const bytes = buffer.subarray(0, n);
      // Answers to PING are no progress: a client could hold its place with them, and receive nothing.
      const carries = frames.carry(bytes);
      this.#watch.sent(frames.dataFrames);
      // While no body is awaited, a client that receives nothing times out.
      this.#writing = carries && this.phase !== "head";
      this.#look();
      await writeAll(this.#conn, bytes);
      this.#writing = false;
      if (carries && this.#answered > 0) this.#enter(this.phase);
      this.#look();
    }
  }
}

/**
 * A large complete body, to be sent in pieces. `Deno.serve` reports a text body as delivered as soon as it
 * has accepted it (Deno 2.9.6).
 */
function heldOf(response: Response): HeldBody | null {
  const held = PlainResponse.heldOf(response);
  if (held !== null) return held;
  const text = PlainResponse.textOf(response);
  return text !== null && text.length > LARGE_BYTES ? HeldBody.ofText(text) : null;
}

/**
 * The answer to a request whose body was not read to its end. The answer ends when the rest has been discarded: an answer
 * that ends before makes the implementation reset the stream, for which some clients discard the answer (curl 7.88).
 */
async function beforeRest(response: Response, request: Http2Request): Promise<Response> {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  headers.set("content-length", String(bytes.length));
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(bytes),
    pull: async (controller) => {
      const late = () => new Error("the request did not end in time");
      await within(LINGER_MS, request.discardRest(), late).catch(() => request.cancelRest());
      controller.close();
    },
    cancel: () => request.cancelRest(),
  });
  return new Response(body, { status, headers });
}

/**
 * The same stream.
 * @param ended called when the source has ended, which may be before the client has received everything
 */
function followed(response: Response, ended: () => void): Response {
  const { status, headers } = response;
  const reader: BodyReader = PlainResponse.pulledOf(response) ?? response.body!.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value!);
      ended();
      controller.close();
    },
    cancel: () => reader.cancel(),
  }, { highWaterMark: 0 });
  return new Response(body, { status, headers });
}
