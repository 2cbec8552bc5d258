/** A caller that speaks HTTP/2. Its connection is the server's own, with its bounds; what comes over it is read behind. */
import { LARGE_BYTES } from "./held_answers.ts";
import { HeldBody } from "./held_body.ts";
import type { Host, Hosted, Phase } from "./host.ts";
import { Http2Request } from "./http2_request.ts";
import { Http2Watch } from "./http2_watch.ts";
import type { Conn } from "./listener.ts";
import { PlainResponse } from "./plain_response.ts";
import type { BodyReader } from "./pulled_body.ts";
import { isStream, refusal } from "./response_bytes.ts";
import { Upgrade } from "./upgrade_request.ts";
import { writeAll } from "./write_all.ts";

const BUFFER_BYTES = 16 * 1024;

/** A connection to what reads HTTP/2. */
export interface Inner {
  readonly conn: Deno.TcpConn;
  leave(): void;
}

/** What reads HTTP/2. */
export interface Http2Reader {
  connect(connection: Http2Connection): Promise<Inner>;
  /** Tells all callers that no further requests are taken. */
  stop(): void;
}

export class Http2Connection implements Hosted {
  /** The caller's, and both ends of the one on loopback. */
  readonly files = 3;
  readonly #conn: Conn;
  readonly #host: Host;
  readonly #server: Http2Reader;
  /** Requests under way. */
  #requests = 0;
  /** Those of them that have been read. */
  readonly #read = new Set<Http2Request>();
  /** Those of them whose whole answers wait for the caller to take them. */
  #answered = 0;
  /** Those of them that wait for bytes of their bodies. */
  #unsent = 0;
  #writing = false;
  /** The caller has ended a request before its answer. */
  #resets = false;
  /** The caller has ended the connection. */
  #left = false;
  #closed = false;
  #inner: Inner | null = null;
  phase: Phase = "head";
  due = Infinity;

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
      // The caller has left, or was made to.
    }
    this.close();
  }

  /** @param completed resolves when the answer is with the caller, rejects when it will not be */
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
      // What ends it may have come with it.
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
    if (held === null || PlainResponse.heldOf(response) !== null) return PlainResponse.forHost(response);
    const { status, headers } = response;
    headers.set("content-length", String(held.length));
    return new Response(held.stream(), { status, headers });
  }

  #waits(waits: boolean): void {
    this.#unsent += waits ? 1 : -1;
    this.#look();
  }

  /** A whole answer waits for the caller to take it. Gives what is done when it is over. */
  #answer(size: number): () => void {
    const { held } = this.#host;
    this.#answered++;
    if (size > 0) held.add(this, size);
    this.#look();
    return () => {
      this.#requests--;
      this.#answered--;
      held.taken(this, size);
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = this.#left = true;
    this.#mayLeave();
    this.#conn.close();
    this.#inner?.leave();
    this.#host.held.end(this);
    this.#host.closed(this);
  }

  expire(): void {
    this.close();
  }

  turnAway(): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  giveWay(): void {}

  stop(): void {
    this.#server.stop();
  }

  #enter(phase: Phase): void {
    this.phase = phase;
    this.#host.entered(this);
  }

  /** What the connection is about now. */
  #look(): void {
    if (this.#closed) return;
    const phase = this.#writing || (this.#requests > 0 && this.#requests === this.#answered)
      ? "writing"
      : this.#requests > 0
      ? this.#unsent === this.#requests - this.#answered ? "body" : "handling"
      // What was answered last may still be on its way.
      : this.#host.stopping
      ? "lingering"
      : "idle";
    if (phase !== this.phase && !(phase === "idle" && this.phase === "head")) this.#enter(phase);
  }

  #mayLeave(): void {
    for (const request of this.#read) request.mayLeave();
  }

  /** From the caller. */
  async #asks(inner: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(BUFFER_BYTES);
    const watch = new Http2Watch();
    for (let n = await this.#conn.read(buffer); n !== null; n = await this.#conn.read(buffer)) {
      const bytes = buffer.subarray(0, n);
      if (!watch.allows(bytes)) return;
      if (watch.reset) {
        this.#resets = true;
        this.#mayLeave();
      }
      await writeAll(inner, bytes);
    }
    this.#left = true;
    this.#mayLeave();
    // What it has asked before is answered all the same.
    await inner.closeWrite();
    await new Promise<void>(() => {});
  }

  /** To the caller. */
  async #answers(inner: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(BUFFER_BYTES);
    for (let n = await inner.read(buffer); n !== null; n = await inner.read(buffer)) {
      // Beside requests, who takes nothing is left after a while.
      this.#writing = this.phase !== "head";
      this.#look();
      await writeAll(this.#conn, buffer.subarray(0, n));
      this.#writing = false;
      if (this.#answered > 0) this.#enter(this.phase);
      this.#look();
    }
  }
}

/**
 * A large body that is there as a whole, in pieces. `Deno.serve` says of a text that it is with the caller once it has taken it over
 * itself (Deno 2.9.6).
 */
function heldOf(response: Response): HeldBody | null {
  const held = PlainResponse.heldOf(response);
  if (held !== null) return held;
  const text = PlainResponse.textOf(response);
  return text !== null && text.length > LARGE_BYTES ? HeldBody.ofText(text) : null;
}

/** The same stream. @param ended told once nothing more of it is to come: it may be a while until its caller takes the last of it */
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
