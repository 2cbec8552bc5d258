import { assertEquals, assertRejects } from "@std/assert";
import { boundedBytes, boundedText } from "../../src/exchange/bounded_body.ts";

Deno.test("boundedText() reads a body of any pieces, and one that is not there", async () => {
  assertEquals(await boundedText(new Response(null), 0), "");
  const bytes = new TextEncoder().encode("é漢😀".repeat(3));
  const pieces = ReadableStream.from([...bytes].map((byte) => new Uint8Array([byte])));
  assertEquals(await boundedText(new Response(pieces), bytes.length), "é漢😀".repeat(3));
});

Deno.test("boundedBytes() ends a body that is longer, of which no more is read", async () => {
  let made = 0;
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      made++;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel: () => void (cancelled = true),
  }, { highWaterMark: 0 });
  await assertRejects(() => boundedBytes(new Response(endless), 4500), RangeError, "longer than 4500 bytes");
  assertEquals([made, cancelled], [5, true]);
});
