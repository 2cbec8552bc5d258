/**
 * Header compression of HTTP/2 (HPACK, RFC 7541).
 *
 * The encoder never adds to the dynamic table: API keys stay out of it, and headers that many requests share can be encoded once. The
 * decoder supports the default dynamic table of 4,096 bytes.
 */
import { Buffer } from "node:buffer";
import { WireError } from "../../transport/body_framing.ts";
import { MAX_HEAD_BYTES } from "../../transport/head.ts";
import { decodeHuffman } from "./huffman.ts";

/** RFC 7541, appendix A. */
const STATIC: readonly (readonly [name: string, value: string])[] =
  (":authority,:method=GET,:method=POST,:path=/," +
    ":path=/index.html,:scheme=http,:scheme=https,:status=200,:status=204,:status=206,:status=304,:status=400," +
    ":status=404,:status=500,accept-charset,accept-encoding=gzip|deflate,accept-language,accept-ranges,accept," +
    "access-control-allow-origin,age,allow,authorization,cache-control,content-disposition,content-encoding," +
    "content-language,content-length,content-location,content-range,content-type,cookie,date,etag,expect,expires," +
    "from,host,if-match,if-modified-since,if-none-match,if-range,if-unmodified-since,last-modified,link,location," +
    "max-forwards,proxy-authenticate,proxy-authorization,range,referer,refresh,retry-after,server,set-cookie," +
    "strict-transport-security,transfer-encoding,user-agent,vary,via,www-authenticate").split(",").map(
      (entry) => {
        const [name, value = ""] = entry.split("=");
        return [name, value.replace("|", ", ")];
      },
    );

const TABLE_BYTES = 4096;
/** Overhead of a table entry (RFC 7541, section 4.1). */
const ENTRY_BYTES = 32;
/** Maximum number of fields, as over HTTP/1.1. */
const MOST_FIELDS = 200;
/** Maximum of lengths, indexes and sizes. */
const MOST_NUMBER = 1 << 24;

/** A header field. */
export type Field = readonly [name: string, value: string];

/** Decodes the header blocks of one connection, in order. */
export class HeadDecoder {
  /** The dynamic table, newest entry first. */
  readonly #entries: Field[] = [];
  #bytes = 0;
  #mostBytes = TABLE_BYTES;
  #block!: Uint8Array;
  #at = 0;

  /** Throws {@link WireError}. After that the connection cannot be used, because the state of the table is unknown. */
  decode(block: Uint8Array): Field[] {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    let bytes = 0;
    while (this.#at < block.length) {
      const field = this.#next(fields.length === 0);
      if (field === null) continue;
      bytes += sizeOf(field);
      if (fields.push(field) > MOST_FIELDS || bytes > MAX_HEAD_BYTES) {
        throw new WireError("the headers are too long");
      }
    }
    return fields;
  }

  /** Null: it was a size update of the table, which is allowed before the first field. */
  #next(isFirst: boolean): Field | null {
    const byte = this.#block[this.#at];
    if (byte & 0x80) return this.#entry(this.#number(7));
    if (byte & 0x40) {
      const field = this.#literal(6);
      this.#add(field);
      return field;
    }
    if (!(byte & 0x20)) return this.#literal(4);
    const size = this.#number(5);
    if (!isFirst || size > TABLE_BYTES) {
      throw new WireError("a size update of the header table is invalid");
    }
    this.#mostBytes = size;
    this.#evict(0);
    return null;
  }

  #literal(bits: number): Field {
    const index = this.#number(bits);
    const name = index === 0 ? this.#text() : this.#entry(index)[0];
    return [name, this.#text()];
  }

  #entry(index: number): Field {
    const field = index <= STATIC.length ? STATIC[index - 1] : this.#entries[index - STATIC.length - 1];
    if (field === undefined) throw new WireError("a header index is invalid");
    return field;
  }

  #add(field: Field): void {
    const size = sizeOf(field);
    this.#evict(size);
    if (size > this.#mostBytes) return;
    this.#entries.unshift(field);
    this.#bytes += size;
  }

  /** Evicts entries until `size` more bytes fit. */
  #evict(size: number): void {
    while (this.#entries.length > 0 && this.#bytes + size > this.#mostBytes) {
      this.#bytes -= sizeOf(this.#entries.pop()!);
    }
  }

  /** An integer with a prefix of so many bits (RFC 7541, section 5.1). */
  #number(bits: number): number {
    const block = this.#block;
    const most = (1 << bits) - 1;
    let value = block[this.#at++] & most;
    if (value < most) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= block.length) break;
      const byte = block[this.#at++];
      value += (byte & 0x7f) << shift;
      if (value > MOST_NUMBER) break;
      if (byte < 0x80) return value;
    }
    throw new WireError("an integer in the headers is invalid");
  }

  #text(): string {
    const block = this.#block;
    if (this.#at >= block.length) throw new WireError("the headers end within a field");
    const isHuffman = block[this.#at] >= 0x80;
    const length = this.#number(7);
    const from = this.#at;
    const to = from + length;
    if (to > block.length) throw new WireError("the headers end within a field");
    this.#at = to;
    return isHuffman
      ? decodeHuffman(block, from, to)
      : Buffer.from(block.buffer, block.byteOffset + from, length).toString("latin1");
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_BYTES;
}

/** The index of each name in the static table. */
const places = new Map<string, number>();
for (const [i, [name]] of STATIC.entries()) if (!places.has(name)) places.set(name, i + 1);

/** First bytes of a literal without indexing, and of one that intermediaries must not index either. */
const LITERAL = 0x00;
const NEVER = 0x10;
const SECRET: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "x-amz-security-token",
]);

/** Size update to 0, sent once before the first field of a connection: the encoder uses no dynamic table. */
export const NO_TABLE: Uint8Array = new Uint8Array([0x20]);

/** Encodes fields as literals. Names must be in lower case, values Latin-1. */
export function encodeFields(fields: Iterable<Field>): Uint8Array {
  const bytes: number[] = [];
  for (const [name, value] of fields) {
    const place = places.get(name);
    const kind = SECRET.has(name) ? NEVER : LITERAL;
    pushNumber(bytes, kind, 4, place ?? 0);
    if (place === undefined) pushText(bytes, name);
    pushText(bytes, value);
  }
  return Uint8Array.from(bytes);
}

function pushText(bytes: number[], text: string): void {
  pushNumber(bytes, 0, 7, text.length);
  for (let i = 0; i < text.length; i++) bytes.push(text.charCodeAt(i) & 0xff);
}

function pushNumber(bytes: number[], kind: number, bits: number, value: number): void {
  const most = (1 << bits) - 1;
  if (value < most) {
    bytes.push(kind | value);
    return;
  }
  bytes.push(kind | most);
  value -= most;
  while (value >= 0x80) {
    bytes.push((value & 0x7f) | 0x80);
    value >>>= 7;
  }
  bytes.push(value);
}
