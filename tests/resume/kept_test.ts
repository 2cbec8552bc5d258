/** How much of streams is kept, by stream, by key and in all. */
import { assertEquals } from "@std/assert";
import { Kept } from "../../src/resume/kept.ts";

const MB = 1 << 20;
const OVERHEAD = 1024;

Deno.test("Kept keeps eight million characters of a stream, 128 of a key and 512 in all", () => {
  const kept = new Kept();
  const longest = kept.open("a")!;
  assertEquals(longest.take(8 * MB - OVERHEAD), null);
  assertEquals(longest.take(1), "the stream is too long");
  const fill = (key: string): number => {
    let streams = 0;
    for (let stream = kept.open(key); stream !== null; stream = kept.open(key)) {
      if (stream.take(8 * MB - OVERHEAD) !== null) break;
      streams++;
    }
    return streams;
  };
  assertEquals(fill("a"), 15);
  assertEquals(["b", "c", "d", "e"].map(fill), [16, 16, 16, 0]);
  assertEquals(kept.all, 512 * MB);
});

Deno.test("Kept gives a stream's amount back when its time has come", () => {
  const kept = new Kept({ ofKey: 10_000 });
  const stream = kept.open("a")!;
  stream.take(8000);
  stream.leave(100);
  assertEquals(kept.open("a") === null, true);
  kept.sweep(99);
  assertEquals(kept.open("a") === null, true);
  kept.sweep(100);
  assertEquals([kept.all, kept.open("a") !== null], [0, true]);
});
