/** Reads ZIP archives by their central directory, as office programs do. All sizes are limited during decompression. */
import { Buffer } from "node:buffer";
import { inflateRawSync } from "node:zlib";
import { MOST_BYTES, MOST_PARTS } from "./bounds.ts";

export interface Part {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The archive, or a part of it, cannot be read: it is encrypted, damaged, or too large. */
class Unreadable extends Error {}

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 65_535;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

/** The requested parts, in the order of the directory. */
export function* partsOf(archive: Uint8Array, wants: (name: string) => boolean): Generator<Part> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > MOST_PARTS || count === 0xffff || at === 0xffffffff) throw new Unreadable("too many parts");
  let left = MOST_BYTES;
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY) throw new Unreadable("no entry");
    const flags = bytes.readUInt16LE(at + 8);
    const method = bytes.readUInt16LE(at + 10);
    const packed = bytes.readUInt32LE(at + 20);
    const nameLength = bytes.readUInt16LE(at + 28);
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (name.endsWith("/")) {
      yield { name, bytes: new Uint8Array() };
      continue;
    }
    if (!wants(name)) continue;
    if ((flags & ENCRYPTED) !== 0) throw new Unreadable("encrypted");
    if (local + 30 > bytes.length || bytes.readUInt32LE(local) !== LOCAL) throw new Unreadable("no part");
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const raw = bytes.subarray(start, start + packed);
    if (raw.length < packed || method !== STORED && method !== DEFLATED) {
      throw new Unreadable("no such method");
    }
    // The sizes in the directory are not trusted.
    const part = method === STORED ? raw : inflateRawSync(raw, { maxOutputLength: left + 1 });
    left -= part.length;
    if (left < 0) throw new Unreadable("too large");
    yield { name, bytes: part };
  }
}

/** The comment of an archive. */
export function commentOf(archive: Uint8Array): string {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  return bytes.toString("utf8", endOf(bytes) + END_SIZE);
}

/** Offset of the end-of-central-directory record, which only a comment can follow. */
function endOf(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_SIZE - LONGEST_COMMENT);
  for (let at = bytes.length - END_SIZE; at >= lowest; at--) {
    if (bytes.readUInt32LE(at) === END) return at;
  }
  throw new Unreadable("no directory");
}
