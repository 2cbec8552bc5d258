/** A writer for the parts of Protocol Buffers that OTLP uses. It writes fields in order into a growing buffer. */
import type { AttributeWriter, FixedAttributes } from "./attributes.ts";

const encoder = new TextEncoder();

/** Tags of `KeyValue` and `AnyValue`. */
const KEY = 0x0a;
const VALUE = 0x12;
const TEXT = 0x0a;
const FLAG = 0x10;
const INT = 0x18;
const DOUBLE = 0x21;
const ARRAY = 0x2a;

/** The most bytes of a tag, a length and a number. */
const MOST_SMALL = 24;

export class ProtobufWriter implements AttributeWriter {
  bytes: Uint8Array<ArrayBuffer>;
  at = 0;
  /** Tag of the field that contains attributes. */
  attributeTag: number;
  #view: DataView;

  constructor(attributeTag: number, size = 1024) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
    this.attributeTag = attributeTag;
  }

  /** A copy of the bytes written so far. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at);
  }

  room(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.at + count, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  varint(value: number): void {
    this.room(MOST_SMALL);
    let rest = value;
    while (rest > 127) {
      this.bytes[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  /** Writes a field whose tag takes one byte. */
  field(tag: number, value: number): void {
    this.room(MOST_SMALL);
    this.bytes[this.at++] = tag;
    this.varint(value);
  }

  double(key: string, value: number): void {
    this.#key(key, 9);
    this.bytes[this.at++] = DOUBLE;
    this.#view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  doubleField(tag: number, value: number): void {
    this.room(MOST_SMALL);
    this.bytes[this.at++] = tag;
    this.rawDouble(value);
  }

  rawDouble(value: number): void {
    this.room(8);
    this.#view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** Writes a 64-bit integer below 2^53. */
  fixedField(tag: number, value: number): void {
    this.room(MOST_SMALL);
    this.bytes[this.at++] = tag;
    this.rawFixed(value);
  }

  rawFixed(value: number): void {
    this.room(8);
    this.#view.setUint32(this.at, value % 2 ** 32, true);
    this.#view.setUint32(this.at + 4, Math.floor(value / 2 ** 32), true);
    this.at += 8;
  }

  /** Writes four bytes in big-endian order, as in ids. */
  word(value: number): void {
    this.#view.setUint32(this.at, value);
    this.at += 4;
  }

  /**
   * Writes milliseconds since the epoch as 64-bit nanoseconds, which exceed the integers that a JavaScript
   * number can represent.
   */
  time(tag: number, ms: number): void {
    this.room(MOST_SMALL);
    const whole = Math.floor(ms);
    const nanos = Math.min(999_999, Math.round((ms - whole) * 1e6));
    // Computes whole · 10⁶ in two parts, from the upper bits and the lower 16 bits.
    const upper = Math.floor(whole / 65_536) * 1e6;
    const lower = (whole % 65_536) * 1e6 + nanos;
    const low = (upper % 65_536) * 65_536 + lower;
    this.bytes[this.at++] = tag;
    this.#view.setUint32(this.at, low % 2 ** 32, true);
    this.#view.setUint32(this.at + 4, Math.floor(upper / 65_536) + Math.floor(low / 2 ** 32), true);
    this.at += 8;
  }

  string(tag: number, text: string): void {
    const { length } = text;
    this.room(length + MOST_SMALL);
    const began = this.at;
    this.bytes[this.at++] = tag;
    this.varint(length);
    if (this.#ascii(text)) return;
    this.at = began;
    this.blob(tag, encoder.encode(text));
  }

  blob(tag: number, bytes: Uint8Array): void {
    this.room(bytes.length + MOST_SMALL);
    this.bytes[this.at++] = tag;
    this.varint(bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Begins a nested message, whose length is written by `close`. @returns the argument for `close` */
  open(tag: number): number {
    this.room(MOST_SMALL);
    this.bytes[this.at] = tag;
    // Reserve two bytes for the length, which is enough for most messages.
    return this.at += 3;
  }

  close(began: number): void {
    const length = this.at - began;
    const takes = sizeOf(length);
    if (takes !== 2) {
      this.room(takes);
      this.bytes.copyWithin(began - 2 + takes, began, this.at);
    }
    this.at = began - 2;
    this.varint(length);
    this.at += length;
  }

  text(key: string, value: string): void {
    const began = this.at;
    const { length } = value;
    this.#key(key, 1 + sizeOf(length) + length);
    this.bytes[this.at++] = TEXT;
    this.varint(length);
    if (this.#ascii(value)) return;
    this.at = began;
    const bytes = encoder.encode(value);
    this.#key(key, 1 + sizeOf(bytes.length) + bytes.length);
    this.blob(TEXT, bytes);
  }

  int(key: string, value: number): void {
    const whole = Math.max(0, Math.round(value));
    this.#key(key, 1 + sizeOf(whole));
    this.bytes[this.at++] = INT;
    this.varint(whole);
  }

  flag(key: string, value: boolean): void {
    this.#key(key, 2);
    this.bytes[this.at++] = FLAG;
    this.bytes[this.at++] = value ? 1 : 0;
  }

  texts(key: string, values: readonly string[]): void {
    const all = new ProtobufWriter(0, 128);
    for (const value of values) {
      const one = all.open(ARRAY_ITEM);
      all.string(TEXT, value);
      all.close(one);
    }
    const bytes = all.bytes.subarray(0, all.at);
    this.#key(key, 1 + sizeOf(bytes.length) + bytes.length);
    this.blob(ARRAY, bytes);
  }

  fixed(attributes: FixedAttributes): void {
    if (attributes.bytes === null) {
      const own = new ProtobufWriter(this.attributeTag);
      attributes.write(own);
      attributes.bytes = own.copy();
    }
    this.raw(attributes.bytes);
  }

  /** Writes the parts of an attribute that are the same for all types, and reserves space for the rest. */
  #key(key: string, valueLength: number): void {
    const { length } = key;
    this.room(length + valueLength + MOST_SMALL);
    this.bytes[this.at++] = this.attributeTag;
    this.varint(1 + sizeOf(length) + length + 1 + sizeOf(valueLength) + valueLength);
    this.bytes[this.at++] = KEY;
    this.varint(length);
    if (!this.#ascii(key)) throw new TypeError(`A key is ASCII, not ${key}.`);
    this.bytes[this.at++] = VALUE;
    this.varint(valueLength);
  }

  /** Writes ASCII text. False: the text has other characters, and what was written must be discarded. */
  #ascii(text: string): boolean {
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }
}

/** Tag of a value in an array. */
const ARRAY_ITEM = 0x0a;

/** Size of a number as a varint, in bytes. */
function sizeOf(value: number): number {
  if (value < 128) return 1;
  if (value < 16_384) return 2;
  if (value < 2_097_152) return 3;
  let size = 3;
  for (let rest = value / 2_097_152; rest >= 1; rest /= 128) size++;
  return size;
}
