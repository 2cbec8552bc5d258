import { assertEquals, assertThrows } from "@std/assert";
import { BodyFraming, headEnd, parseHead, requestBytes, WireError } from "../../src/providers/http1_wire.ts";

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const text = (found: Uint8Array) => String.fromCharCode(...found);
const sent = (...request: Parameters<typeof requestBytes>) => requestBytes(...request).map(text).join("");
const head = (...lines: string[]) => parseHead(["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n"));

Deno.test("requestBytes() writes a POST whose length is counted in bytes", () => {
  assertEquals(
    sent("h:1", "/v1/x", { "content-type": "application/json" }, '{"a":"ü"}'),
    'POST /v1/x HTTP/1.1\r\nhost: h:1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"a":"Ã¼"}',
  );
});

Deno.test("requestBytes() writes header values as the single bytes they are", () => {
  assertEquals(sent("h", "/", { "x-name": "Zoë" }, "").includes("x-name: Zoë\r\n"), true);
});

Deno.test("requestBytes() writes a long body all the same", () => {
  const body = "long ".repeat(10_000);
  assertEquals(
    sent("h", "/", {}, body),
    `POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 50000\r\n\r\n${body}`,
  );
});

Deno.test("requestBytes() refuses a value that would begin another header", () => {
  for (const value of ["a\r\nx: b", "a\nb", "a\0"]) {
    assertThrows(() => requestBytes("h", "/", { "x-name": value }, ""), WireError);
  }
});

Deno.test("headEnd() finds the blank line, also when looking on from its middle", () => {
  const answer = bytes("HTTP/1.1 200 OK\r\na: b\r\n\r\nbody");
  assertEquals(headEnd(answer, 0, answer.length), 25);
  for (let to = 0; to < 25; to++) assertEquals(headEnd(answer, 0, to), 0);
  assertEquals(headEnd(answer, 22, answer.length), 25);
});

Deno.test("parseHead() reads status and headers, joining repeated ones", () => {
  const { status, headers, keepAlive } = parseHead(
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After:  7 \r\nX-A: 1\r\nx-a: 2\r\nempty:\r\n\r\n",
  );
  assertEquals(status, 429);
  assertEquals(Object.fromEntries(headers), { "retry-after": "7", "x-a": "1, 2", empty: "" });
  assertEquals(keepAlive, true);
});

Deno.test("parseHead() says when a connection must not be used again", () => {
  assertEquals(head("connection: Close").keepAlive, false);
  assertEquals(parseHead("HTTP/1.0 200 OK\r\n\r\n").keepAlive, false);
  assertEquals(parseHead("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\n").keepAlive, true);
});

Deno.test("parseHead() refuses what is not HTTP/1", () => {
  for (const line of ["HTTP/2 200", "SSH-2.0-x", "HTTP/1.1 20 OK", "HTTP/1.1 2000", ""]) {
    assertThrows(() => parseHead(`${line}\r\n\r\n`), WireError);
  }
  assertThrows(() => head("no colon"), WireError);
  assertThrows(() => head(": no name"), WireError);
});

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
    const framing = new BodyFraming(head("transfer-encoding: chunked"));
    assertEquals(read(framing, [body.subarray(0, cut), body.subarray(cut)]), "hello, wide worldwide!");
    assertEquals([framing.ended, framing.unused], [true, 0]);
  }
  const framing = new BodyFraming(head("Transfer-Encoding: Chunked"));
  assertEquals(read(framing, Array.from(body, (byte) => Uint8Array.of(byte))), "hello, wide worldwide!");
});

Deno.test("BodyFraming does not end before the last chunk does", () => {
  const framing = new BodyFraming(head("transfer-encoding: chunked"));
  read(framing, [bytes("5\r\nhello\r\n0\r\n")]);
  assertEquals(framing.ended, false);
  read(framing, [bytes("\r\nHTTP/1.1")]);
  assertEquals([framing.ended, framing.unused], [true, 8]);
});

Deno.test("BodyFraming refuses chunks that are not what they say", () => {
  for (const wrong of ["x\r\n", "\r\n", "3\r\nabcd", "-1\r\n", "fffffffffffff\r\n", "3 3\nabcX"]) {
    const framing = new BodyFraming(head("transfer-encoding: chunked"));
    assertThrows(() => read(framing, [bytes(wrong)]), WireError);
  }
});

Deno.test("BodyFraming ends a body of known length there", () => {
  const framing = new BodyFraming(head("content-length: 5"));
  assertEquals(read(framing, [bytes("he"), bytes("lloHTTP")]), "hello");
  assertEquals([framing.ended, framing.unused], [true, 4]);
  assertEquals(new BodyFraming(head("content-length: 0")).ended, true);
  assertEquals(new BodyFraming(parseHead("HTTP/1.1 204 No Content\r\n\r\n")).ended, true);
});

Deno.test("BodyFraming leaves a body without a length to the connection", () => {
  const framing = new BodyFraming(head());
  assertEquals([read(framing, [bytes("he"), bytes("llo")]), framing.untilClose, framing.ended], [
    "hello",
    true,
    false,
  ]);
});

Deno.test("BodyFraming refuses lengths and codings it cannot follow", () => {
  for (const line of ["content-length: 5, 6", "content-length: -1", "transfer-encoding: gzip, chunked"]) {
    assertThrows(() => new BodyFraming(head(line)), WireError);
  }
});
