import { brotliCompressSync, zstdCompressSync } from "node:zlib";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { readJson } from "../../src/http/body.ts";
import { nextTurn, stoppedTicker } from "../support/time.ts";

const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  new Request("http://x/", { method: "POST", body, headers });

async function refused(request: Request, max = 1 << 20): Promise<Failure> {
  return await assertRejects(() => readJson(request, max), Failure);
}

async function compressed(text: string, format: CompressionFormat): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

Deno.test("readJson() takes JSON of any kind", async () => {
  assertEquals(await readJson(post('{"a":[1,"é",null]}'), 100), { a: [1, "é", null] });
  assertEquals(await readJson(post("7"), 100), 7);
  assertEquals(await readJson(post(""), 100, { empty: {} }), {});
  assertEquals(await readJson(post("\ufeff{}"), 100), {});
  assertEquals(await readJson(post('{"a":1,"a":2}'), 100), { a: 2 });
  assertEquals(await readJson(post('"\ufffd€"'), 100), "\ufffd€");
});

Deno.test("readJson() says what is wrong, and repeats nothing of the body", async () => {
  const cases: [BodyInit | null, string][] = [
    [null, "expected JSON, got nothing"],
    [" \n ", "expected JSON, got nothing"],
    ['{"secret":"hunter2",}', "expected JSON"],
    ["hunter2", "expected JSON"],
    [new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), "expected UTF-8"],
    [new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), "expected UTF-8"],
    // One that is not, beside the character that stands for such bytes.
    [new Uint8Array([0x22, 0xef, 0xbf, 0xbd, 0xc3, 0x22]), "expected UTF-8"],
    ['{"a":NaN}', "expected JSON"],
  ];
  for (const [body, what] of cases) {
    const failure = await refused(post(body));
    assertEquals(failure.code, "validation_error");
    assert(failure.message.includes(what), failure.message);
    assert(!failure.message.includes("hunter2"), failure.message);
    assertEquals(failure.errors?.[0].loc, ["body"]);
  }
});

Deno.test("readJson() keeps a name like __proto__ a name", async () => {
  const value = await readJson(post('{"__proto__":{"admin":true},"constructor":1}'), 100) as object;
  assertEquals(Object.getPrototypeOf(value), Object.prototype);
  assertEquals(Object.keys(value), ["__proto__", "constructor"]);
});

Deno.test("readJson() gives a body up that is too large, by its length or once it is", async () => {
  assertEquals((await refused(post("x".repeat(101)), 100)).code, "payload_too_large");
  let sent = 0;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      sent += 1000;
      controller.enqueue(new Uint8Array(1000).fill(32));
    },
  });
  assertEquals((await refused(post(endless), 10_000)).code, "payload_too_large");
  assert(sent <= 13_000, `read ${sent} bytes`);
});

Deno.test("readJson() refuses what is nested too deeply, anywhere", async () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assertEquals(JSON.stringify(await readJson(post(nested(500)), 1 << 20)), nested(500));
  for (const text of [nested(513), nested(200_000), '{"a":'.repeat(200_000) + "1" + "}".repeat(200_000)]) {
    const failure = await refused(post(text), 4 << 20);
    assertEquals([failure.code, failure.errors?.[0].type], ["validation_error", "recursion_loop"]);
  }
});

Deno.test("readJson() unpacks gzip and deflate, within the same bound", async () => {
  const text = JSON.stringify({ a: "b".repeat(5000) });
  for (const format of ["gzip", "deflate"] as const) {
    const bytes = await compressed(text, format);
    assertEquals(await readJson(post(bytes, { "content-encoding": format }), 10_000), JSON.parse(text));
  }
  const packed = await compressed(text, "gzip");
  assertEquals(await readJson(post(packed, { "content-encoding": "X-Gzip" }), 10_000), JSON.parse(text));
  const bomb = await compressed(" ".repeat(50_000_000), "gzip");
  assert(bomb.length < 100_000);
  const failure = await refused(post(bomb, { "content-encoding": "gzip" }));
  assertEquals(failure.code, "payload_too_large");
  assertEquals(await readJson(post("1", { "content-encoding": "identity" }), 10), 1);
});

const PACKERS = { br: brotliCompressSync, zstd: zstdCompressSync };

Deno.test("readJson() unpacks br and zstd, within the same bound", async () => {
  const text = JSON.stringify({ a: "é".repeat(5000), b: Array.from({ length: 9000 }, (_, i) => i) });
  for (const encoding of ["br", "zstd"] as const) {
    const headers = { "content-encoding": encoding };
    const packed = (text: string | Uint8Array) => new Uint8Array(PACKERS[encoding](text));
    assertEquals(await readJson(post(packed(text), headers), 1 << 20), JSON.parse(text));
    const bomb = packed(new Uint8Array(20_000_000).fill(32));
    assert(bomb.length < 100_000, encoding);
    assertEquals((await refused(post(bomb, headers), 1 << 20)).code, "payload_too_large", encoding);
    const lie = await refused(post("{}{}{}{}", headers));
    assertEquals(lie.errors?.[0].type, "body_incomplete", encoding);
    const cut = await refused(post(packed('{"a":1}').slice(0, -4), headers));
    assertEquals(cut.code, "validation_error", encoding);
    const nothing = await refused(post(packed("").slice(0, 0), headers));
    assertEquals(nothing.errors?.[0].type, "json_invalid", encoding);
  }
});

Deno.test("readJson() tells of a compressed body that breaks off while it is sent", async () => {
  for (const encoding of ["br", "zstd"] as const) {
    const packed = new Uint8Array(PACKERS[encoding](JSON.stringify({ a: "b".repeat(5000) })));
    let sent = false;
    const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (sent) controller.error(new Error("reset"));
        else controller.enqueue(packed.slice(0, 10));
        sent = true;
      },
    });
    const failure = await refused(post(broken, { "content-encoding": encoding }));
    assertEquals(failure.errors?.[0].type, "body_incomplete", encoding);
  }
});

Deno.test("readJson() refuses another content-encoding, and bytes that are not in theirs", async () => {
  const other = await refused(post("{}", { "content-encoding": "compress" }));
  assertEquals(other.code, "validation_error");
  assert(other.message.includes('got "compress"'), other.message);
  const lie = await refused(post("{}", { "content-encoding": "gzip" }));
  assertEquals(lie.errors?.[0].type, "body_incomplete");
  const cut = (await compressed('{"a":1}', "gzip")).slice(0, -6);
  assertEquals(
    (await refused(post(cut, { "content-encoding": "gzip" }))).errors?.[0].type,
    "body_incomplete",
  );
});

Deno.test("readJson() does not wait for ever for a body that comes drop by drop", async () => {
  const { ticker, pass } = stoppedTicker();
  let release = () => {};
  const never = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new Uint8Array([0x7b]));
      release = () => controller.close();
    },
  });
  const reading = assertRejects(() => readJson(post(never), 1000, { ticker }), Failure);
  await nextTurn();
  pass(59_000);
  pass(3000);
  const failure = await reading;
  assertEquals([failure.code, failure.errors?.[0].type], ["validation_error", "body_incomplete"]);
  release();
});

Deno.test("readJson() refuses a small gzip body that holds more values than a request may", async () => {
  for (const text of [`[${"{},".repeat(300_000)}1]`, `[${"1,".repeat(300_000)}1]`]) {
    const bytes = await compressed(text, "gzip");
    assert(bytes.length < 20_000);
    const failure = await refused(post(bytes, { "content-encoding": "gzip" }), 32 << 20);
    assertEquals(failure.code, "validation_error");
    assertEquals(failure.message, "Cannot read the request body: expected at most 200000 values.");
  }
});

Deno.test("readJson() names a list or an object with too many entries", async () => {
  const fields = `{${Array.from({ length: 10_001 }, (_, i) => `"${i + 50_000}":1`)}}`;
  for (
    const [text, where] of [
      [`{"stop":[${'"a",'.repeat(10_000)}"a"]}`, "stop"],
      [`{"logit_bias":${fields}}`, "logit_bias"],
      [`{"messages":[{"content":[${"{},".repeat(10_000)}{}]}]}`, "messages[0].content"],
    ]
  ) {
    const failure = await refused(post(text));
    assertEquals([failure.code, failure.param], ["validation_error", where]);
    assertEquals(failure.message, `Cannot read ${where}: expected at most 10000 entries, got 10001.`);
  }
  const messages = `{"messages":[${"{},".repeat(20_000)}{}]}`;
  assertEquals((await readJson(post(messages), 1 << 20) as { messages: [] }).messages.length, 20_001);
});

Deno.test("readJson() reads a large body in steps, and a small one at once", async () => {
  const steps = async (body: string, headers = {}) => {
    let count = 0;
    const run = async <T>(work: Generator<void, T>): Promise<T> => {
      for (;;) {
        await nextTurn();
        count++;
        const { done, value } = work.next();
        if (done) return value;
      }
    };
    assertEquals(await readJson(post(body, headers), 1 << 24, { run }), JSON.parse(body));
    return count;
  };
  assertEquals(await steps('{"a":1}'), 0);
  assertEquals(await steps(JSON.stringify({ a: "x".repeat(1 << 16) }), { "content-length": "65545" }), 0);
  assert(
    await steps(`[${"[".repeat(400)}${"12345678,".repeat(9000)}${" ".repeat(1 << 18)}1${"]".repeat(401)}`) >
      2,
  );
  // Decoding, counting, parsing, looking at the lengths of lists.
  assertEquals(await steps(JSON.stringify({ a: "x".repeat(1 << 21) })), 6);
  assertEquals(await steps(JSON.stringify({ a: "x".repeat(1 << 21) }), { "content-length": "2097160" }), 6);
  assert(await steps(JSON.stringify({ a: "\n".repeat(1 << 20) })) > 15);
});
