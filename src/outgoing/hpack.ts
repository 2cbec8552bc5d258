/** Compressed heads of HTTP/2 (RFC 7541). What is written here needs no compression; what is read may have all of it. */
import { WireError } from "../http1/body_framing.ts";

export type Field = readonly [name: string, value: string];

/** Of a head with all that its compression stands for: 100 bytes can stand for megabytes. Each field counts 32 bytes besides. */
const MOST_BYTES = 64 * 1024;
const FIELD_BYTES = 32;
/** The usual size of the table that sender and receiver keep. */
const TABLE_BYTES = 4096;

/** Appendix A. */
const STATIC: readonly Field[] = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`.split("\n").map((line) => {
  const [, name, value = ""] = /^(\S+)(?: (.*))?$/.exec(line)!;
  return [name, value];
});

/** Bits of the code of each byte, and of the end (appendix B). Codes of one length follow one another, so lengths say all. */
const CODE_BITS: readonly number[] = `
13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28
6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10
13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6
15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24
22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23
26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27
20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26
30`.trim().split(/\s+/).map(Number);
const END = 256;
const MOST_BITS = 30;

/** Of each length: its first code, and where its bytes begin in {@link inOrder}. */
const firstCode: number[] = [0];
const firstPlace: number[] = [0];
const inOrder: number[] = [];
for (let bits = 1, code = 0; bits <= MOST_BITS; bits++) {
  code = (code + inOrder.length - firstPlace[bits - 1]) * 2;
  firstCode.push(code);
  firstPlace.push(inOrder.length);
  CODE_BITS.forEach((length, byte) => length === bits && inOrder.push(byte));
}
firstPlace.push(inOrder.length);

function plainOf(coded: Uint8Array): string {
  let text = "";
  let code = 0;
  let bits = 0;
  for (const byte of coded) {
    for (let mask = 128; mask > 0; mask >>= 1) {
      code = code * 2 + ((byte & mask) === 0 ? 0 : 1);
      if (++bits > MOST_BITS) throw new WireError("a head is not coded as one");
      const place = firstPlace[bits] + code - firstCode[bits];
      if (place >= firstPlace[bits + 1]) continue;
      const found = inOrder[place];
      if (found === END) throw new WireError("a head is not coded as one");
      text += String.fromCharCode(found);
      code = bits = 0;
    }
  }
  // What fills the last byte is the beginning of the end's code, which has ones alone.
  if (bits > 7 || code !== 2 ** bits - 1) throw new WireError("a head is not coded as one");
  return text;
}

/** Reads the heads of one connection, one after the other. */
export class HeadDecoder {
  /** The newest first. */
  readonly #table: Field[] = [];
  #tableBytes = 0;
  #tableMost = TABLE_BYTES;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** Throws where it is no head, or too long. */
  decode(bytes: Uint8Array): Field[] {
    this.#bytes = bytes;
    this.#at = 0;
    const fields: Field[] = [];
    let size = 0;
    while (this.#at < bytes.length) {
      const field = this.#field(bytes[this.#at], fields.length > 0);
      if (field === null) continue;
      size += sizeOf(field);
      if (size > MOST_BYTES) throw new WireError("the head is too long");
      fields.push(field);
    }
    return fields;
  }

  /** Null: it was no field, but a new size of the table. */
  #field(first: number, begun: boolean): Field | null {
    if (first & 0x80) return this.#known(this.#number(7));
    if ((first & 0xe0) === 0x20) {
      const most = this.#number(5);
      if (begun || most > TABLE_BYTES) throw new WireError("a head is not coded as one");
      this.#tableMost = most;
      this.#evict();
      return null;
    }
    const kept = (first & 0x40) !== 0;
    const index = this.#number(kept ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#known(index)[0];
    const field: Field = [name, this.#text()];
    if (kept) {
      this.#table.unshift(field);
      this.#tableBytes += sizeOf(field);
      this.#evict();
    }
    return field;
  }

  #known(index: number): Field {
    const field = index <= STATIC.length ? STATIC[index - 1] : this.#table[index - STATIC.length - 1];
    if (field === undefined) throw new WireError("a head is not coded as one");
    return field;
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableMost) this.#tableBytes -= sizeOf(this.#table.pop()!);
  }

  #next(): number {
    if (this.#at >= this.#bytes.length) throw new WireError("a head is not coded as one");
    return this.#bytes[this.#at++];
  }

  /** @param bits of its first byte */
  #number(bits: number): number {
    const most = 2 ** bits - 1;
    let number = this.#next() & most;
    if (number < most) return number;
    for (let shift = 1; shift <= 2 ** 21; shift *= 128) {
      const byte = this.#next();
      number += (byte & 127) * shift;
      if (byte < 128) return number;
    }
    throw new WireError("a head is not coded as one");
  }

  #text(): string {
    const coded = (this.#bytes[this.#at] & 0x80) !== 0;
    const length = this.#number(7);
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new WireError("a head is not coded as one");
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return coded ? plainOf(bytes) : latin1(bytes);
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + FIELD_BYTES;
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** A head whose fields no table keeps, on either side. */
export function encodeHead(fields: Iterable<Field>): Uint8Array {
  const bytes: number[] = [];
  const text = (value: string) => {
    putNumber(bytes, 0, 7, value.length);
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 255) throw new WireError("a header has characters that none can have");
      bytes.push(code);
    }
  };
  for (const [name, value] of fields) {
    // "Never indexed": proxies on the way keep none of it, credentials least of all.
    bytes.push(0x10);
    text(name);
    text(value);
  }
  return new Uint8Array(bytes);
}

function putNumber(bytes: number[], first: number, bits: number, number: number): void {
  const most = 2 ** bits - 1;
  if (number < most) return void bytes.push(first | number);
  bytes.push(first | most);
  let rest = number - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 | (rest % 128));
  bytes.push(rest);
}
