/** Frames of HTTP/2 (RFC 9113, sections 4 and 6), as bytes. */
import { Buffer } from "node:buffer";

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const FRAME_HEAD_BYTES = 9;
/** Default and minimum of SETTINGS_MAX_FRAME_SIZE. */
export const FRAME_BYTES = 16_384;
/** Maximum of SETTINGS_MAX_FRAME_SIZE. */
export const MOST_FRAME_BYTES = (1 << 24) - 1;
export const WINDOW_BYTES = 65_535;
export const MOST_WINDOW_BYTES = 0x7fffffff;

/** HEADERS, and CONTINUATION if needed. @param ended the request has no body */
export function headFrames(stream: number, fields: readonly Uint8Array[], ended: boolean): Uint8Array[] {
  const bytes = fields.reduce((sum, piece) => sum + piece.length, 0);
  const flags = ended ? FLAG.endStream : 0;
  if (bytes <= FRAME_BYTES) {
    return [frameHead(bytes, FRAME.headers, flags | FLAG.endHeaders, stream), ...fields];
  }
  const whole = Buffer.concat(fields);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes; at += FRAME_BYTES) {
    const piece = whole.subarray(at, at + FRAME_BYTES);
    const [type, first] = at === 0 ? [FRAME.headers, flags] : [FRAME.continuation, 0];
    frames.push(frame(type, at + FRAME_BYTES >= bytes ? first | FLAG.endHeaders : first, stream, piece));
  }
  return frames;
}

/** A whole frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + payload.length);
  writeHead(bytes, { length: payload.length, type, flags, stream });
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

/** The nine bytes before a payload. */
export function frameHead(length: number, type: number, flags: number, stream: number): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES);
  writeHead(bytes, { length, type, flags, stream });
  return bytes;
}

function writeHead(
  bytes: Uint8Array,
  { length, type, flags, stream }: { length: number; type: number; flags: number; stream: number },
): void {
  bytes[0] = length >>> 16;
  bytes[1] = length >>> 8;
  bytes[2] = length;
  bytes[3] = type;
  bytes[4] = flags;
  writeUint32(bytes, 5, stream);
}

export function settings(values: readonly (readonly [setting: number, value: number])[]): Uint8Array {
  const payload = new Uint8Array(values.length * 6);
  for (const [i, [setting, value]] of values.entries()) {
    payload[6 * i + 1] = setting;
    writeUint32(payload, 6 * i + 2, value);
  }
  return frame(FRAME.settings, 0, 0, payload);
}

/** A frame whose payload is one number: RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, stream: number, value: number): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + 4);
  writeHead(bytes, { length: 4, type, flags: 0, stream });
  writeUint32(bytes, FRAME_HEAD_BYTES, value);
  return bytes;
}

/** GOAWAY of a client: no stream of the server was processed. */
export function goaway(code: number): Uint8Array {
  const payload = new Uint8Array(8);
  writeUint32(payload, 4, code);
  return frame(FRAME.goaway, 0, 0, payload);
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}
