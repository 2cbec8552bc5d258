/** Parses and creates WebSocket frames on the server side (RFC 6455, section 5), without extensions. */

/** Close codes (RFC 6455, section 7.4.1). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupported: 1003,
  invalidText: 1007,
  policy: 1008,
  tooLarge: 1009,
  internalError: 1011,
} as const;

/** A protocol violation by the peer; the connection is closed with this code. */
export class FrameError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSING = 8;
const PING = 9;
const PONG = 10;
/** Maximum payload of a control frame. */
const MOST_CONTROL_BYTES = 125;
const MOST_HEAD_BYTES = 14;

/** Receives the parsed frames. */
export interface FrameListener {
  text(message: Uint8Array): void;
  ping(payload: Uint8Array): void;
  pong(): void;
  /** @param code null: none given */
  close(code: number | null): void;
}

/**
 * Assembles frames and messages from bytes split anywhere. Memory is allocated for received bytes, not for
 * announced ones.
 */
export class WebSocketFrameReader {
  readonly #mostBytes: number;
  readonly #listener: FrameListener;
  readonly #head = new Uint8Array(MOST_HEAD_BYTES);
  #headBytes = 0;
  #opcode = 0;
  #final = false;
  /** Remaining payload bytes of the frame; null: its header is incomplete. */
  #left: number | null = null;
  #maskAt = 0;
  #taken = 0;
  /** Payload of the current control frame. */
  readonly #control = new Payload();
  /** Received part of the current message; null: none. */
  #message: Payload | null = null;
  /** Announced size of the message. */
  #announced = 0;

  /** @param mostBytes maximum size of a message */
  constructor(mostBytes: number, listener: FrameListener) {
    this.#mostBytes = mostBytes;
    this.#listener = listener;
  }

  /** Bytes held for an incomplete message. */
  get kept(): number {
    return this.#message?.length ?? 0;
  }

  /** Neither a frame nor a message is incomplete. */
  get isBetween(): boolean {
    return this.#headBytes === 0 && this.#message === null;
  }

  /**
   * Throws {@link FrameError}. The bytes may be overwritten afterwards.
   *
   * @param goesOn whether the next frame is to be read, too; called after each frame
   * @returns the number of bytes read
   */
  push(bytes: Uint8Array, goesOn: () => boolean): number {
    let at = 0;
    while (at < bytes.length || this.#left === 0) {
      if (this.#left === null) {
        this.#head[this.#headBytes++] = bytes[at++];
        if (this.#headBytes >= 2 && this.#headBytes === headBytesOf(this.#head)) this.#begin();
        continue;
      }
      const length = Math.min(this.#left, bytes.length - at);
      const payload = this.#opcode >= CLOSING ? this.#control : this.#message!;
      this.#unmask(payload.add(bytes.subarray(at, at + length)));
      at += length;
      this.#left -= length;
      if (this.#left > 0) continue;
      this.#end();
      if (!goesOn()) break;
    }
    return at;
  }

  #begin(): void {
    const [first, second] = this.#head;
    this.#final = (first & 0x80) !== 0;
    this.#opcode = first & 0x0f;
    if ((first & 0x70) !== 0) throw new FrameError(CLOSE.protocolError, "a reserved bit is set");
    if ((second & 0x80) === 0) throw new FrameError(CLOSE.protocolError, "a frame is not masked");
    const length = lengthOf(this.#head);
    this.#maskAt = this.#headBytes - 4;
    this.#taken = 0;
    if (this.#opcode >= CLOSING) {
      if (!this.#final || length > MOST_CONTROL_BYTES || this.#opcode > PONG) {
        throw new FrameError(CLOSE.protocolError, "a control frame is not one");
      }
    } else {
      if (this.#opcode === BINARY) throw new FrameError(CLOSE.unsupported, "only text is understood");
      const continues = this.#message !== null;
      if (this.#opcode > BINARY || continues !== (this.#opcode === CONTINUATION)) {
        throw new FrameError(CLOSE.protocolError, "the parts of a message are out of order");
      }
      this.#message ??= new Payload();
      this.#announced += length;
      if (this.#announced > this.#mostBytes) {
        throw new FrameError(CLOSE.tooLarge, `a message may have ${this.#mostBytes} bytes`);
      }
    }
    this.#left = length;
  }

  #unmask(piece: Uint8Array): void {
    const head = this.#head;
    for (let i = 0; i < piece.length; i++) piece[i] ^= head[this.#maskAt + ((this.#taken + i) & 3)];
    this.#taken += piece.length;
  }

  #end(): void {
    this.#left = null;
    this.#headBytes = 0;
    if (this.#opcode < CLOSING) {
      if (!this.#final) return;
      const message = this.#message!.take();
      this.#message = null;
      this.#announced = 0;
      return this.#listener.text(message);
    }
    const payload = this.#control.take();
    if (this.#opcode === PING) this.#listener.ping(payload);
    else if (this.#opcode === PONG) this.#listener.pong();
    else this.#listener.close(closeCode(payload));
  }
}

function headBytesOf(head: Uint8Array): number {
  const length = head[1] & 0x7f;
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((head[1] & 0x80) !== 0 ? 4 : 0);
}

function lengthOf(head: Uint8Array): number {
  const length = head[1] & 0x7f;
  if (length < 126) return length;
  const view = new DataView(head.buffer);
  if (length === 126) return view.getUint16(2);
  // Above 2^53 the value is inexact, but too long anyway.
  return view.getUint32(2) * 2 ** 32 + view.getUint32(6);
}

function closeCode(payload: Uint8Array): number | null {
  if (payload.length === 0) return null;
  const code = payload.length === 1 ? 0 : payload[0] << 8 | payload[1];
  const known = (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) ||
    (code >= 3000 && code <= 4999);
  if (!known) throw new FrameError(CLOSE.protocolError, "the code of an end is not one");
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(payload.subarray(2));
  } catch {
    throw new FrameError(CLOSE.invalidText, "the reason of an end is no UTF-8");
  }
  return code;
}

const NOTHING = new Uint8Array();

/** Accumulates bytes in one buffer, since a frame may consist of a single byte. */
class Payload {
  #buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Returns the stored copy of the bytes. */
  add(bytes: Uint8Array): Uint8Array {
    const from = this.#length;
    this.#length += bytes.length;
    if (this.#length > this.#buffer.length) {
      const larger = new Uint8Array(
        from === 0 ? this.#length : Math.max(this.#length, 2 * this.#buffer.length),
      );
      larger.set(this.#buffer.subarray(0, from));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, from);
    return this.#buffer.subarray(from, this.#length);
  }

  /** Returns all bytes and resets the buffer. */
  take(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
    return bytes;
  }
}

const encoder = new TextEncoder();

/** Whether the bytes are exactly one frame, the answer to {@link PING_FRAME}. */
export function isEmptyPong(bytes: Uint8Array): boolean {
  return bytes.length === 6 && bytes[0] === (0x80 | PONG) && bytes[1] === 0x80;
}

export const textFrame = (text: string): Uint8Array => frame(TEXT, encoder.encode(text));
export const PING_FRAME = frame(PING, new Uint8Array());
export const pongFrame = (payload: Uint8Array): Uint8Array => frame(PONG, payload);

/** @param reason at most 123 bytes */
export function closeFrame(code: number, reason: string): Uint8Array {
  const text = encoder.encode(reason).subarray(0, MOST_CONTROL_BYTES - 2);
  const payload = new Uint8Array(2 + text.length);
  payload[0] = code >> 8;
  payload[1] = code & 0xff;
  payload.set(text, 2);
  return frame(CLOSING, payload);
}

function frame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const head = length < 126 ? 2 : length < 65536 ? 4 : 10;
  const bytes = new Uint8Array(head + length);
  bytes[0] = 0x80 | opcode;
  if (head === 2) bytes[1] = length;
  else {
    const view = new DataView(bytes.buffer);
    bytes[1] = head === 4 ? 126 : 127;
    if (head === 4) view.setUint16(2, length);
    else {
      view.setUint32(2, Math.floor(length / 2 ** 32));
      view.setUint32(6, length % 2 ** 32);
    }
  }
  bytes.set(payload, head);
  return bytes;
}
