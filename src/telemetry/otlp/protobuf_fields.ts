/** A reader for the short Protocol Buffers messages that collectors answer with. */

export interface ProtobufField {
  number: number;
  /** A number, also for a negative one: its 64 bits without a sign, rounded. */
  value: number | Uint8Array;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** The most bytes of a varint. */
const MOST_VARINT = 10;

/** The fields of a message in their order. Null: the bytes are not a message. */
export function protobufFields(bytes: Uint8Array): ProtobufField[] | null {
  const found: ProtobufField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let i = 0; i < MOST_VARINT && at < bytes.length; i++) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** (7 * i);
      if (byte < 128) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const type = tag % 8;
    if (type === VARINT) {
      found.push({ number, value: varint() });
      if (Number.isNaN(found.at(-1)!.value)) return null;
      continue;
    }
    const length = type === BYTES ? varint() : type === FIXED64 ? 8 : type === FIXED32 ? 4 : NaN;
    if (!(number > 0 && at + length <= bytes.length)) return null;
    found.push({ number, value: bytes.subarray(at, at += length) });
  }
  return found;
}

/** The last field with a number and bytes as value: a message, a string. */
export function bytesOf(fields: ProtobufField[] | null, number: number): Uint8Array | undefined {
  const found = fields?.findLast((field) => field.number === number && typeof field.value !== "number");
  return found?.value as Uint8Array | undefined;
}

/** The last field with a number and a varint as value. */
export function numberOf(fields: ProtobufField[] | null, number: number): number {
  const found = fields?.findLast((field) => field.number === number && typeof field.value === "number");
  return (found?.value as number | undefined) ?? 0;
}
