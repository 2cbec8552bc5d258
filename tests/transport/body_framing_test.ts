import { assertEquals, assertThrows } from "@std/assert";
import { BodyFraming, WireError } from "../../src/transport/body_framing.ts";

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const text = (found: Uint8Array) => String.fromCharCode(...found);

/** The body that these pieces hold, as far as it goes. */
function read(framing: BodyFraming, pieces: readonly Uint8Array[]): string {
  let body = "";
  for (const piece of pieces) {
    // As on a connection, where the bytes stand somewhere in a buffer that was used before.
    const buffer = new Uint8Array(piece.length + 7);
    buffer.set(piece, 5);
    body += text(buffer.subarray(5, framing.take(buffer, 5, 5 + piece.length)));
  }
  return body;
}

Deno.test("BodyFraming takes a chunked body apart wherever it is cut", () => {
  const body = bytes(
    "5\r\nhello\r\n11;name=value\r\n, wide worldwide!\r\n0\r\nTrailer: x\r\nother: y\r\n\r\n",
  );
  for (let cut = 0; cut <= body.length; cut++) {
    const framing = BodyFraming.chunked();
    assertEquals(read(framing, [body.subarray(0, cut), body.subarray(cut)]), "hello, wide worldwide!");
    assertEquals([framing.ended, framing.unused], [true, 0]);
  }
  const framing = BodyFraming.ofAnswer(200, (name) => name === "transfer-encoding" ? "Chunked" : null, 1);
  assertEquals(read(framing, Array.from(body, (byte) => Uint8Array.of(byte))), "hello, wide worldwide!");
});

Deno.test("BodyFraming does not end before the last chunk does", () => {
  const framing = BodyFraming.chunked();
  read(framing, [bytes("5\r\nhello\r\n0\r\n")]);
  assertEquals(framing.ended, false);
  read(framing, [bytes("\r\nHTTP/1.1")]);
  assertEquals([framing.ended, framing.unused], [true, 8]);
});

Deno.test("BodyFraming takes tens of thousands of chunks whose sizes are filled up with blanks", () => {
  const framing = BodyFraming.chunked();
  const pieces = Array.from({ length: 20_000 }, () => bytes("6    \r\ndata\n\n\r\n"));
  assertEquals(read(framing, [...pieces, bytes("0     \r\n\r\n")]), "data\n\n".repeat(20_000));
  assertEquals(framing.ended, true);
});

Deno.test("BodyFraming takes sizes that begin with zeros, up to sixteen digits", () => {
  const framing = BodyFraming.chunked();
  assertEquals(read(framing, [bytes("0000000000000003\r\nabc\r\n0000000000000000\r\n\r\n")]), "abc");
  assertEquals(framing.ended, true);
});

/** Chunked bodies that RFC 9112 forbids, or that two readers could read in two ways. */
const WRONG_CHUNKS: Record<string, string> = {
  "a size that is no number": "x\r\n",
  "no size": "\r\n",
  "an extension and no size": ";a=b\r\n",
  "a chunk longer than its size": "3\r\nabcd\r\n",
  "a chunk that ends with a line feed alone": "3\r\nabc\n0\r\n\r\n",
  "a size below zero": "-1\r\n",
  "a size with a sign": "+1\r\n",
  "a size with 0x": "0x3\r\n",
  "a size beyond all bodies": "fffffffffffff\r\n",
  "a size with more digits than there are": "00000000000000003\r\nabc\r\n",
  "a carriage return within a size": "1\r0\r\n",
  "a size that ends with a line feed alone": "3\nabc\r\n",
  "a size that ends with two carriage returns": "3\r\r\nabc\r\n",
  "an underscore in a size": "1_0\r\n",
  "another number behind the size": "3 3\r\nabc\r\n",
  "a word behind the size": "3\tx=y\r\nabc\r\n",
  "an extension that ends with a line feed alone": "3;a=b\nabc\r\n",
  "an extension with a carriage return within": "3;a\rb\r\nabc\r\n",
  "an extension with a zero byte": "3;a=\0\r\n",
  "an extension without end": `3;${"a".repeat(20_000)}`,
  "extensions longer than the data": `1;${"a".repeat(20)}\r\nb\r\n`.repeat(1_000),
  "a trailer that ends with a line feed alone": "0\r\nx: y\n\r\n",
  "a trailer with a carriage return within": "0\r\nx: \ry\r\n\r\n",
  "the next request where a blank line should be": "0\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n",
  "a trailer without a name": "0\r\n: y\r\n\r\n",
  "a trailer without a colon": "0\r\nx\r\n\r\n",
  "a trailer with a blank before its colon": "0\r\nx : y\r\n\r\n",
  "a trailer that is folded": "0\r\nx: y\r\n z\r\n\r\n",
  "a trailer that begins with a blank": "0\r\n x: y\r\n\r\n",
  "trailers without end": `0\r\n${"x: y\r\n".repeat(5_000)}`,
  "an end with a carriage return alone": "0\r\n\rx",
};

for (const [what, wrong] of Object.entries(WRONG_CHUNKS)) {
  Deno.test(`BodyFraming refuses ${what}`, () => {
    assertThrows(() => read(BodyFraming.chunked(), [bytes(wrong)]), WireError);
    assertThrows(
      () => read(BodyFraming.chunked(), Array.from(bytes(wrong), (b) => Uint8Array.of(b))),
      WireError,
    );
  });
}

Deno.test("BodyFraming ends a body of known length there", () => {
  const framing = BodyFraming.ofLength(5);
  assertEquals(read(framing, [bytes("he"), bytes("lloHTTP")]), "hello");
  assertEquals([framing.ended, framing.unused], [true, 4]);
  assertEquals(BodyFraming.ofLength(0).ended, true);
  assertEquals(BodyFraming.ofAnswer(204, () => null, 1).ended, true);
});

Deno.test("BodyFraming leaves a body without a length to the connection", () => {
  const framing = BodyFraming.ofAnswer(200, () => null, 1);
  assertEquals([read(framing, [bytes("he"), bytes("llo")]), framing.untilClose, framing.ended], [
    "hello",
    true,
    false,
  ]);
});
