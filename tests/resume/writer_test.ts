/** How many streams the writer takes in at once, and how many lost ones it remembers. */
import { assertEquals } from "@std/assert";
import type { LiveStream } from "../../src/resume/live_stream.ts";
import { StreamWriter } from "../../src/resume/writer.ts";
import type { StreamUpdate } from "../../src/store/mod.ts";
import { eventually } from "../support/time.ts";

/** Streams that have one update each. */
function streams(count: number) {
  const lost = new Set<number>();
  const written: number[] = [];
  const all = Array.from({ length: count }, (_, i) => ({
    takeUpdate: () => ({ update: {} as StreamUpdate, written: () => written.push(i) }),
    lose: () => lost.add(i),
  } as unknown as LiveStream));
  return { all, written, lost };
}

Deno.test("StreamWriter writes at most 256 streams in one transaction", async () => {
  const transactions: number[] = [];
  const writer = new StreamWriter({
    store: { writeStreams: (updates) => Promise.resolve(void transactions.push(updates.length)) },
    log: () => {},
  });
  const { all, written } = streams(600);
  for (const stream of all) writer.touched(stream);
  await writer.close();
  assertEquals(transactions, [256, 256, 88]);
  assertEquals(written, all.map((_, i) => i));
});

Deno.test("StreamWriter tells the store later of the last 10,000 streams that were lost, and forgets older ones", async () => {
  let fails = true;
  const writer = new StreamWriter({
    store: { writeStreams: () => fails ? Promise.reject(new Error("fault")) : Promise.resolve() },
    log: () => {},
    restMs: 1,
  });
  const { all, written, lost } = streams(10_003);
  writer.touched(all[0]);
  await eventually(() => writer.rests);
  for (const stream of all.slice(1)) writer.touched(stream);
  assertEquals(lost.size, 10_003);
  fails = false;
  await eventually(() => written.length >= 10_000);
  await writer.close();
  assertEquals(written, all.map((_, i) => i).slice(3));
});
