/**
 * Parses AWS's binary event stream (`application/vnd.amazon.eventstream`) to frames.
 *
 * A message consists of a prelude (total length, length of the headers, checksum of both), headers, a
 * payload, and a checksum of everything before it. Numbers are big-endian, checksums CRC-32. An event becomes
 * a frame with its `:event-type` and payload; an exception message is thrown as a failure.
 */
import type { Failure } from "../../exchange/failure.ts";
import { object, parse, string } from "../../exchange/json.ts";
import { brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import type { Frame } from "../format.ts";
import { MAX_FRAME_BYTES } from "./sse.ts";

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/** AWS's limit. */
const MAX_HEADERS_BYTES = 128 * 1024;

/** Buffers larger than this are released after use. */
const KEPT_BYTES = 64 * 1024;

export class EventStreamReader {
  readonly #limit: number;
  /** Bytes of an incomplete message. */
  #kept = new Uint8Array(0);
  #keptBytes = 0;
  /** Checksum of the first bytes of it, continued with each read: that of a large message takes a tenth of a second. */
  #crc = NO_CRC;
  #summed = 0;

  constructor(limit: number = MAX_FRAME_BYTES) {
    this.#limit = limit;
  }

  /** Appends the frames completed by these bytes. The caller may reuse the bytes afterwards. */
  push(bytes: Uint8Array, out: Frame[]): void {
    let at = 0;
    if (this.#keptBytes > 0) {
      // First the prelude, then as many bytes as the message has.
      at = this.#keep(bytes, at, PRELUDE_BYTES);
      if (this.#keptBytes < PRELUDE_BYTES) return;
      const length = this.#lengthAt(this.#kept, 0);
      at = this.#keep(bytes, at, length);
      const summed = Math.min(this.#keptBytes, length - CHECKSUM_BYTES);
      this.#crc = continued(this.#crc, this.#kept, this.#summed, summed);
      this.#summed = summed;
      if (this.#keptBytes < length) return;
      const crc = ~this.#crc >>> 0;
      this.#keptBytes = this.#summed = 0;
      this.#crc = NO_CRC;
      readMessage(this.#kept.subarray(0, length), crc, out);
      if (this.#kept.length > KEPT_BYTES) this.#kept = new Uint8Array(0);
    }
    while (bytes.length - at >= PRELUDE_BYTES) {
      const end = at + this.#lengthAt(bytes, at);
      if (end > bytes.length) break;
      readMessage(bytes.subarray(at, end), crc32(bytes, at, end - CHECKSUM_BYTES), out);
      at = end;
    }
    this.#keep(bytes, at, this.#keptBytes + bytes.length - at);
  }

  /** Number of buffered bytes of an incomplete message. */
  get pending(): number {
    return this.#keptBytes;
  }

  get inFrame(): boolean {
    return this.#keptBytes > 0;
  }

  end(): void {
    if (this.#keptBytes > 0) throw brokenAnswer("it ends inside a message of its event stream");
  }

  /**
   * Buffers bytes until `wanted` are available.
   * @returns where the rest begins
   */
  #keep(bytes: Uint8Array, at: number, wanted: number): number {
    const more = Math.min(wanted - this.#keptBytes, bytes.length - at);
    if (more <= 0) return at;
    const length = this.#keptBytes + more;
    if (length > this.#kept.length) {
      const larger = new Uint8Array(Math.max(length, this.#kept.length * 2));
      larger.set(this.#kept.subarray(0, this.#keptBytes));
      this.#kept = larger;
    }
    this.#kept.set(bytes.subarray(at, at + more), this.#keptBytes);
    this.#keptBytes = length;
    return at + more;
  }

  /**
   * The length of the message that starts here. The prelude's checksum is verified before waiting for that
   * many bytes.
   */
  #lengthAt(bytes: Uint8Array, at: number): number {
    const length = uint32(bytes, at);
    const headers = uint32(bytes, at + 4);
    if (uint32(bytes, at + 8) !== crc32(bytes, at, at + 8)) {
      throw brokenAnswer("a prelude in its event stream has a wrong checksum");
    }
    if (length > this.#limit) {
      throw brokenAnswer(`a message of its event stream is over ${this.#limit} bytes`);
    }
    if (headers > MAX_HEADERS_BYTES || headers > length - PRELUDE_BYTES - CHECKSUM_BYTES) {
      throw brokenAnswer("the headers of a message of its event stream are longer than they may be");
    }
    return length;
  }
}

/**
 * @param message complete, with a valid prelude
 * @param crc the checksum of its bytes before its own checksum
 */
function readMessage(message: Uint8Array, crc: number, out: Frame[]): void {
  const end = message.length - CHECKSUM_BYTES;
  if (uint32(message, end) !== crc) {
    throw brokenAnswer("a message of its event stream has a wrong checksum");
  }
  const from = PRELUDE_BYTES + uint32(message, 4);
  const headers = readHeaders(message, PRELUDE_BYTES, from);
  const data = decoder.decode(message.subarray(from, end));
  switch (headers[":message-type"]) {
    case "exception":
      throw exceptionFailure(headers[":exception-type"] ?? "", data);
    case "error":
      throw exceptionFailure(
        headers[":error-code"] ?? "",
        JSON.stringify({ message: headers[":error-message"] }),
      );
    default:
      out.push({ event: headers[":event-type"] ?? "", data });
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Sizes of header values by type: true, false, 8, 16, 32 and 64 bits, bytes, text, time, UUID. -1: prefixed
 * with a length.
 */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const TEXT = 7;

/** Returns only text values. */
function readHeaders(bytes: Uint8Array, from: number, end: number): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  let at = from;
  const take = (length: number) => {
    const start = at;
    at += length;
    if (at > end) throw brokenAnswer("a header in its event stream is cut off");
    return start;
  };
  while (at < end) {
    const nameBytes = bytes[take(1)];
    const name = take(nameBytes);
    const type = bytes[take(1)];
    let length = VALUE_BYTES[type];
    if (length === undefined) throw brokenAnswer("a header in its event stream has an unknown type");
    if (length < 0) {
      const start = take(2);
      length = bytes[start] << 8 | bytes[start + 1];
    }
    const value = take(length);
    if (type !== TEXT) continue;
    headers[decoder.decode(bytes.subarray(name, name + nameBytes))] = decoder.decode(
      bytes.subarray(value, value + length),
    );
  }
  return headers;
}

/** HTTP statuses of exceptions when they occur before the stream. */
const STATUS: Readonly<Record<string, number>> = {
  validation: 400,
  accessdenied: 403,
  resourcenotfound: 404,
  modeltimeout: 408,
  throttling: 429,
  servicequotaexceeded: 429,
  modelnotready: 429,
  internalserver: 500,
  modelerror: 500,
  modelstreamerror: 500,
  serviceunavailable: 503,
};

/** @param name such as `throttlingException` */
function exceptionFailure(name: string, data: string): Failure {
  const body = object(parse(data));
  const status = STATUS[name.toLowerCase().replace(/exception$/, "")] ?? 500;
  const { originalStatusCode, originalMessage } = body;
  return decodeLateFailure({
    error: {
      type: name,
      message: string(body.message) ?? string(body.Message) ?? "",
      status_code: status,
      originalStatusCode,
      originalMessage,
    },
  });
}

function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0;
}

/** State of a checksum before the first byte. */
const NO_CRC = -1;

let table: Uint32Array | undefined;

/** CRC-32 as in zlib. */
function crc32(bytes: Uint8Array, from: number, to: number): number {
  return ~continued(NO_CRC, bytes, from, to) >>> 0;
}

/** The state of a checksum after these bytes, which its complement is. */
function continued(crc: number, bytes: Uint8Array, from: number, to: number): number {
  table ??= crcTable();
  for (let i = from; i < to; i++) crc = crc >>> 8 ^ table[(crc ^ bytes[i]) & 255];
  return crc;
}

function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
    return crc >>> 0;
  });
}
