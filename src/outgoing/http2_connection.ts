/**
 * A connection to a provider over HTTP/2 (RFC 9113), on which many answers come side by side.
 *
 * All that one read brings is sorted to its streams before anybody is told: a read of many streams costs as much as one of
 * a single stream, and while the process is busy each stream gets more at a time.
 */
import { WireError } from "../http1/body_framing.ts";
import { MAX_HEAD_BYTES } from "../http1/head.ts";
import { settled } from "../timing/settled.ts";
import { encodeHead, type Field, HeadDecoder } from "./hpack.ts";
import { FrameWriter, joined } from "./http2_writer.ts";
import { Http2Stream, STREAM_WINDOW } from "./http2_stream.ts";
import {
  Code,
  FIRST_WINDOW,
  Flag,
  frame,
  FRAME_HEAD_BYTES,
  headFrames,
  MOST_FRAME_BYTES,
  MOST_WINDOW,
  numberFrame,
  preface,
  read32,
  Setting,
  Type,
} from "./http2_wire.ts";

const BUFFER_BYTES = 64 * 1024;
/** What may be under way of all streams together. What waits to be read is bounded for each stream. */
const WINDOW = 16 * 1024 * 1024;
/** What is received before the other side is told of room for more. */
const CREDIT_BYTES = 1024 * 1024;
/** What is read at most before the streams are told of it. */
const TOLD_BYTES = 256 * 1024;
/** Streams at a time, whatever the other side allows: what ends a connection ends all of them. */
const MOST_STREAMS = 250;
/** Until the other side has said how many it takes. */
const FIRST_STREAMS = 100;
/** One that takes fewer is asked over HTTP/1.1: connections would have to be made one after the other. */
const LEAST_STREAMS = 16;
/** Of a connection's life: it is left for another well before numbers of streams run out. */
const MOST_CALLS = 1_000_000;
/** Frames in a row that bring nothing of an answer. */
const MOST_EMPTY = 10_000;
/** What waits to be written before bodies wait. */
const WRITTEN_AHEAD = 256 * 1024;

/** The other side says that it has not begun with a request. */
export class Unprocessed extends Error {}
/** It wants this request over HTTP/1.1. */
export class WantsHttp1 extends Error {}

export class Http2Connection {
  readonly #conn: Deno.TlsConn;
  readonly #streams = new Map<number, Http2Stream>();
  readonly #heads = new HeadDecoder();
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #from = 0;
  #to = 0;
  #nextId = 1;
  /** The head that has begun, in pieces; null: none. */
  #block: { stream: number; ends: boolean; pieces: Uint8Array[]; bytes: number } | null = null;
  #begun = false;
  #mostStreams = FIRST_STREAMS;
  /** No further streams begin on it. */
  #leaving = false;
  #empty = 0;
  #received = 0;
  #untold: Http2Stream[] = [];
  #sendWindow = FIRST_WINDOW;
  /** Of each stream at first. */
  #streamWindow = FIRST_WINDOW;
  readonly #out: FrameWriter;
  closed = false;
  /** The other side is better asked over HTTP/1.1: it breaks rules, or takes few streams. */
  foreign = false;
  /** When its last stream ended. */
  idleSince: number;
  /** Begun on it so far. */
  calls = 0;

  constructor(conn: Deno.TlsConn, now: number) {
    this.#conn = conn;
    this.idleSince = now;
    // As those over HTTP/1.1: a call that runs is watched by a timer, which keeps the process.
    conn.unref();
    this.#out = new FrameWriter(conn, {
      wrote: () => this.#sendBodies(),
      stuck: () => this.close(this.#wrong("it takes nothing that is sent")),
    });
    for (const bytes of preface(STREAM_WINDOW, WINDOW)) this.#out.write(bytes);
    void this.#run();
  }

  /** How many more streams may begin now. */
  get room(): number {
    if (this.closed || this.#leaving || this.foreign) return 0;
    return Math.max(0, Math.min(this.#mostStreams, MOST_STREAMS) - this.#streams.size);
  }

  get streams(): number {
    return this.#streams.size;
  }

  ask(fields: readonly Field[], body: Uint8Array): Http2Stream {
    const id = this.#nextId;
    this.#nextId += 2;
    if (++this.calls >= MOST_CALLS) this.#leaving = true;
    const stream = new Http2Stream(id, body, this.#streamWindow);
    this.#streams.set(id, stream);
    for (const bytes of headFrames(id, encodeHead(fields), body.length === 0)) this.#out.write(bytes);
    this.#sendBody(stream);
    return stream;
  }

  /** Something of the answer was taken. */
  taken(stream: Http2Stream): void {
    const credit = stream.credit();
    if (credit > 0) this.#out.write(numberFrame(Type.Window, stream.id, credit));
  }

  /** Nothing of the stream is wanted any more. */
  leave(stream: Http2Stream, now: number): void {
    if (this.#streams.delete(stream.id)) {
      this.#out.write(numberFrame(Type.Reset, stream.id, Code.Cancel));
    }
    this.idleSince = now;
    if (this.#leaving && this.#streams.size === 0) this.close();
  }

  /** Its streams go on, and no further ones begin. */
  retire(): void {
    this.#leaving = true;
    if (this.#streams.size === 0) this.close();
  }

  close(cause: Error = new WireError("the connection was closed")): void {
    if (this.closed) return;
    this.closed = this.#out.closed = true;
    this.#conn.close();
    for (const stream of this.#streams.values()) stream.fail(cause);
    this.#streams.clear();
  }

  async #run(): Promise<void> {
    try {
      for (let untold = 0;;) {
        const reading = this.#conn.read(this.#to === 0 ? this.#buffer : this.#buffer.subarray(this.#to));
        // What is there already is taken first, so that each stream is told once of all of it.
        if (untold >= TOLD_BYTES || (untold > 0 && !await settled(reading))) {
          this.#tellAll();
          untold = 0;
        }
        const n = await reading;
        if (n === null) throw new WireError("the connection was closed");
        untold += n;
        this.#to += n;
        this.#takeFrames();
        if (this.#received >= CREDIT_BYTES) {
          this.#out.write(numberFrame(Type.Window, 0, this.#received));
          this.#received = 0;
        }
      }
    } catch (cause) {
      this.#tellAll();
      this.close(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  #tellAll(): void {
    const untold = this.#untold;
    if (untold.length === 0) return;
    this.#untold = [];
    for (const stream of untold) stream.tell();
  }

  #tellLater(stream: Http2Stream): void {
    if (stream.untold) return;
    stream.untold = true;
    this.#untold.push(stream);
  }

  #takeFrames(): void {
    const buffer = this.#buffer;
    let from = this.#from;
    const to = this.#to;
    while (to - from >= FRAME_HEAD_BYTES) {
      const length = (buffer[from] << 16) | (buffer[from + 1] << 8) | buffer[from + 2];
      if (length > MOST_FRAME_BYTES) throw this.#wrong("a frame is too long");
      const end = from + FRAME_HEAD_BYTES + length;
      if (end > to) break;
      this.#frame(buffer[from + 3], buffer[from + 4], read32(buffer, from + 5) & MOST_WINDOW, {
        from: from + FRAME_HEAD_BYTES,
        to: end,
      });
      from = end;
    }
    if (from > 0) buffer.copyWithin(0, from, to);
    this.#from = 0;
    this.#to = to - from;
  }

  #wrong(what: string): WireError {
    this.foreign = true;
    return new WireError(what);
  }

  #frame(type: number, flags: number, id: number, { from, to }: { from: number; to: number }): void {
    if (!this.#begun && (type !== Type.Settings || flags & Flag.Ack)) throw this.#wrong("it is no HTTP/2");
    this.#begun = true;
    if (this.#block !== null && (type !== Type.Continuation || id !== this.#block.stream)) {
      throw this.#wrong("a head is not gone on with");
    }
    if (++this.#empty > MOST_EMPTY) throw this.#wrong("too many frames bring nothing");
    switch (type) {
      case Type.Data:
        return this.#data(flags, id, from, to);
      case Type.Headers:
        return this.#head(flags, id, from, to);
      case Type.Continuation:
        if (this.#block === null) throw this.#wrong("there is no head to go on with");
        return this.#headPiece(flags, from, to);
      case Type.Reset:
        return this.#reset(id, this.#oneNumber(from, to));
      case Type.Settings:
        return this.#settings(flags, id, from, to);
      case Type.Push:
        throw this.#wrong("something was pushed");
      case Type.Ping:
        if (to - from !== 8 || id !== 0) throw this.#wrong("a ping is not one");
        if ((flags & Flag.Ack) === 0) {
          this.#out.write(frame(Type.Ping, Flag.Ack, 0, this.#buffer.slice(from, to)));
        }
        return;
      case Type.GoAway:
        if (to - from < 8 || id !== 0) throw this.#wrong("a farewell is not one");
        return this.#goAway(read32(this.#buffer, from) & MOST_WINDOW);
      case Type.Window:
        return this.#window(id, this.#oneNumber(from, to) & MOST_WINDOW);
    }
  }

  #oneNumber(from: number, to: number): number {
    if (to - from !== 4) throw this.#wrong("a frame has not its length");
    return read32(this.#buffer, from);
  }

  /** A stream of this side. Undefined: it is over. */
  #streamOf(id: number): Http2Stream | undefined {
    if (id % 2 === 0 || id >= this.#nextId) throw this.#wrong("a stream was never begun");
    return this.#streams.get(id);
  }

  /** Where the frame is padded, what is in it. */
  #unpadded(flags: number, from: number, to: number): { from: number; to: number } {
    if ((flags & Flag.Padded) === 0) return { from, to };
    const padding = this.#buffer[from];
    if (from === to || from + 1 + padding > to) throw this.#wrong("a frame has more padding than length");
    return { from: from + 1, to: to - padding };
  }

  #data(flags: number, id: number, from: number, to: number): void {
    const stream = this.#streamOf(id);
    this.#received += to - from;
    if (stream === undefined) return;
    if (to > from) this.#empty = 0;
    const inner = flags & Flag.Padded ? this.#unpadded(flags, from, to) : null;
    this.#within(stream, () => {
      if (inner === null) stream.data(this.#buffer, from, to, 0);
      else stream.data(this.#buffer, inner.from, inner.to, to - from - (inner.to - inner.from));
      if (flags & Flag.EndStream) stream.end();
    });
  }

  /** What is wrong with a stream alone ends that stream alone. */
  #within(stream: Http2Stream, take: () => void): void {
    try {
      take();
    } catch (cause) {
      if (!(cause instanceof WireError)) throw cause;
      this.#streams.delete(stream.id);
      stream.failure = cause;
      this.#out.write(numberFrame(Type.Reset, stream.id, Code.Protocol));
    }
    if (stream.ended) this.#over(stream);
    this.#tellLater(stream);
  }

  /** The answer has come whole. */
  #over(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    if (stream.unsent.length > 0) this.#out.write(numberFrame(Type.Reset, stream.id, Code.Cancel));
  }

  #head(flags: number, id: number, from: number, to: number): void {
    this.#streamOf(id);
    const inner = this.#unpadded(flags, from, to);
    if (flags & Flag.Priority) inner.from += 5;
    if (inner.from > inner.to) throw this.#wrong("a frame has not its length");
    this.#block = { stream: id, ends: (flags & Flag.EndStream) !== 0, pieces: [], bytes: 0 };
    this.#headPiece(flags, inner.from, inner.to);
  }

  #headPiece(flags: number, from: number, to: number): void {
    const block = this.#block!;
    block.pieces.push(this.#buffer.slice(from, to));
    // A frame counts also where it is empty.
    block.bytes += to - from + FRAME_HEAD_BYTES;
    if (block.bytes > MAX_HEAD_BYTES) throw this.#wrong("the head is too long");
    if ((flags & Flag.EndHeaders) === 0) return;
    this.#block = null;
    let fields: Field[];
    try {
      fields = this.#heads.decode(block.pieces.length === 1 ? block.pieces[0] : joined(block.pieces));
    } catch (cause) {
      this.foreign = true;
      throw cause;
    }
    const stream = this.#streams.get(block.stream);
    if (stream !== undefined) this.#within(stream, () => stream.fields(fields, block.bytes, block.ends));
  }

  #reset(id: number, code: number): void {
    const stream = this.#streamOf(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    stream.failure ??= code === Code.Refused
      ? new Unprocessed("The stream was refused.")
      : code === Code.Http1Required
      ? new WantsHttp1("It is to be asked over HTTP/1.1.")
      : new WireError(`the stream was ended with ${code}`);
    this.#tellLater(stream);
    if (this.#leaving && this.#streams.size === 0) throw new WireError("the connection is over");
  }

  #settings(flags: number, id: number, from: number, to: number): void {
    if (id !== 0 || (to - from) % 6 !== 0) throw this.#wrong("settings are none");
    if (flags & Flag.Ack) return;
    for (let at = from; at < to; at += 6) {
      const value = read32(this.#buffer, at + 2);
      const setting = (this.#buffer[at] << 8) | this.#buffer[at + 1];
      if (setting === Setting.MostStreams) {
        this.#mostStreams = value;
        this.foreign ||= value < LEAST_STREAMS;
      } else if (setting === Setting.Window) {
        if (value > MOST_WINDOW) throw this.#wrong("a window is too large");
        for (const stream of this.#streams.values()) stream.sendWindow += value - this.#streamWindow;
        this.#streamWindow = value;
      }
    }
    this.#out.write(frame(Type.Settings, Flag.Ack, 0, new Uint8Array(0)));
    this.#sendBodies();
  }

  #goAway(last: number): void {
    this.#leaving = true;
    for (const [id, stream] of this.#streams) {
      if (id <= last) continue;
      this.#streams.delete(id);
      stream.failure ??= new Unprocessed("The connection ends before the stream.");
      this.#tellLater(stream);
    }
    if (this.#streams.size === 0) throw new WireError("the connection is over");
  }

  #window(id: number, more: number): void {
    if (id === 0) {
      this.#sendWindow += more;
      if (more === 0 || this.#sendWindow > MOST_WINDOW) throw this.#wrong("a window is too large");
      return this.#sendBodies();
    }
    const stream = this.#streamOf(id);
    if (stream === undefined) return;
    stream.sendWindow += more;
    if (more === 0 || stream.sendWindow > MOST_WINDOW) throw this.#wrong("a window is too large");
    this.#sendBody(stream);
  }

  #sendBodies(): void {
    for (const stream of this.#streams.values()) this.#sendBody(stream);
  }

  /** As much of a request's body as there is room for. */
  #sendBody(stream: Http2Stream): void {
    while (stream.unsent.length > 0 && this.#out.bytes < WRITTEN_AHEAD) {
      const size = Math.min(stream.unsent.length, stream.sendWindow, this.#sendWindow, MOST_FRAME_BYTES);
      if (size <= 0) return;
      const ends = size === stream.unsent.length;
      this.#out.write(
        frame(Type.Data, ends ? Flag.EndStream : 0, stream.id, stream.unsent.subarray(0, size)),
      );
      stream.unsent = ends ? new Uint8Array(0) : stream.unsent.subarray(size);
      stream.sendWindow -= size;
      this.#sendWindow -= size;
      this.#empty = 0;
    }
  }
}
