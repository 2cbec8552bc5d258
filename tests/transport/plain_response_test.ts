import { assert, assertEquals } from "@std/assert";
import { HeldBody } from "../../src/transport/held_body.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { type BodySink, PulledBody } from "../../src/transport/pulled_body.ts";
import { chunk, headOf, isStream } from "../../src/transport/response_bytes.ts";
import { headAndText, headBytes } from "../../src/transport/text_bytes.ts";

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

/** A body that comes bit by bit. */
function pulled(text: string): PulledBody {
  let sink: BodySink;
  return new PulledBody({
    start: (body) => void (sink = body),
    pull() {
      sink.enqueue(new TextEncoder().encode(text));
      sink.close();
      return Promise.resolve();
    },
    cancel: () => Promise.resolve(),
  });
}

const BODIES = { held: () => HeldBody.ofText('{"a":1}'), pulled: () => pulled('{"a":1}') };
const READS: Record<string, (response: Response) => Promise<unknown>> = {
  text: (response) => response.text(),
  json: async (response) => JSON.stringify(await response.json()),
  bytes: async (response) => new TextDecoder().decode(await response.bytes()),
  arrayBuffer: async (response) => new TextDecoder().decode(await response.arrayBuffer()),
  blob: async (response) => await (await response.blob()).text(),
  body: (response) => new Response(response.body).text(),
  clone: (response) => response.clone().text(),
  forHost: (response) => PlainResponse.forHost(response).text(),
};

for (const [kind, body] of Object.entries(BODIES)) {
  for (const [way, read] of Object.entries(READS)) {
    Deno.test(`a PlainResponse with a ${kind} body is read by ${way}`, async () => {
      const plain = new PlainResponse(body(), { headers: HEADERS });
      assertEquals([plain.bodyUsed, await read(plain)], [false, '{"a":1}']);
      if (way === "clone") return assertEquals(await plain.text(), '{"a":1}');
      assert(plain.bodyUsed);
      assertEquals([PlainResponse.heldOf(plain), PlainResponse.pulledOf(plain)], [null, null]);
    });
  }
}

Deno.test("PlainResponse.forHost() gives status, headers and body to whoever asks for none of them", async () => {
  for (const body of ['{"a":1}', BODIES.held(), BODIES.pulled()]) {
    const plain = new PlainResponse(body, { status: 402, headers: { ...HEADERS } });
    const given = PlainResponse.forHost(plain);
    // As the host reads it.
    const { status, headers } = given;
    assertEquals([status, headers.get("x-a"), await given.text()], [402, "1", '{"a":1}']);
  }
});

Deno.test("a head is written a byte for each letter, what stands behind it in UTF-8", () => {
  const bytesOf = (...parts: (string | number[])[]) =>
    new Uint8Array(
      parts.flatMap((part) => typeof part === "string" ? [...new TextEncoder().encode(part)] : part),
    );
  assertEquals(headAndText("x: a\r\n\r\n", "ä€", 5), bytesOf("x: a\r\n\r\nä€"));
  assertEquals(headAndText("x: \xe4\r\n\r\n", "ä", 2), bytesOf("x: ", [0xe4], "\r\n\r\nä"));
  assertEquals(headBytes("x: \xff\r\n"), bytesOf("x: ", [0xff], "\r\n"));
  // The lower bytes of these two are a line break.
  assertEquals(headBytes("x: \u010d\u010aset-cookie: a\r\n"), bytesOf("x: ??set-cookie: a\r\n"));
  assertEquals(
    new Uint8Array(chunk("h: \xe4\r\n\r\n", new Uint8Array([1, 2]), true)),
    bytesOf("h: ", [0xe4], "\r\n\r\n2\r\n", [1, 2], "\r\n"),
  );
});
