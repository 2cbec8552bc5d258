import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { strictUtf8 } from "../../src/transport/websocket/strict_utf8.ts";

function expected(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Before the bytes, so that they count as a long text. */
const LONG = new Uint8Array((1 << 20) + 1).fill(97);

function check(bytes: Uint8Array): void {
  assertEquals(strictUtf8(bytes), expected(bytes));
  // A part of a larger buffer.
  const padded = new Uint8Array(bytes.length + 2).fill(0xff);
  padded.set(bytes, 1);
  assertEquals(strictUtf8(padded.subarray(1, -1)), expected(bytes));
  const buffer = new Uint8Array(LONG.length + bytes.length);
  buffer.set(LONG);
  buffer.set(bytes, LONG.length);
  assertEquals(strictUtf8(buffer.buffer) === expected(buffer), true);
}

Deno.test("strictUtf8() decodes what the strict decoder of the runtime decodes, and nothing else, whatever its length", () => {
  const encoded = fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text));
  fc.assert(fc.property(fc.oneof(encoded, fc.uint8Array()), check), { numRuns: 30 });
  for (const text of ["", "\ufffd", "a\ufffdb", "\ufeffa", "😀"]) check(new TextEncoder().encode(text));
  for (const bytes of [[0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xff]]) {
    check(new Uint8Array(bytes));
  }
});

Deno.test("strictUtf8() removes a byte order mark from a long text, too", () => {
  const bytes = new Uint8Array(2 << 20).fill(97);
  bytes.set([0xef, 0xbb, 0xbf]);
  assertEquals(strictUtf8(bytes)?.length, bytes.length - 3);
});
