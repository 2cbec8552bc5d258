/**
 * HTTP/1.1 messages as bytes (RFC 9112): a request to write, the head of an answer, and where its body ends.
 *
 * Strict where leniency could mistake one answer's end for another's beginning: lengths, encodings and chunks that are not
 * plainly right are an error.
 */
const CR = 13;
const LF = 10;

/** A head longer than this is not waited for. */
export const MAX_HEAD_BYTES = 64 * 1024;

/** An answer that is not HTTP as this side understands it. */
export class WireError extends Error {}

export interface Head {
  status: number;
  /** By name in lower case; repeated ones joined by a comma. */
  headers: Map<string, string>;
  /** The connection may be used again after this answer. */
  keepAlive: boolean;
}

const encoder = new TextEncoder();

/** A longer body is written by itself: to put it behind the head would copy it. */
const JOINED_BYTES = 16 * 1024;

/** A POST as bytes, to be written one piece after the other. Throws on a header that would end before its end. */
export function requestBytes(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Uint8Array[] {
  const content = encoder.encode(body);
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n]/.test(value)) throw new WireError(`the value of header ${name} has a line break`);
    head += `${name}: ${value}\r\n`;
  }
  head += `content-length: ${content.length}\r\n\r\n`;
  const joined = content.length <= JOINED_BYTES;
  const bytes = new Uint8Array(head.length + (joined ? content.length : 0));
  const { read, written } = encoder.encodeInto(head, bytes);
  if (read !== written) {
    // A header is bytes, of which some may be no ASCII.
    for (let i = 0; i < head.length; i++) bytes[i] = head.charCodeAt(i);
  }
  if (!joined) return [bytes, content];
  bytes.set(content, head.length);
  return [bytes];
}

/** Index behind the blank line that ends a head, 0 when it is not there yet. Looks from `from` on. */
export function headEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at + 2 < to; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

/** @param text a head with its blank line */
export function parseHead(text: string): Head {
  const lineEnd = text.indexOf("\r\n");
  const status = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(text.slice(0, lineEnd));
  if (!status) throw new WireError("the status line is not one of HTTP/1.1");
  const headers = new Map<string, string>();
  for (let at = lineEnd + 2; at < text.length - 2;) {
    const end = text.indexOf("\r\n", at);
    const colon = text.indexOf(":", at);
    if (colon <= at || colon > end) throw new WireError("a header has no name");
    const name = text.slice(at, colon).toLowerCase();
    const value = text.slice(colon + 1, end).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
    at = end + 2;
  }
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const keepAlive = status[1] === "1" ? !connection.includes("close") : connection === "keep-alive";
  return { status: Number(status[2]), headers, keepAlive };
}

const enum At {
  Length,
  Close,
  Size,
  Extension,
  Data,
  DataEnd,
  Trailer,
  TrailerLine,
}

/** Follows a body to its end, through however many reads. */
export class BodyFraming {
  #at: At;
  /** Of the body, or of the chunk. */
  #left = 0;
  #digits = 0;
  ended = false;
  /** Only the end of the connection ends the body. */
  readonly untilClose: boolean;
  /** Bytes of the last read behind the end of the body. */
  unused = 0;

  constructor({ status, headers }: Head) {
    const coding = headers.get("transfer-encoding");
    const length = headers.get("content-length");
    this.#at = At.Close;
    if (status === 204 || status === 304) this.ended = true;
    else if (coding !== undefined) {
      if (coding.toLowerCase() !== "chunked") throw new WireError("the transfer encoding is not known");
      this.#at = At.Size;
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new WireError("the content length is not a number");
      this.#at = At.Length;
      this.#left = Number(length);
      this.ended = this.#left === 0;
    }
    this.untilClose = this.#at === At.Close && !this.ended;
  }

  /** Takes the bytes from `from` to `to`, and moves what they hold of the body to `from`. Gives the end of that. */
  take(bytes: Uint8Array, from: number, to: number): number {
    let out = from;
    let i = from;
    while (i < to && !this.ended) {
      switch (this.#at) {
        case At.Close:
          return to;
        case At.Length:
        case At.Data: {
          const end = Math.min(to, i + this.#left);
          if (out !== i) bytes.copyWithin(out, i, end);
          out += end - i;
          this.#left -= end - i;
          i = end;
          if (this.#left === 0) {
            if (this.#at === At.Length) this.ended = true;
            else this.#at = At.DataEnd;
          }
          break;
        }
        default:
          this.#between(bytes[i++]);
      }
    }
    this.unused = to - i;
    return out;
  }

  /** One byte of what stands between chunks. */
  #between(byte: number): void {
    switch (this.#at) {
      case At.DataEnd:
        if (byte === LF) this.#at = At.Size;
        else if (byte !== CR) throw new WireError("a chunk is longer than its size");
        return;
      case At.Size: {
        const digit = hexDigit(byte);
        if (digit >= 0 && this.#digits < 12) {
          this.#left = this.#left * 16 + digit;
          this.#digits++;
        } else if (byte === LF) this.#begin();
        else if (byte === 59 || byte === 32 || byte === 9) this.#at = At.Extension;
        else if (byte !== CR) throw new WireError("the size of a chunk is not a number");
        return;
      }
      case At.Extension:
        if (byte === LF) this.#begin();
        return;
      case At.Trailer:
        if (byte === LF) this.ended = true;
        else if (byte !== CR) this.#at = At.TrailerLine;
        return;
      case At.TrailerLine:
        if (byte === LF) this.#at = At.Trailer;
    }
  }

  #begin(): void {
    if (this.#digits === 0) throw new WireError("a chunk has no size");
    this.#digits = 0;
    this.#at = this.#left === 0 ? At.Trailer : At.Data;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
