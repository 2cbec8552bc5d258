import { assertEquals, assertThrows } from "@std/assert";
import { parseHead, requestBytes } from "../../src/outgoing/http1_wire.ts";
import { WireError } from "../../src/transport/body_framing.ts";
import { headEnd } from "../../src/transport/head.ts";
import { requestHead } from "../../src/transport/request_head.ts";

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
  for (const value of ["a\r\nx: b", "a\nb", "a\0", "a\u010d\u010ax: b", "€"]) {
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

Deno.test("heads are read with blanks and tabs around a value left out, and nothing else", () => {
  const value = "\u00a0v\u00a0";
  assertEquals(head(`a: \t ${value}\t `).headers.get("a"), value);
  assertEquals(
    requestHead(`GET / HTTP/1.1\r\nhost: h\r\na: \t ${value}\t \r\n\r\n`).fields.get("a"),
    value,
  );
  // Other servers on the way take none of these for a body's framing.
  for (
    const framing of ["transfer-encoding: chunked\u00a0", "content-length:\u00a05", "content-length: 5\u00a0"]
  ) {
    assertThrows(() => requestHead(`POST / HTTP/1.1\r\nhost: h\r\n${framing}\r\n\r\n`), WireError);
    assertThrows(() => head(framing), WireError);
  }
});

Deno.test("parseHead() refuses what is not HTTP/1", () => {
  for (const line of ["HTTP/2 200", "SSH-2.0-x", "HTTP/1.1 20 OK", "HTTP/1.1 2000", ""]) {
    assertThrows(() => parseHead(`${line}\r\n\r\n`), WireError);
  }
  assertThrows(() => head("no colon"), WireError);
  assertThrows(() => head(": no name"), WireError);
});

/** Heads of answers that RFC 9112 forbids, or that two readers could read in two ways. */
const AMBIGUOUS: Record<string, string> = {
  "both a length and a coding": "content-length: 5\r\ntransfer-encoding: chunked\r\n",
  "two lengths": "content-length: 5\r\ncontent-length: 6\r\n",
  "the same length twice": "content-length: 5\r\ncontent-length: 5\r\n",
  "a list of lengths": "content-length: 5, 5\r\n",
  "a length below zero": "content-length: -1\r\n",
  "a length with a sign": "content-length: +5\r\n",
  "a length in hexadecimal": "content-length: 0x5\r\n",
  "a length with a fraction": "content-length: 5.0\r\n",
  "a length beyond all numbers": "content-length: 99999999999999999999\r\n",
  "an empty length": "content-length:\r\n",
  "chunked twice": "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
  "a coding before chunked": "transfer-encoding: gzip, chunked\r\n",
  "a coding that hides chunked": "transfer-encoding: xchunked\r\n",
  "a parameter of chunked": "transfer-encoding: chunked;a=b\r\n",
  "no coding": "transfer-encoding: identity\r\n",
  "a folded line": "x: a\r\n content-length: 5\r\n",
  "a line folded with a tab": "x: a\r\n\tb\r\n",
  "a blank before the colon": "content-length : 5\r\n",
  "a blank before the name": " content-length: 5\r\n",
  "a line feed by itself": "x: a\ncontent-length: 5\r\n",
  "a carriage return by itself": "x: a\rcontent-length: 5\r\n",
  "a zero byte": "x: a\0\r\n",
  "a name with a blank": "content length: 5\r\n",
  "a name with a bracket": "x(y): 5\r\n",
  "too many fields": "x: 1\r\n".repeat(300),
};

for (const [what, lines] of Object.entries(AMBIGUOUS)) {
  Deno.test(`parseHead() refuses an answer with ${what}`, () => {
    assertThrows(() => parseHead(`HTTP/1.1 200 OK\r\n${lines}\r\n`), WireError);
  });
}

Deno.test("parseHead() refuses a transfer coding of HTTP/1.0", () => {
  assertThrows(() => parseHead("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"), WireError);
});

Deno.test("parseHead() keeps no connection whose header says close among other words", () => {
  assertEquals(head("connection: foo, Close").keepAlive, false);
  assertEquals(head("connection: closed").keepAlive, true);
});
