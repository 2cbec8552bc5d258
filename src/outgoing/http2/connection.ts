/**
 * A connection over HTTP/2 (RFC 9113), on which many requests are under way at once.
 *
 * What one read of the socket brings is handed to all streams that it has something for, and what is to be sent meanwhile leaves with one
 * write. A stream whose reader is slow holds up no other: it has a window of its own, and the window of the connection opens again
 * with what has come, whether somebody has read it or not.
 */
import { WireError } from "../../transport/body_framing.ts";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import { CODE, ConnectionError } from "./connection_error.ts";
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
import { RequestBodies } from "./request_bodies.ts";
import { type Http2Stream, STREAM_WINDOW_BYTES, type StreamConnection } from "./stream.ts";

/** What may be on its way for all streams: more than a fast, distant server can send in the time that an answer takes to reach it. */
const CONNECTION_WINDOW_BYTES = 16 << 20;
/** Streams are numbered by twos, up to 2^31: a connection with so many behind it takes no more. */
const LAST_ID = 1 << 30;
/** A server that has this side answer so much, and reads nothing of it, is left. */
const MOST_WAITING_BYTES = 1 << 20;
/** A server of which nothing was heard for so long, in milliseconds, is asked whether it is there, together with the next request. */
const SILENT_MS = 5000;
/** Frames in a row that bring nothing for any stream, and let nothing of a request go; a server that sends more of them is left. */
const MOST_IDLE_FRAMES = 10_000;

export interface ConnectionOptions {
  /** The time, which may be a tick old. */
  now(): number;
  /** It takes no more requests. @param mistaken the server has made a mistake */
  ended(mistaken: boolean): void;
  /** Requests under way at once, as far as is known before the server says what it allows for. */
  mostStreams: number;
  /** It says so: of those, so many are made. */
  allows(streams: number): number;
}

export class Http2Connection implements StreamConnection {
  readonly #conn: Deno.TcpConn | Deno.TlsConn;
  readonly #options: ConnectionOptions;
  readonly #streams = new Map<number, Http2Stream>();
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #bodies: RequestBodies;
  #nextId = 1;
  /** It takes no more requests. */
  #retired = false;
  #closed = false;
  /** Requests under way at once, and whether the server has said what it allows for. */
  #mostStreams: number;
  #settled = false;
  /** What the server may send for all streams. */
  #window = CONNECTION_WINDOW_BYTES;
  #idleFrames = 0;
  /** When the server was asked whether it is there, since it was heard last. */
  #pingedAt: number | null = null;
  heardAt: number;
  /** When the last request ended. */
  idleSince: number;
  /** Requests that were made on it. */
  calls = 0;
  /** It has brought something of an answer. */
  answered = false;
  /** The last request that the server says it may have worked on. */
  #lastTaken = 0;

  constructor(conn: Deno.TcpConn | Deno.TlsConn, options: ConnectionOptions) {
    this.#conn = conn;
    this.#options = options;
    this.#mostStreams = options.mostStreams;
    this.heardAt = this.idleSince = options.now();
    // Nothing ends because a connection rests, and a call that runs is watched by a timer, which keeps the process.
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
      taken: () => this.#taken(),
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

  /** Requests under way. */
  get size(): number {
    return this.#streams.size;
  }

  /** How many more requests it takes. */
  get room(): number {
    return this.#retired ? 0 : Math.max(0, this.#mostStreams - this.#streams.size);
  }

  /** It may have been cut without a word: a question has had no answer. */
  mute(now: number): boolean {
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

  /** Asks a server that was silent whether it is there. An answer to a request may take longer than any silence means something. */
  #ping(): void {
    const now = this.#options.now();
    if (this.#pingedAt !== null || now - this.heardAt < SILENT_MS) return;
    this.#pingedAt = now;
    this.#writer.push(frame(FRAME.ping, 0, 0, new Uint8Array(8)));
  }

  #sendBodies(): void {
    if (this.#bodies.send()) this.#idleFrames = 0;
  }

  widen(stream: Http2Stream, bytes: number): void {
    if (this.#closed) return;
    this.#writer.push(numberFrame(FRAME.windowUpdate, stream.id, bytes));
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

  /** @param mistaken the server has made a mistake */
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
    // Where the server made a mistake, it was this side that ended the connection.
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
    this.#window -= counted;
    if (this.#window < 0) throw new ConnectionError(CODE.flowControlError, "more came than was asked for");
    if (this.#window < CONNECTION_WINDOW_BYTES / 2) {
      this.#writer.push(numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - this.#window));
      this.#window = CONNECTION_WINDOW_BYTES;
    }
    if (stream === undefined) return this.#idle();
    if (to === from && !ended) this.#idle();
    else this.#idleFrames = 0;
    try {
      stream.data(bytes, from, to, counted);
    } catch (cause) {
      this.#giveUp(stream, cause);
    }
    if (ended) this.#endOf(stream);
  }

  #head(id: number, fields: readonly Field[], ended: boolean): void {
    const stream = this.#streamOf(id);
    if (stream === undefined) return this.#idle();
    this.#idleFrames = 0;
    this.answered = true;
    try {
      stream.head(fields, ended);
    } catch (cause) {
      this.#giveUp(stream, cause);
    }
    if (ended) this.#endOf(stream);
  }

  /** What a stream cannot read ends it alone. */
  #giveUp(stream: Http2Stream, cause: unknown): void {
    this.reset(stream, CODE.protocolError);
    stream.lost(cause);
  }

  #endOf(stream: Http2Stream): void {
    // It was given up for what came last.
    if (this.#streams.get(stream.id) !== stream) return;
    // An answer may come before all of its request was sent: the rest would be for nothing.
    if (stream.unsent !== null) this.reset(stream, CODE.noError);
    else this.#forget(stream);
    stream.end();
  }

  /** Undefined: this side has ended it. Throws where it never began. */
  #streamOf(id: number): Http2Stream | undefined {
    if (id === 0 || id % 2 === 0 || id >= this.#nextId) {
      throw new ConnectionError(CODE.protocolError, "a frame belongs to no request");
    }
    return this.#streams.get(id);
  }

  #idle(): void {
    if (++this.#idleFrames > MOST_IDLE_FRAMES) {
      throw new ConnectionError(CODE.enhanceYourCalm, "the server sends frames that bring nothing");
    }
  }

  #taken(): void {
    this.heardAt = this.#options.now();
    this.#pingedAt = null;
    if (this.#writer.waiting > MOST_WAITING_BYTES) {
      throw new ConnectionError(CODE.enhanceYourCalm, "the server reads nothing");
    }
    this.#writer.flush();
  }

  #other(type: number, flags: number, id: number, payload: Uint8Array): void {
    this.#idle();
    if (type === FRAME.settings) this.#settings(flags, id, payload);
    else if (type === FRAME.ping) this.#pinged(flags, id, payload);
    else if (type === FRAME.goaway) this.#goaway(id, payload);
    else if (type === FRAME.rstStream) this.#rstStream(id, payload);
    else if (type === FRAME.windowUpdate) this.#windowUpdate(id, payload);
    else if (type === FRAME.pushPromise) {
      throw new ConnectionError(CODE.protocolError, "a push was not allowed");
    }
    // Others mean nothing to this side.
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    expectStream(id === 0);
    if (flags & FLAG.ack) return expectLength(payload.length === 0);
    expectLength(payload.length % 6 === 0);
    // A server that names no number with its first settings allows for any.
    if (!this.#settled) this.#mostStreams = this.#options.allows(Infinity);
    this.#settled = true;
    for (let at = 0; at < payload.length; at += 6) {
      this.#setting((payload[at] << 8) | payload[at + 1], readUint32(payload, at + 2));
    }
    this.#writer.push(frame(FRAME.settings, FLAG.ack, 0, new Uint8Array()));
    this.#sendBodies();
  }

  #setting(setting: number, value: number): void {
    if (setting === SETTING.maxConcurrentStreams) {
      this.#mostStreams = this.#options.allows(value);
      // It would have us wait, for nobody knows how long.
      if (value === 0) this.retire(true);
    } else if (setting === SETTING.initialWindowSize) this.#bodies.resize(value, this.#streams.values());
    else if (setting === SETTING.maxFrameSize && (value < FRAME_BYTES || value > MOST_FRAME_BYTES)) {
      throw new ConnectionError(CODE.protocolError, "frames cannot have this size");
    } else if (setting === SETTING.enablePush && value !== 0) {
      throw new ConnectionError(CODE.protocolError, "a server cannot allow for pushes");
    }
    // Frames of this side are of the least size: larger ones would only hold up other streams. It uses no table for headers.
  }

  #pinged(flags: number, id: number, payload: Uint8Array): void {
    expectStream(id === 0);
    expectLength(payload.length === 8);
    if (!(flags & FLAG.ack)) this.#writer.push(frame(FRAME.ping, FLAG.ack, 0, payload));
  }

  #rstStream(id: number, payload: Uint8Array): void {
    const stream = this.#streamOf(id);
    expectLength(payload.length === 4);
    if (stream === undefined) return;
    const code = readUint32(payload, 0);
    if (code === CODE.http11Required) this.retire(true);
    this.#forget(stream);
    stream.lost(
      new WireError(`the server has ended the stream with code ${code}`),
      code === CODE.refusedStream || code === CODE.http11Required ? "refused" : "taken",
    );
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    expectLength(payload.length === 4);
    const more = readUint32(payload, 0) & 0x7fffffff;
    if (more === 0) throw new ConnectionError(CODE.protocolError, "a window grows by nothing");
    const stream = id === 0 ? undefined : this.#streamOf(id);
    if (id !== 0 && stream === undefined) return;
    if (stream !== undefined) stream.heard = true;
    this.#bodies.widen(more, stream);
    this.#sendBodies();
  }

  /** The server takes no more requests, and has done nothing of those after the last that it names. */
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
      stream.lost(new WireError(`the server has ended the connection with code ${code}`), "refused");
    }
  }
}

function expectStream(is: boolean): void {
  if (!is) throw new ConnectionError(CODE.protocolError, "a frame belongs to a stream that it is not for");
}

function expectLength(is: boolean): void {
  if (!is) throw new ConnectionError(CODE.frameSizeError, "a frame has another length");
}
