import { assertEquals } from "@std/assert";
import { type BodySink, PulledBody } from "../../src/transport/pulled_body.ts";
import { writeStream } from "../../src/transport/stream_writer.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What goes out, write by write, of a stream that gives these pieces, one for each time it is asked; null ends it. */
async function writes(pieces: (string | null)[], chunked = true): Promise<string[]> {
  const written: string[] = [];
  let sink: BodySink;
  const give = (piece: string | null) => piece === null ? sink.close() : sink.enqueue(encoder.encode(piece));
  const reader = new PulledBody({
    start: (body) => void (sink = body),
    pull() {
      give(pieces.shift()!);
      if (pieces.length === 1) give(pieces.shift()!);
      return Promise.resolve();
    },
    cancel: () => Promise.resolve(),
  });
  await writeStream({
    closed: false,
    write(bytes) {
      written.push(decoder.decode(bytes));
      return Promise.resolve();
    },
    writeDirectly: () => Promise.reject(new Error("not asked for")),
    handles() {},
    close() {},
  }, { reader, head: "HEAD\r\n\r\n", chunked });
  return written;
}

Deno.test("the end of a stream goes out with its last piece, where it is known by then", async () => {
  assertEquals(await writes(["a", "bc", null]), ["HEAD\r\n\r\n1\r\na\r\n", "2\r\nbc\r\n0\r\n\r\n"]);
  assertEquals(await writes(["a", null]), ["HEAD\r\n\r\n1\r\na\r\n0\r\n\r\n"]);
});

Deno.test("a stream that says nothing, and one that is not chunked, end as they did", async () => {
  assertEquals(await writes([null]), ["HEAD\r\n\r\n0\r\n\r\n"]);
  assertEquals(await writes(["a", "bc", null], false), ["HEAD\r\n\r\na", "bc"]);
});
