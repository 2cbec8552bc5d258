/**
 * An HTTP/2 client connection (RFC 9113), which carries many requests at the same time.
 *
 * What has arrived on the socket is delivered to its streams in batches, and frames to send are collected for one write. A slow reader
 * does not block other streams: each stream has its own flow-control window, and the window of the connection is restored as soon as
 * data has arrived, whether it has been read or not.
 */
import { WireError } from "../../transport/body_framing.ts";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import { CODE, ConnectionError, expectLength, expectStream } from "./connection_error.ts";
import type { FramePace } from "./frame_pace.ts";
import { FrameReader } from "./frame_reader.ts";
import { FrameWriter } from "./frame_writer.ts";
import {
  FLAG,
  FRAME,
  frame,
  FRAME_BYTES,
  headFrames,
  MOST_FRAME_BYTES,
  numberFrame,
  PREFACE,
  readUint32,
  SETTING,
  settings,
  WINDOW_BYTES,
} from "./frames.ts";
import { type Field, NO_TABLE } from "./hpack.ts";
import { IdleFrames } from "./idle_frames.ts";
import { RequestBodies } from "./request_bodies.ts";
import { type Http2Stream, STREAM_WINDOW_BYTES, type StreamConnection } from "./stream.ts";

/** Flow-control window of the connection, for all streams together: more than a fast server can send within one round trip. */
const CONNECTION_WINDOW_BYTES = 16 << 20;
/** Client streams have odd ids up to 2^31. A connection that has reached this id accepts no more requests. */
const LAST_ID = 1 << 30;
/** If a server makes the gateway queue so many bytes of replies without reading them, the connection is closed. */
const MOST_WAITING_ANSWERS = 1 << 20;
/** While so many bytes wait to be written, requests use another connection. */
const MOST_WAITING_BYTES = 1 << 20;
/** If nothing has been received for this time, in milliseconds, a PING is sent together with the next request. */
const SILENT_MS = 5000;
/** Maximum number of settings in a frame: there are seven, and each may change the windows of all streams. */
const MOST_SETTINGS = 32;

export interface ConnectionOptions {
  /** The time in milliseconds, at most one tick old. */
  now(): number;
  /** Called when it accepts no more requests. @param mistaken the server violated the protocol */
  ended(mistaken: boolean): void;
  /** Maximum number of concurrent requests until the server sends its SETTINGS. */
  mostStreams: number;
  /** Called with the limit of the server. Returns the limit to use. */
  allows(streams: number): number;
  /** When the next batch of frames is read. */
  pace: Pick<FramePace, "after" | "pause">;
}

export class Http2Connection implements StreamConnection {
  readonly #conn: Deno.TcpConn | Deno.TlsConn;
  readonly #options: ConnectionOptions;
  readonly #streams = new Map<number, Http2Stream>();
  /** Streams with data of this batch for which their readers wait. */
  #undelivered: Http2Stream[] = [];
  /** A frame of this batch has opened a window. At its end, so that many small updates make few frames, more of the bodies is sent. */
  #opened = false;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #bodies: RequestBodies;
  #nextId = 1;
  /** It accepts no more requests. */
  #retired = false;
  #closed = false;
  /** Maximum number of concurrent requests, and whether the first SETTINGS frame has arrived. */
  #mostStreams: number;
  #settled = false;
  /** Bytes that the server may still send on all streams together. */
  #window = CONNECTION_WINDOW_BYTES;
  readonly #idle: IdleFrames;
  /** When a PING was sent, if nothing has been received since then. */
  #pingedAt: number | null = null;
  heardAt: number;
  /** When the last open request ended. */
  idleSince: number;
  /** Requests sent on it. */
  calls = 0;
  /** Some response has arrived on it. */
  answered = false;
  /** The last stream that the server may have processed, as its GOAWAY says. */
  #lastTaken = 0;

  constructor(conn: Deno.TcpConn | Deno.TlsConn, options: ConnectionOptions) {
    this.#conn = conn;
    this.#options = options;
    this.#idle = new IdleFrames(options.now);
    this.#mostStreams = options.mostStreams;
    this.heardAt = this.idleSince = options.now();
    // An idle connection does not keep the process alive; a running call has a timer that does.
    conn.unref();
    this.#writer = new FrameWriter(conn, {
      more: () => this.#sendBodies(),
      failed: (cause) => this.#end(cause),
    });
    this.#bodies = new RequestBodies(this.#writer);
    this.#reader = new FrameReader(conn, {
      data: (id, bytes, place, counted, ended) => this.#data(id, bytes, place, counted, ended),
      head: (id, fields, ended) => this.#head(id, fields, ended),
      other: (type, flags, id, payload) => this.#other(type, flags, id, payload),
      taken: (frames) => this.#taken(frames),
      pause: (ms) => options.pace.pause(ms),
    });
    this.#writer.push(new TextEncoder().encode(PREFACE));
    this.#writer.push(settings([
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
      [SETTING.maxHeaderListSize, MAX_HEAD_BYTES],
    ]));
    this.#writer.push(numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - WINDOW_BYTES));
    this.#writer.flush();
    this.#reader.readAll().catch((cause) => this.#end(cause));
  }

  /** Number of open requests. */
  get size(): number {
    return this.#streams.size;
  }

  /** How many more requests it accepts. */
  get room(): number {
    if (this.#retired || this.#writer.waiting > MOST_WAITING_BYTES) return 0;
    return Math.max(0, this.#mostStreams - this.#streams.size);
  }

  /** It may be dead: a PING has not been answered in time. */
  isUnresponsive(now: number): boolean {
    return this.#pingedAt !== null && now - this.#pingedAt >= SILENT_MS;
  }

  open(stream: Http2Stream, head: readonly Uint8Array[], body: Uint8Array): void {
    const id = stream.id = this.#nextId;
    this.#nextId += 2;
    if (this.#streams.size === 0) this.#conn.ref();
    this.#streams.set(id, stream);
    const fields = this.calls++ === 0 ? [NO_TABLE, ...head] : head;
    for (const bytes of headFrames(id, fields, body.length === 0)) this.#writer.push(bytes);
    this.#bodies.open(stream, body);
    if (this.#nextId > LAST_ID) this.retire();
    this.#ping();
    this.#writer.flush();
  }

  /** Sends a PING if the server has been silent. The silence alone means nothing, since a model may think for minutes. */
  #ping(): void {
    const now = this.#options.now();
    if (this.#pingedAt !== null || now - this.heardAt < SILENT_MS) return;
    this.#pingedAt = now;
    this.#writer.push(frame(FRAME.ping, 0, 0, new Uint8Array(8)));
  }

  #sendBodies(): void {
    this.#opened = false;
    this.#idle.content(this.#bodies.send());
  }

  widen(stream: Http2Stream, bytes: number): void {
    if (this.#closed) return;
    this.#writer.answer(numberFrame(FRAME.windowUpdate, stream.id, bytes));
    this.#writer.flush();
  }

  reset(stream: Http2Stream, code: number = CODE.cancel): void {
    if (this.#streams.get(stream.id) !== stream) return;
    this.#writer.push(numberFrame(FRAME.rstStream, stream.id, code));
    this.#writer.flush();
    this.#forget(stream);
  }

  #forget(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    this.#bodies.forget(stream);
    if (this.#streams.size > 0) return;
    this.idleSince = this.#options.now();
    if (this.#retired) this.close();
    else this.#conn.unref();
  }

  /** @param mistaken the server violated the protocol */
  retire(mistaken = false): void {
    if (this.#retired) return;
    this.#retired = true;
    this.#options.ended(mistaken);
    if (this.#streams.size === 0) this.close();
  }

  close(): void {
    this.#end(new WireError("the connection was closed"));
  }

  #end(cause: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.stop();
    const code = cause instanceof ConnectionError ? cause.code : undefined;
    this.#writer.close(code);
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    if (!this.#retired) {
      this.#retired = true;
      this.#options.ended(code !== undefined);
    }
    // After a protocol error, the gateway itself closed the connection, so the server may have processed the requests.
    for (const stream of streams) {
      stream.lost(cause, code === undefined && stream.id > this.#lastTaken ? "cut" : "taken");
    }
  }

  #data(
    id: number,
    bytes: Uint8Array,
    { from, to }: { from: number; to: number },
    counted: number,
    ended: boolean,
  ): void {
    const stream = this.#streamOf(id);
    // A frame is far smaller than the other half of the window, so this cannot become negative.
    this.#window -= counted;
    if (this.#window < CONNECTION_WINDOW_BYTES / 2) {
      this.#writer.answer(numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - this.#window));
      this.#window = CONNECTION_WINDOW_BYTES;
    }
    if (stream === undefined) return this.#idle.add();
    if (to === from && !ended) this.#idle.add();
    else this.#idle.content(1);
    try {
      if (stream.data(bytes, from, to, counted)) this.#undelivered.push(stream);
    } catch (cause) {
      this.#giveUp(stream, cause);
    }
    if (ended) this.#endOf(stream);
  }

  #head(id: number, fields: readonly Field[], ended: boolean): void {
    const stream = this.#streamOf(id);
    if (stream === undefined) return this.#idle.add();
    this.#idle.content(1);
    this.answered = true;
    try {
      stream.head(fields, ended);
    } catch (cause) {
      this.#giveUp(stream, cause);
    }
    if (ended) this.#endOf(stream);
  }

  /** An invalid frame of a stream ends only that stream. */
  #giveUp(stream: Http2Stream, cause: unknown): void {
    this.reset(stream, CODE.protocolError);
    stream.lost(cause);
  }

  #endOf(stream: Http2Stream): void {
    // It was reset because of its last frame.
    if (this.#streams.get(stream.id) !== stream) return;
    // A response may be complete before the request was sent completely: the rest of the request is not needed.
    if (stream.unsent !== null) this.reset(stream, CODE.noError);
    else this.#forget(stream);
    stream.end();
  }

  /** Undefined: the gateway has ended it. Throws if it was never opened. */
  #streamOf(id: number): Http2Stream | undefined {
    if (id === 0 || id % 2 === 0 || id >= this.#nextId) {
      throw new ConnectionError(CODE.protocolError, "a frame has the id of a stream that was never opened");
    }
    return this.#streams.get(id);
  }

  #taken(frames: number): number | null {
    const streams = this.#undelivered;
    if (streams.length > 0) {
      this.#undelivered = [];
      for (const stream of streams) stream.deliver();
    }
    this.heardAt = this.#options.now();
    this.#pingedAt = null;
    if (this.#writer.waitingAnswers > MOST_WAITING_ANSWERS) {
      throw new ConnectionError(CODE.enhanceYourCalm, "the server does not read");
    }
    if (this.#opened) this.#sendBodies();
    this.#writer.flush();
    return this.#options.pace.after(frames, this.heardAt);
  }

  #other(type: number, flags: number, id: number, payload: Uint8Array): void {
    this.#idle.add();
    if (type === FRAME.settings) this.#settings(flags, id, payload);
    else if (type === FRAME.ping) this.#pinged(flags, id, payload);
    else if (type === FRAME.goaway) this.#goaway(id, payload);
    else if (type === FRAME.rstStream) this.#rstStream(id, payload);
    else if (type === FRAME.windowUpdate) this.#windowUpdate(id, payload);
    else if (type === FRAME.pushPromise) {
      throw new ConnectionError(CODE.protocolError, "the server sent PUSH_PROMISE");
    }
    // Frames of other types are ignored.
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    expectStream(id === 0);
    if (flags & FLAG.ack) return expectLength(payload.length === 0);
    expectLength(payload.length % 6 === 0);
    if (payload.length > 6 * MOST_SETTINGS) {
      throw new ConnectionError(CODE.enhanceYourCalm, "a SETTINGS frame is too long");
    }
    // Without SETTINGS_MAX_CONCURRENT_STREAMS there is no limit.
    if (!this.#settled) this.#mostStreams = this.#options.allows(Infinity);
    this.#settled = true;
    for (let at = 0; at < payload.length; at += 6) {
      this.#setting((payload[at] << 8) | payload[at + 1], readUint32(payload, at + 2));
    }
    this.#writer.answer(frame(FRAME.settings, FLAG.ack, 0, new Uint8Array()));
    this.#opened = true;
  }

  #setting(setting: number, value: number): void {
    if (setting === SETTING.maxConcurrentStreams) {
      this.#mostStreams = this.#options.allows(value);
      // Requests would have to wait for an unknown time.
      if (value === 0) this.retire(true);
    } else if (setting === SETTING.initialWindowSize) this.#bodies.resize(value, this.#streams.values());
    else if (setting === SETTING.maxFrameSize && (value < FRAME_BYTES || value > MOST_FRAME_BYTES)) {
      throw new ConnectionError(CODE.protocolError, "SETTINGS_MAX_FRAME_SIZE is out of range");
    } else if (setting === SETTING.enablePush && value !== 0) {
      throw new ConnectionError(CODE.protocolError, "the server enabled push");
    }
    // The gateway sends frames of the minimum size, so that large ones do not block other streams, and uses no dynamic header table.
  }

  #pinged(flags: number, id: number, payload: Uint8Array): void {
    expectStream(id === 0);
    expectLength(payload.length === 8);
    if (!(flags & FLAG.ack)) this.#writer.answer(frame(FRAME.ping, FLAG.ack, 0, payload));
  }

  #rstStream(id: number, payload: Uint8Array): void {
    const stream = this.#streamOf(id);
    expectLength(payload.length === 4);
    if (stream === undefined) return;
    const code = readUint32(payload, 0);
    if (code === CODE.http11Required) this.retire(true);
    this.#forget(stream);
    stream.lost(
      new WireError(`the server reset the stream with error code ${code}`),
      code === CODE.refusedStream || code === CODE.http11Required ? "refused" : "taken",
    );
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    expectLength(payload.length === 4);
    const more = readUint32(payload, 0) & 0x7fffffff;
    if (more === 0) throw new ConnectionError(CODE.protocolError, "WINDOW_UPDATE has an increment of 0");
    const stream = id === 0 ? undefined : this.#streamOf(id);
    if (id !== 0 && stream === undefined) return;
    if (stream !== undefined) stream.heard = true;
    this.#bodies.widen(more, stream);
    this.#opened = true;
  }

  /** The server accepts no more requests, and has not processed those after the last one that it names. */
  #goaway(id: number, payload: Uint8Array): void {
    expectStream(id === 0);
    expectLength(payload.length >= 8);
    const last = readUint32(payload, 0) & 0x7fffffff;
    const code = readUint32(payload, 4);
    this.#lastTaken = last;
    const beyond = [...this.#streams.values()].filter((stream) => stream.id > last);
    this.retire();
    for (const stream of beyond) {
      this.#forget(stream);
      stream.lost(
        new WireError(`the server closed the connection (GOAWAY) with error code ${code}`),
        "refused",
      );
    }
  }
}
