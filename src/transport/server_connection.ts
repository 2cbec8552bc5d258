/**
 * One connection of a caller. Requests are processed one after the other: each is read, handled and answered before the next is parsed.
 *
 * While a request is handled, a pending read detects that the caller disconnects. If it returns data instead (a pipelined request), the
 * data waits in the buffer.
 */
import { Buffer } from "node:buffer";
import type { StatusCode } from "@std/http/status.js";
import { WireError } from "./body_framing.ts";
import { BUFFER_BYTES, BUFFER_BYTES_MOST, SMALL_BUFFER_BYTES } from "./buffer_sizes.ts";
import { LARGE_BYTES } from "./unsent_answers.ts";
import { MAX_HEAD_BYTES, refuseLoneFeeds } from "./head.ts";
import type { HeldBody } from "./held_body.ts";
import type { Host, Hosted, Phase } from "./host.ts";
import { ConnectionBody } from "./connection_body.ts";
import { Incoming } from "./incoming.ts";
import type { Conn } from "./listener.ts";
import { PlainResponse } from "./plain_response.ts";
import type { BodyReader } from "./pulled_body.ts";
import { asksForWebSocket, Upgrade } from "./websocket/upgrade_request.ts";
import type { WebSocketConnection, WireReader } from "./websocket/socket.ts";
import { Refusal, type RequestHead } from "./request_head.ts";
import { RequestHeads } from "./request_heads.ts";
import { connectionField, endsConnection, headOf, isStream, refusalBytes } from "./response_bytes.ts";
import { writeStream } from "./stream_writer.ts";
import { headBytes } from "./text_bytes.ts";
import { writeWhole } from "./whole_writer.ts";

export class ServerConnection implements Hosted {
  readonly #conn: Conn;
  readonly #host: Host;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #from = 0;
  #to = 0;
  readonly #heads = new RequestHeads();
  /** A read started while a request was being handled. */
  #ahead: Promise<number | null> | null = null;
  #request: Incoming | null = null;
  #reader: BodyReader | null = null;
  #socket: WebSocketConnection | null = null;
  /** The previous answer was not a stream, so the next request is likely to come soon. */
  #wasWhole = false;
  #closed = false;
  readonly files = 1;
  phase: Phase = "head";
  /** Timeout of the current phase; set by {@link Host.entered}. */
  due = Infinity;
  steps = 0;

  constructor(conn: Conn, host: Host) {
    this.#conn = conn;
    this.#host = host;
  }

  async serve(): Promise<void> {
    try {
      this.#conn.setNoDelay(true);
      this.#enter("head");
      while (await this.#one());
      if (this.#socket === null && !this.#closed) await this.#conn.finish?.(() => this.#enter("lingering"));
    } catch {
      // The client has disconnected, or was disconnected.
    }
    if (this.#socket === null) this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#conn.close();
    this.#host.closed(this);
    this.#disconnected();
  }

  expire(): void {
    if (this.phase === "body" || (this.phase === "head" && this.#to > this.#from)) {
      // The client may have disconnected.
      void this.#refuse(408, "the request did not come in time").catch(() => {}).finally(() => this.close());
      // A read is pending; it ends only when the connection closes.
      this.#enter("lingering");
    } else this.close();
  }

  async turnAway(): Promise<void> {
    try {
      this.#enter("lingering");
      await this.#refuse(503, "there are too many connections", "retry-after: 1\r\n");
      await this.#linger();
    } catch {
      // The client has disconnected.
    }
    this.close();
  }

  #enter(phase: Phase): void {
    const before = this.phase;
    this.phase = phase;
    this.#host.entered(this, before);
  }

  #disconnected(): void {
    this.#request?.leave();
    this.#request = null;
    void this.#reader?.cancel().catch(() => {});
    this.#reader = null;
  }

  /** Handles one request. Returns whether another one may follow. */
  async #one(): Promise<boolean> {
    let head: RequestHead | null;
    try {
      head = await this.#head();
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown;
      await this.#refuse(thrown instanceof Refusal ? thrown.status : 400, thrown.message);
      return await this.#linger();
    }
    if (head === null) return false;
    const { method, url, fields, framing } = head;
    const source = new ConnectionBody(this, head);
    const request = new Incoming(method, url, { fields, framing, source });
    this.#request = request;
    this.#enter("handling");
    // Not for a WebSocket: the pending read would keep its buffer for as long as the socket is idle.
    if (framing.ended && !(fields.has("upgrade") && asksForWebSocket(request))) this.#watch();
    const response = await this.#host.handle(request, { remoteAddr: this.#conn.remoteAddr as Deno.NetAddr })
      .catch(() => new Response(null, { status: 500 }));
    const keeps = head.keepAlive && framing.ended && !this.#host.stopping && !endsConnection(response);
    if (response instanceof Upgrade) return await this.#upgrade(response, head);
    if (this.#closed) {
      await response.body?.cancel().catch(() => {});
      return false;
    }
    this.#wasWhole = !isStream(response) || method === "HEAD";
    if (this.#wasWhole) {
      await writeWhole(this, response, connectionField(keeps, head.minor), method === "HEAD");
    } else await this.#stream(response, keeps && head.minor === 1, head.minor);
    this.#request = null;
    if (!framing.ended) await this.#linger();
    return keeps && !this.#closed && (head.minor === 1 || !isStream(response));
  }

  /** Null: the client has closed the connection. */
  async #head(): Promise<RequestHead | null> {
    let looked = this.#from;
    if (this.#from === this.#to) this.#rest();
    else this.#enter("head");
    while (true) {
      // Empty lines before a request are ignored.
      while (
        this.#to - this.#from >= 2 && this.#buffer[this.#from] === 13 && this.#buffer[this.#from + 1] === 10
      ) {
        this.#from += 2;
      }
      looked = Math.max(looked, this.#from);
      const head = this.#heads.next(this.#buffer, this.#from, looked, this.#to);
      if (head !== null) {
        this.#from = this.#heads.end;
        return head;
      }
      refuseLoneFeeds(this.#buffer, this.#from, looked, this.#to);
      if (this.#to - this.#from >= MAX_HEAD_BYTES) throw new Refusal(431, "the head is too long");
      // Relative to the start of the head, which moves when the buffer is compacted.
      const before = Math.max(0, this.#to - 2 - this.#from);
      if (!await this.fill()) return null;
      looked = this.#from + before;
      if (this.phase === "idle") this.#enter("head");
    }
  }

  /** Called when no byte of the next request has been received. */
  #rest(): void {
    if (this.#buffer.length > BUFFER_BYTES && this.#ahead === null) {
      this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
      this.#from = this.#to = 0;
    }
    if (this.phase !== "head") this.#enter("idle");
  }

  /** Reads more. False: the client has closed the connection. */
  async fill(): Promise<boolean> {
    const n = await this.#reading();
    this.#ahead = null;
    if (n === null) return false;
    this.#to += n;
    return true;
  }

  /** The pending read, or a new one. */
  #reading(): Promise<number | null> {
    if (this.#ahead === null) this.#makeRoom();
    return this.#ahead ?? this.#read();
  }

  #read(): Promise<number | null> {
    return this.#conn.read(this.#to === 0 ? this.#buffer : this.#buffer.subarray(this.#to));
  }

  /** Adjusts the buffer of a WebSocket to the last read: thousands may be idle, while some send megabytes. */
  #fit(): void {
    if (this.#from < this.#to) return;
    const { length } = this.#buffer;
    const fitting = this.#to === length
      ? Math.min(2 * length, BUFFER_BYTES_MOST)
      : this.#to < length / 8
      ? SMALL_BUFFER_BYTES
      : length;
    if (fitting !== length) this.#buffer = Buffer.allocUnsafeSlow(fitting);
    this.#from = this.#to = 0;
  }

  #makeRoom(): void {
    if (this.#socket !== null) this.#fit();
    if (this.#from === this.#to) this.#from = this.#to = 0;
    const small = this.#socket === null && this.#buffer.length < BUFFER_BYTES;
    if (this.#to < this.#buffer.length && !small) return;
    const kept = this.#buffer.subarray(this.#from, this.#to);
    if (small || this.#from < this.#buffer.length / 2) {
      const size = small ? BUFFER_BYTES : Math.min(this.#buffer.length * 2, 2 * BUFFER_BYTES_MOST);
      const larger = Buffer.allocUnsafeSlow(size);
      larger.set(kept);
      this.#buffer = larger;
    } else this.#buffer.copyWithin(0, this.#from, this.#to);
    this.#to -= this.#from;
    this.#from = 0;
  }

  /**
   * Detects that the client disconnects while it waits for its answer. Not possible after it has sent much in
   * advance; then only a failed write shows it.
   */
  #watch(): void {
    if (this.#ahead === null) {
      if (this.unread >= BUFFER_BYTES) return;
      if (this.unread === 0) {
        this.#from = this.#to = 0;
        // Streams may last long, and there may be thousands of them.
        const { length } = this.#buffer;
        const size = this.#wasWhole ? Math.max(length, BUFFER_BYTES) : SMALL_BUFFER_BYTES;
        if (length !== size) this.#buffer = Buffer.allocUnsafeSlow(size);
      } else if (this.#to === this.#buffer.length) this.#makeRoom();
      this.#ahead = this.#read();
    }
    const ahead = this.#ahead;
    const request = this.#request;
    const came = (n: number | null) => {
      if (this.#ahead !== ahead || this.#request !== request || request === null) return;
      if (n === null) return this.close();
      this.#ahead = null;
      this.#to += n;
      this.#watch();
    };
    ahead.then(came, () => came(null));
  }

  /** Passes the unconsumed bytes to `use`. */
  taken(use: (buffer: Buffer, from: number, to: number) => number): void {
    this.#from = use(this.#buffer, this.#from, this.#to);
  }

  get unread(): number {
    return this.#to - this.#from;
  }

  /** The result of an earlier pending read comes first. */
  async readDirectly(into: Uint8Array): Promise<number | null> {
    return this.#ahead === null ? await this.#conn.read(into) : await this.fill() ? 0 : null;
  }

  /** Called when the body waits for bytes. */
  bodyWaits(): void {
    this.#enter("body");
  }

  bodyCame(ended: boolean): void {
    if (this.phase === "lingering") throw new WireError("the request did not come in time");
    this.#enter("handling");
    if (ended) this.#watch();
  }

  get closed(): boolean {
    return this.#closed;
  }

  handles(): void {
    this.#enter("handling");
  }

  async writeDirectly(bytes: Uint8Array, taken: () => void): Promise<void> {
    try {
      this.#enter("writing");
      const done = await this.#conn.write(bytes);
      if (done < bytes.length) await this.#put(bytes.subarray(done));
      this.#enter("handling");
    } catch {
      this.close();
    }
    taken();
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#socket === null && bytes.length <= LARGE_BYTES ? this.#put(bytes) : this.#putHeld(bytes);
  }

  async #putHeld(bytes: Uint8Array): Promise<void> {
    const large = bytes.length > LARGE_BYTES;
    if (large) this.#host.unsent.add(this, bytes.length);
    await this.#put(bytes).finally(() => large && this.#host.unsent.end(this));
    if (this.#socket !== null) this.#enter("upgraded");
  }

  async #put(bytes: Uint8Array): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      if (this.phase !== "lingering") this.#enter("writing");
      done += await this.#conn.write(done === 0 ? bytes : bytes.subarray(done));
    }
  }

  /** Hands the connection over to a WebSocket until it closes. */
  async #upgrade(upgrade: Upgrade, { framing, minor }: RequestHead): Promise<false> {
    this.#request = null;
    let begun = false;
    try {
      if (this.#closed) return false;
      if (!framing.ended || minor === 0) {
        await this.#refuse(400, "expected a handshake over HTTP/1.1 without a body");
        return await this.#linger();
      }
      this.#enter("upgraded");
      await this.write(headBytes(upgrade.head));
      if (this.#closed || this.#host.stopping) return false;
      this.#enter("upgraded");
      const socket = this.#socket = upgrade.open(this);
      begun = true;
      socket.begin();
      return false;
    } finally {
      if (!begun) upgrade.user.over?.();
    }
  }

  /** Waits for bytes without an async function, which would be kept in memory. */
  read(reader: WireReader): void {
    const reading = this.#reading();
    this.#ahead = null;
    reading.then((n) => {
      if (n === null) return reader.ended();
      this.#to += n;
      reader.came();
    }, () => reader.ended());
  }

  ends(): void {
    void this.#conn.closeWrite().catch(() => {});
  }

  rests(rests: boolean): void {
    this.#host.rests(this, rests);
  }

  closeSocket(): void {
    void this.#socket?.closeNow();
  }

  /** Takes no further requests. A WebSocket is closed after its current turn. */
  stop(): void {
    this.#socket?.stop();
  }

  pass(head: Uint8Array, body: HeldBody): Promise<void> {
    return this.#host.unsent.pass(this, { head, body }, (piece) => this.#put(piece));
  }

  async #stream(response: Response, keeps: boolean, minor: number): Promise<void> {
    const chunked = minor === 1;
    const framing = (chunked ? "transfer-encoding: chunked\r\n" : "") + connectionField(keeps, minor);
    const reader: BodyReader = this.#reader = PlainResponse.pulledOf(response) ?? response.body!.getReader();
    await writeStream(this, { reader, head: headOf(response, framing), chunked });
    this.#reader = null;
  }

  async #refuse(status: StatusCode, message: string, more = ""): Promise<void> {
    await this.#conn.write(refusalBytes(status, message, more));
  }

  /** Shuts down the sending side, and reads what the client still sends. */
  async #linger(): Promise<false> {
    if (this.#closed) return false;
    this.#enter("lingering");
    await this.#conn.closeWrite();
    if (this.#ahead !== null) await this.#ahead;
    while (await this.#conn.read(this.#buffer) !== null);
    return false;
  }

  /** How long a rejected client is still read, in milliseconds: an immediate close would lose the answer. */
  static readonly LINGER_MS = 2000;
}
