/** Frames of HTTP/2 (RFC 9113) as a client writes them. */

export const FRAME_HEAD_BYTES = 9;
/** Of a frame's payload, in both directions: nobody is told that it may be more. */
export const MOST_FRAME_BYTES = 16_384;
/** Of a stream and of a connection, before anything is said of them. */
export const FIRST_WINDOW = 65_535;
export const MOST_WINDOW = 2 ** 31 - 1;

export const enum Type {
  Data,
  Headers,
  Priority,
  Reset,
  Settings,
  Push,
  Ping,
  GoAway,
  Window,
  Continuation,
}

export const enum Flag {
  /** Of DATA and HEADERS. */
  EndStream = 1,
  /** Of SETTINGS and PING. */
  Ack = 1,
  EndHeaders = 4,
  Padded = 8,
  Priority = 32,
}

export const enum Code {
  None = 0,
  Protocol = 1,
  Refused = 7,
  Cancel = 8,
  Http1Required = 13,
}

export const enum Setting {
  Push = 2,
  MostStreams = 3,
  Window = 4,
}

export function frame(type: Type, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + payload.length);
  const { length } = payload;
  bytes[0] = length >> 16;
  bytes[1] = length >> 8;
  bytes[2] = length;
  bytes[3] = type;
  bytes[4] = flags;
  put32(bytes, 5, stream);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

/** A frame of one number. */
export function numberFrame(type: Type, stream: number, number: number): Uint8Array {
  const payload = new Uint8Array(4);
  put32(payload, 0, number);
  return frame(type, 0, stream, payload);
}

/** A head, in as many frames as it needs. */
export function headFrames(stream: number, block: Uint8Array, ends: boolean): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < block.length; at += MOST_FRAME_BYTES) {
    const last = at + MOST_FRAME_BYTES >= block.length;
    const flags = (last ? Flag.EndHeaders : 0) | (at === 0 && ends ? Flag.EndStream : 0);
    const type = at === 0 ? Type.Headers : Type.Continuation;
    frames.push(frame(type, flags, stream, block.subarray(at, at + MOST_FRAME_BYTES)));
  }
  return frames;
}

/** How a client begins. @param window of each stream @param connection of all together */
export function preface(window: number, connection: number): Uint8Array[] {
  const settings = new Uint8Array(12);
  settings[1] = Setting.Push;
  settings[7] = Setting.Window;
  put32(settings, 8, window);
  return [
    new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(Type.Settings, 0, 0, settings),
    numberFrame(Type.Window, 0, connection - FIRST_WINDOW),
  ];
}

export function read32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

function put32(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = number >>> 24;
  bytes[at + 1] = number >>> 16;
  bytes[at + 2] = number >>> 8;
  bytes[at + 3] = number;
}
