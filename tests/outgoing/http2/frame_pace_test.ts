/** How long connections over HTTP/2 wait before they read on. */
import { assertEquals } from "@std/assert";
import { FramePace } from "../../../src/outgoing/http2/frame_pace.ts";

/** The waits in milliseconds while so many frames arrived each millisecond, in batches; null: none. */
function waits(pace: FramePace, rate: number, { from = 0, batch = 100, ms = 1000 } = {}) {
  const all = new Set<number | null>();
  let frames = 0;
  for (let now = from; now < from + ms; now++) {
    for (frames += rate; frames >= batch; frames -= batch) all.add(pace.after(batch, now));
  }
  return [...all];
}

Deno.test("the wait grows with the rate of frames, up to 8 ms", () => {
  for (
    const [rate, wait] of [[1, null], [29, null], [39, null], [45, 1], [75, 4], [100, 7], [1000, 8]] as const
  ) {
    const pace = new FramePace();
    waits(pace, rate);
    // The first second has settled it.
    assertEquals(waits(pace, rate, { from: 1000 }), [wait], `${rate} frames/ms`);
  }
});

Deno.test("a connection of few streams does not wait, but its frames count", () => {
  const pace = new FramePace();
  waits(pace, 100, { batch: 10 });
  assertEquals(waits(pace, 100, { from: 1000, batch: 10 }), [null]);
  assertEquals(waits(pace, 100, { from: 2000, batch: 100, ms: 1 }), [7]);
});

Deno.test("after a silence nothing waits, whatever the rate was before", () => {
  const pace = new FramePace();
  waits(pace, 100);
  assertEquals(pace.after(100, 60_000), null);
  // A large first batch says nothing about the rate.
  assertEquals(new FramePace().after(100_000, 0), null);
});
