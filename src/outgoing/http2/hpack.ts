/**
 * Headers as HTTP/2 writes them (HPACK, RFC 7541).
 *
 * What is sent never enters the table that both sides share: API keys stay out of it, and what many requests have in common is encoded
 * once. What is received may use the table of 4,096 bytes that every connection has at first.
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
/** What an entry of the table counts beside its letters. */
const ENTRY_BYTES = 32;
/** Heads with more fields are refused, as over HTTP/1.1. */
const MOST_FIELDS = 200;
/** Larger numbers have no meaning here: no length, index or size is as large. */
const MOST_NUMBER = 1 << 24;

/** One field of a head. */
export type Field = readonly [name: string, value: string];

/** Decodes the heads of one connection, in the order in which they come. */
export class HeadDecoder {
  /** The table, the entry that came last first. */
  readonly #entries: Field[] = [];
  #bytes = 0;
  #mostBytes = TABLE_BYTES;
  #block!: Uint8Array;
  #at = 0;

  /** Throws {@link WireError}, after which the connection cannot be used: its table is not known any more. */
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
        throw new WireError("the head is too long");
      }
    }
    return fields;
  }

  /** Null: it was no field but the size of the table, which may change before the first field. */
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
      throw new WireError("the table of headers has another size than was agreed");
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
    if (field === undefined) throw new WireError("a header stands for none");
    return field;
  }

  #add(field: Field): void {
    const size = sizeOf(field);
    this.#evict(size);
    if (size > this.#mostBytes) return;
    this.#entries.unshift(field);
    this.#bytes += size;
  }

  /** Makes room in the table. */
  #evict(size: number): void {
    while (this.#entries.length > 0 && this.#bytes + size > this.#mostBytes) {
      this.#bytes -= sizeOf(this.#entries.pop()!);
    }
  }

  /** A number whose first byte has so many bits of it. */
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
    throw new WireError("a number in the head is none");
  }

  #text(): string {
    const block = this.#block;
    if (this.#at >= block.length) throw new WireError("the head ends within a field");
    const isHuffman = block[this.#at] >= 0x80;
    const length = this.#number(7);
    const from = this.#at;
    const to = from + length;
    if (to > block.length) throw new WireError("the head ends within a field");
    this.#at = to;
    return isHuffman
      ? decodeHuffman(block, from, to)
      : Buffer.from(block.buffer, block.byteOffset + from, length).toString("latin1");
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_BYTES;
}

/** The place of each name in the static table. */
const places = new Map<string, number>();
for (const [i, [name]] of STATIC.entries()) if (!places.has(name)) places.set(name, i + 1);

/** How a literal begins that no table takes up, and one that nobody on the way may take up either. */
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

/** Said once, before the first field of a connection: this side uses no table. */
export const NO_TABLE: Uint8Array = new Uint8Array([0x20]);

/** Fields, their names in lower case, as literals. Values are one byte a character. */
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
