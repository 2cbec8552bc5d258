import { assert, assertEquals } from "@std/assert";
import { PlainResponse } from "../../src/http1/plain_response.ts";
import { chunk, headOf, isStream } from "../../src/http1/response_bytes.ts";
import { headAndText, headBytes } from "../../src/http1/text_bytes.ts";

const HEADERS = { "content-type": "application/json", "x-a": "1" };

Deno.test("a PlainResponse is a Response, and is written as one is", async () => {
  const plain = new PlainResponse('{"ä":1}', { status: 402, headers: HEADERS });
  const usual = new Response('{"ä":1}', { status: 402, headers: HEADERS });
  assertEquals(headOf(plain, "").split("\r\n").sort(), headOf(usual, "").split("\r\n").sort());
  assertEquals([plain.status, await plain.json(), plain.headers.get("x-a")], [402, { "ä": 1 }, "1"]);
});

Deno.test("what is changed in the headers of a PlainResponse is written", () => {
  const plain = new PlainResponse("{}", { headers: { ...HEADERS } });
  assert(PlainResponse.fieldsOf(plain) !== null);
  plain.headers.set("x-a", "2");
  assertEquals(PlainResponse.fieldsOf(plain), null);
  assert(headOf(plain, "").includes("x-a: 2\r\n"));
});

Deno.test("a PlainResponse whose body was read, or that is a stream, has no text to write", async () => {
  const read = new PlainResponse("{}", { headers: HEADERS });
  assertEquals(PlainResponse.textOf(read), "{}");
  await read.text();
  assertEquals(PlainResponse.textOf(read), null);
  const stream = new PlainResponse(new ReadableStream(), {
    headers: { "content-type": "text/event-stream" },
  });
  assertEquals([PlainResponse.textOf(stream), isStream(stream), isStream(read)], [null, true, false]);
  await stream.body!.cancel();
});

Deno.test("a copy of a PlainResponse has its headers", async () => {
  const copy = new PlainResponse("{}", { headers: HEADERS }).clone();
  assertEquals([copy.headers.get("content-type"), copy.headers.get("x-a")], ["application/json", "1"]);
  await copy.text();
});

Deno.test("a head is written a byte for each letter, what stands behind it in UTF-8", () => {
  const bytesOf = (...parts: (string | number[])[]) =>
    new Uint8Array(
      parts.flatMap((part) => typeof part === "string" ? [...new TextEncoder().encode(part)] : part),
    );
  assertEquals(headAndText("x: a\r\n\r\n", "ä€", 5), bytesOf("x: a\r\n\r\nä€"));
  assertEquals(headAndText("x: \xe4\r\n\r\n", "ä", 2), bytesOf("x: ", [0xe4], "\r\n\r\nä"));
  assertEquals(headBytes("x: \xff\r\n"), bytesOf("x: ", [0xff], "\r\n"));
  assertEquals(
    new Uint8Array(chunk("h: \xe4\r\n\r\n", new Uint8Array([1, 2]), true)),
    bytesOf("h: ", [0xe4], "\r\n\r\n2\r\n", [1, 2], "\r\n"),
  );
});
