import { assert, assertEquals } from "@std/assert";
import { PlainResponse } from "../../src/http1/plain_response.ts";
import { headOf, isStream } from "../../src/http1/response_bytes.ts";

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
